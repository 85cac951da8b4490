package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// dryRunTrial is an object of the batch, or a pod of it, on its way to the server.
type dryRunTrial struct {
	item *preflight.Item
	source.DryRunRequest
	// instead is the namespace in which it is tried, where its own is not there yet.
	instead string
	pod     *podTrial // of a template; nil for the object itself
	said    preflight.Admission
	known   bool // said without asking the server
	silent  bool // nothing is said of it
}

// admissions asks the server, or what of the batch stands in for it, of every object and
// then of a pod of every template. It is nil where there is no server.
func (a *preflightRun) admissions(ctx context.Context) ([]preflight.Admission, error) {
	cluster, ok := app.ClusterOf(a.session.Source)
	if !ok {
		return nil, nil
	}
	defer a.session.Input.Clock.Stage("dry runs")()
	objects := make([]*dryRunTrial, 0, len(a.batch))
	for i := range a.batch {
		objects = append(objects, a.trialOf(&a.batch[i], cluster))
	}
	if err := a.try(ctx, cluster, objects); err != nil {
		return nil, err
	}
	var pods []*dryRunTrial
	for _, t := range objects {
		if p := a.podTrial(t); p != nil {
			pods = append(pods, p)
		}
	}
	if err := a.try(ctx, cluster, pods); err != nil {
		return nil, err
	}
	out := []preflight.Admission{}
	for _, t := range slices.Concat(objects, pods) {
		if !t.silent {
			out = append(out, t.said)
		}
	}
	return out, nil
}

// try sends the trials that the server is to decide.
func (a *preflightRun) try(ctx context.Context, cluster *source.Cluster, all []*dryRunTrial) error {
	var asked []*dryRunTrial
	var trials []source.DryRunRequest
	for _, t := range all {
		t.said.Ref, t.said.Pod = t.item.Ref, t.pod != nil
		if !t.known && !t.silent {
			asked, trials = append(asked, t), append(trials, t.DryRunRequest)
		}
	}
	tried, err := cluster.DryRun(ctx, trials)
	if err != nil {
		return err
	}
	for i, t := range asked {
		a.recordDryRun(t, tried[i])
	}
	return nil
}

// trialOf says how an object is tried.
func (a *preflightRun) trialOf(item *preflight.Item, cluster *source.Cluster) *dryRunTrial {
	gvk := item.Object.GroupVersionKind()
	t := &dryRunTrial{item: item, DryRunRequest: source.DryRunRequest{Object: item.Object, Exists: item.Exists, Manager: a.q.manager}}
	refused := func(reason, format string, args ...any) *dryRunTrial {
		t.known, t.said.Reason, t.said.Message = true, reason, fmt.Sprintf(format, args...)
		return t
	}
	unknown := func(format string, args ...any) *dryRunTrial {
		t.known, t.said.Unknown = true, fmt.Sprintf(format, args...)
		return t
	}
	kind, served := a.session.Kinds.Kind(gvk.GroupKind())
	if !served {
		if a.session.Kinds.NotServed(gvk.GroupKind()) {
			t.silent = true // There is nobody to ask: the references tell.
			return t
		}
		return unknown("cannot discover what the group %s serves", gvk.Group)
	}
	kind.Version = gvk.Version
	t.Resource = kind
	if versions, ok := cluster.Serves(kind); !ok {
		if crd := a.definitionOf(kind); crd != nil {
			t.known = true
			t.said = checkedBySchema(crd, item.Object)
			return t
		}
		return refused("NotServed", "%s is served as %s, not as %s", kind, strings.Join(versions, ", "), gvk.Version)
	}
	if item.Ref.Namespace != "" && a.gone[item.Ref.Namespace] {
		return a.elsewhere(t)
	}
	return t
}

// definitionOf returns the definition of a kind that the batch has.
func (a *preflightRun) definitionOf(kind object.Resource) *unstructured.Unstructured {
	for i := range a.batch {
		if it := &a.batch[i]; it.Ref.GroupKind() == app.DefinitionKind && it.Ref.Name == kind.String() {
			return it.Object
		}
	}
	return nil
}

