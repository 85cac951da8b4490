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

// DryRunTrial is an object of the batch, or a pod of it, to be sent to the server.
type DryRunTrial struct {
	Item *preflight.Item
	source.DryRunRequest
	// Instead is the namespace of the trial, where its own is missing.
	Instead string
	Pod     *PodTrial // of a template; nil for the object itself
	Said    preflight.Admission
	known   bool // decided without the server
	Silent  bool // no result is given
}

// admissions asks the server, or its stand-in from the batch, about every object and then about a
// pod of every template. It is nil without a server.
func (a *Preflight) admissions(ctx context.Context) ([]preflight.Admission, error) {
	cluster, ok := ClusterOf(a.Session.Source)
	if !ok {
		return nil, nil
	}
	defer a.Session.Input.Clock.Stage("dry runs")()
	objects := make([]*DryRunTrial, 0, len(a.Batch))
	for i := range a.Batch {
		objects = append(objects, a.trialOf(&a.Batch[i], cluster))
	}
	if err := a.try(ctx, cluster, objects); err != nil {
		return nil, err
	}
	var pods []*DryRunTrial
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
		if !t.Silent {
			out = append(out, t.Said)
		}
	}
	return out, nil
}

// try sends the trials that the server decides.
func (a *Preflight) try(ctx context.Context, cluster *source.Cluster, all []*DryRunTrial) error {
	var asked []*DryRunTrial
	var trials []source.DryRunRequest
	for _, t := range all {
		t.Said.Ref, t.Said.Pod = t.Item.Ref, t.Pod != nil
		if !t.known && !t.Silent {
			asked, trials = append(asked, t), append(trials, t.DryRunRequest)
		}
	}
	tried, err := cluster.DryRun(ctx, trials)
	if err != nil {
		return err
	}
	for i, t := range asked {
		a.RecordDryRun(t, tried[i])
	}
	return nil
}

// trialOf returns how an object is tried.
func (a *Preflight) trialOf(item *preflight.Item, cluster *source.Cluster) *DryRunTrial {
	gvk := item.Object.GroupVersionKind()
	t := &DryRunTrial{Item: item, DryRunRequest: source.DryRunRequest{Object: item.Object, Exists: item.Exists, Manager: a.q.Manager}}
	refused := func(reason, format string, args ...any) *DryRunTrial {
		t.known, t.Said.Reason, t.Said.Message = true, reason, fmt.Sprintf(format, args...)
		return t
	}
	unknown := func(format string, args ...any) *DryRunTrial {
		t.known, t.Said.Unknown = true, fmt.Sprintf(format, args...)
		return t
	}
	kind, served := a.Session.Kinds.Kind(gvk.GroupKind())
	if !served {
		if a.Session.Kinds.NotServed(gvk.GroupKind()) {
			t.Silent = true // There is no server: the references decide.
			return t
		}
		return unknown("cannot discover what the group %s serves", gvk.Group)
	}
	kind.Version = gvk.Version
	t.Resource = kind
	if versions, ok := cluster.Serves(kind); !ok {
		if crd := a.definitionOf(kind); crd != nil {
			t.known = true
			t.Said = CheckedBySchema(crd, item.Object)
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
	for i := range a.Batch {
		if it := &a.Batch[i]; it.Ref.GroupKind() == DefinitionKind && it.Ref.Name == kind.String() {
			return it.Object
		}
	}
	return nil
}

// elsewhere tries an object in an existing namespace, in place of its own.
func (a *Preflight) elsewhere(t *DryRunTrial) *DryRunTrial {
	if t.Instead = a.StandIn(); t.Instead == "" {
		t.known, t.Said.Unknown = true, fmt.Sprintf("namespace %s does not exist yet, and no similar namespace exists for a dry run", t.Item.Ref.Namespace)
		return t
	}
	t.Object = t.Object.DeepCopy()
	t.Object.SetNamespace(t.Instead)
	// An object of its name may exist: the server generates a name for this one.
	if t.Object.GetGenerateName() == "" {
		t.Object.SetGenerateName(t.Object.GetName() + "-")
	}
	t.New = true
	return t
}

// StandIn is a namespace that is like a new one: nothing selects it by a label, and no
// LimitRange is in it. "default" goes before others; empty where there is none.
func (a *Preflight) StandIn() string {
	limited := map[string]bool{}
	for _, l := range check.All[*corev1.LimitRange](a.Facts, "", "LimitRange") {
		limited[l.Namespace] = true
	}
	best := ""
	for _, ns := range check.All[*corev1.Namespace](a.Facts, "", "Namespace") {
		plain := true
		for label := range ns.Labels {
			plain = plain && label == corev1.LabelMetadataName
		}
		if !plain || limited[ns.Name] || ns.Status.Phase == corev1.NamespaceTerminating || !a.State.Read(limitRangeKind, ns.Name) {
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
func (a *Preflight) podTrial(parent *DryRunTrial) *DryRunTrial {
	if parent.Said.Reason != "" || podTemplatePath(parent.Item.Ref) == nil || idle(parent.Item.Object) {
		return nil
	}
	from := parent.Said.Admitted
	if from == nil {
		from = parent.Item.Object
	}
	t := &DryRunTrial{Item: parent.Item, Instead: parent.Instead}
	pod, err := PodOf(parent.Item.Ref, from)
	switch {
	case err != nil:
		t.Pod, t.known, t.Said.Unknown = &PodTrial{}, true, fmt.Sprintf("no pod can be created from its template: %v", err)
		return t
	case pod == nil:
		return nil
	}
	t.Pod = Lend(pod, a.creates, t.Instead != "")
	if t.Instead != "" {
		pod.Namespace = t.Instead
	} else if a.gone[parent.Item.Ref.Namespace] {
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
	return slices.ContainsFunc(a.Batch, func(it preflight.Item) bool { return it.Ref == ref && !it.Exists })
}

// Evaluation collects the input of the evaluation.
func (a *Preflight) Evaluation(ctx context.Context, declared []*declaredFootprint) (preflight.Request, error) {
	q := preflight.Request{Batch: a.Batch, World: a.State, Graph: a.Graph, Autoscaler: a.q.Autoscaler, FromScratch: a.over == nil, Live: a.live, Composes: a.Session.Composes}
	var err error
	if q.Footprints, err = a.footprints(declared); err != nil {
		return q, err
	}
	q.Admissions, err = a.admissions(ctx)
	return q, err
}
