package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// dryRunTrial is an object of the batch, or a pod of it, to be sent to the server.
type dryRunTrial struct {
	item *preflight.Item
	source.DryRunRequest
	// replacement is the namespace of the trial, where its own is missing.
	replacement string
	pod         *podTrial // of a template; nil for the object itself
	result      preflight.Admission
	known       bool // decided without the server
	silent      bool // no result is given
}

// admissions asks the server, or its stand-in from the batch, about every object and then about a
// pod of every template. It is nil without a server.
func (a *Preflight) admissions(ctx context.Context) ([]preflight.Admission, error) {
	cluster, ok := ClusterOf(a.Session.Source)
	if !ok || a.q.NoDryRun {
		return nil, nil
	}
	defer a.Session.Input.Clock.Stage("dry runs")()
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
			out = append(out, t.result)
		}
	}
	return out, nil
}

// try sends the trials that the server decides.
func (a *Preflight) try(ctx context.Context, cluster *source.Cluster, all []*dryRunTrial) error {
	var asked []*dryRunTrial
	var trials []source.DryRunRequest
	for _, t := range all {
		t.result.Ref, t.result.Pod = t.item.Ref, t.pod != nil
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

// trialOf returns how an object is tried.
func (a *Preflight) trialOf(item *preflight.Item, cluster *source.Cluster) *dryRunTrial {
	gvk := item.Object.GroupVersionKind()
	t := &dryRunTrial{item: item, DryRunRequest: source.DryRunRequest{Object: item.Object, Exists: item.Exists, Manager: a.q.Manager}}
	refused := func(reason, format string, args ...any) *dryRunTrial {
		t.known, t.result.Reason, t.result.Message = true, reason, fmt.Sprintf(format, args...)
		return t
	}
	unknown := func(format string, args ...any) *dryRunTrial {
		t.known, t.result.Unknown = true, fmt.Sprintf(format, args...)
		return t
	}
	kind, served := a.Session.Kinds.Kind(gvk.GroupKind())
	if !served {
		if a.Session.Kinds.NotServed(gvk.GroupKind()) {
			t.silent = true // There is no server: the references decide.
			return t
		}
		return unknown("cannot discover what the group %s serves", gvk.Group)
	}
	kind.Version = gvk.Version
	t.Resource = kind
	if versions, ok := cluster.Serves(kind); !ok {
		if crd := a.definitionOf(kind); crd != nil {
			t.known = true
			t.result = checkedBySchema(crd, item.Object)
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
func (a *Preflight) definitionOf(kind object.Resource) *unstructured.Unstructured {
	for i := range a.batch {
		if it := &a.batch[i]; it.Ref.GroupKind() == DefinitionKind && it.Ref.Name == kind.String() {
			return it.Object
		}
	}
	return nil
}

// elsewhere tries an object in an existing namespace, in place of its own.
func (a *Preflight) elsewhere(t *dryRunTrial) *dryRunTrial {
	if t.replacement = a.standIn(); t.replacement == "" {
		t.known, t.result.Unknown = true, fmt.Sprintf("namespace %s does not exist yet, and no similar namespace exists for a dry run", t.item.Ref.Namespace)
		return t
	}
	t.Object = t.Object.DeepCopy()
	t.Object.SetNamespace(t.replacement)
	// An object of its name may exist: the server generates a name for this one.
	if t.Object.GetGenerateName() == "" {
		t.Object.SetGenerateName(t.Object.GetName() + "-")
	}
	t.New = true
	return t
}

// standIn is a namespace that is like a new one: nothing selects it by a label, and no
// LimitRange is in it. "default" goes before others; empty where there is none.
func (a *Preflight) standIn() string {
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
		if !plain || limited[ns.Name] || ns.Status.Phase == corev1.NamespaceTerminating || !a.state.Read(limitRangeKind, ns.Name) {
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
func (a *Preflight) podTrial(parent *dryRunTrial) *dryRunTrial {
	if parent.result.Reason != "" || podTemplatePath(parent.item.Ref) == nil || idle(parent.item.Object) {
		return nil
	}
	from := parent.result.Admitted
	if from == nil {
		from = parent.item.Object
	}
	t := &dryRunTrial{item: parent.item, replacement: parent.replacement}
	pod, err := podOf(parent.item.Ref, from)
	switch {
	case err != nil:
		t.pod, t.known, t.result.Unknown = &podTrial{}, true, fmt.Sprintf("no pod can be created from its template: %v", err)
		return t
	case pod == nil:
		return nil
	}
	t.pod = borrow(pod, a.creates, t.replacement != "")
	if t.replacement != "" {
		pod.Namespace = t.replacement
	} else if a.gone[parent.item.Ref.Namespace] {
		return nil // No namespace was suitable.
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil
	}
	delete(fields, "status")
	t.DryRunRequest = source.DryRunRequest{Resource: podResource, Object: &unstructured.Unstructured{Object: fields}, New: true}
	return t
}

// idle reports that no pod would be created now: whether one would be admitted does not matter.
func idle(object *unstructured.Unstructured) bool {
	replicas, counted, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
	return counted && replicas == 0 || suspended
}

var podResource = object.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true}

// creates reports that the batch creates an object that is missing.
func (a *Preflight) creates(ref object.Ref) bool {
	return slices.ContainsFunc(a.batch, func(it preflight.Item) bool { return it.Ref == ref && !it.Exists })
}

// Evaluation collects the input of the evaluation.
func (a *Preflight) Evaluation(ctx context.Context, declared []*declaredFootprint) (preflight.Request, error) {
	q := preflight.Request{Batch: a.batch, World: a.state, Graph: a.Graph, Autoscaler: a.q.Autoscaler, FromScratch: a.over == nil, Live: a.live, Composes: a.Session.Composes}
	var err error
	if q.Footprints, err = a.footprints(declared); err != nil {
		return q, err
	}
	q.Admissions, err = a.admissions(ctx)
	return q, err
}