// elsewhere tries an object in a namespace that is there, in place of its own.
func (a *preflightRun) elsewhere(t *dryRunTrial) *dryRunTrial {
	if t.instead = a.standIn(); t.instead == "" {
		t.known, t.said.Unknown = true, fmt.Sprintf("namespace %s does not exist yet, and no similar namespace exists for a dry run", t.item.Ref.Namespace)
		return t
	}
	t.Object = t.Object.DeepCopy()
	t.Object.SetNamespace(t.instead)
	// There may be one of its name: the server completes this one.
	if t.Object.GetGenerateName() == "" {
		t.Object.SetGenerateName(t.Object.GetName() + "-")
	}
	t.New = true
	return t
}

// standIn is a namespace that is like a new one: nothing selects it by a label, and no
// LimitRange is in it. "default" goes before others; empty where there is none.
func (a *preflightRun) standIn() string {
	limited := map[string]bool{}
	for _, l := range check.All[*corev1.LimitRange](a.facts, "", "LimitRange") {
		limited[l.Namespace] = true
	}
	best := ""
	for _, ns := range check.All[*corev1.Namespace](a.facts, "", "Namespace") {
		plain := true
		for label := range ns.Labels {
			plain = plain && label == corev1.LabelMetadataName
		}
		if !plain || limited[ns.Name] || ns.Status.Phase == corev1.NamespaceTerminating || !a.world.Read(limitRangeKind, ns.Name) {
			continue
		}
		if best == "" || ns.Name == "default" {
			best = ns.Name
		}
	}
	return best
}

// podTrial makes a trial of a pod of an object's template; nil where it has none, or where
// the object itself was refused.
func (a *preflightRun) podTrial(of *dryRunTrial) *dryRunTrial {
	if of.said.Reason != "" || podTemplatePath(of.item.Ref) == nil || idle(of.item.Object) {
		return nil
	}
	from := of.said.Admitted
	if from == nil {
		from = of.item.Object
	}
	t := &dryRunTrial{item: of.item, instead: of.instead}
	pod, err := podOf(of.item.Ref, from)
	switch {
	case err != nil:
		t.pod, t.known, t.said.Unknown = &podTrial{}, true, fmt.Sprintf("no pod can be created from its template: %v", err)
		return t
	case pod == nil:
		return nil
	}
	t.pod = lend(pod, a.creates, t.instead != "")
	if t.instead != "" {
		pod.Namespace = t.instead
	} else if a.gone[of.item.Ref.Namespace] {
		return nil // There was nowhere to try it.
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil
	}
	delete(fields, "status")
	t.DryRunRequest = source.DryRunRequest{Resource: podResource, Object: &unstructured.Unstructured{Object: fields}, New: true}
	return t
}

// idle says that no pod is to be made now: whether one would be admitted does not matter.
func idle(of *unstructured.Unstructured) bool {
	replicas, counted, _ := unstructured.NestedInt64(of.Object, "spec", "replicas")
	suspended, _, _ := unstructured.NestedBool(of.Object, "spec", "suspend")
	return counted && replicas == 0 || suspended
}

var podResource = object.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true}

// creates says that the batch makes an object that is not there yet.
func (a *preflightRun) creates(ref object.Ref) bool {
	return slices.ContainsFunc(a.batch, func(it preflight.Item) bool { return it.Ref == ref && !it.Exists })
}

// question puts together what is asked of the future.
func (a *preflightRun) question(ctx context.Context, declared []*declaredFootprint) (preflight.Request, error) {
	q := preflight.Request{Batch: a.batch, World: a.world, Graph: a.graph, Autoscaler: a.q.autoscaler, FromScratch: a.over == nil, Live: a.live, Composes: a.session.Composes}
	var err error
	if q.Footprints, err = a.footprints(declared); err != nil {
		return q, err
	}
	q.Admissions, err = a.admissions(ctx)
	return q, err
}
