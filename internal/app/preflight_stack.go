package app

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// readStack takes the stack of the roots as the batch: would it start again?
func (a *Preflight) readStack(ctx context.Context) error {
	a.in.Collect = a.facts.Add
	var err error
	if a.Session, err = a.in.Open(ctx); err != nil {
		return err
	}
	s := a.Session
	roots, err := SelectedRoots(a.q.Args, nil, s.Kinds)
	if err != nil {
		return err
	}
	ask := s.Query(roots)
	ask.Kinds = slices.Concat(ask.Kinds, admissionKinds(), capacityKinds())
	opts := graph.StackOptions{NoInferred: a.in.NoInferred}
	if a.Graph, err = s.Read(ctx, ask, func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, nil) }, opts); err != nil {
		return err
	}
	if err := s.Missing(a.Graph, roots, nil); err != nil {
		return err
	}
	stack := a.Graph.Stack(s.Resolve(a.Graph, roots, nil), opts)
	if a.batch, err = a.tops(ctx, stack); err != nil {
		return err
	}
	a.state = s.CheckWorld(a.Graph, a.facts, s.Kinds, s.Inventory)
	return nil
}

// tops returns the objects of a stack that a user applied: those without an owner in it. Producers
// were applied on their own, and Secrets and ConfigMaps are taken as they are, since their data is
// not read.
func (a *Preflight) tops(ctx context.Context, stack *graph.Stack) ([]preflight.Item, error) {
	g := a.Graph
	var refs []object.Ref
	for _, id := range stack.Members() {
		ref := g.Ref(id)
		kind, served := a.Session.Kinds.Kind(ref.GroupKind())
		owned := slices.ContainsFunc(g.OwnersOf(id), func(o graph.ID) bool { return stack.Has(o) && !stack.Provenance(o) && g.State(o) == graph.Present })
		if g.State(id) != graph.Present || stack.Boundary(id) || stack.Provenance(id) || owned || !served || source.LeftOut(kind) || ref.Group == "" && (ref.Kind == "Secret" || ref.Kind == "ConfigMap") {
			continue
		}
		refs = append(refs, ref)
	}
	whole, err := a.in.WholeSource(ctx, a.Session, source.Fields)
	if err != nil {
		return nil, err
	}
	sink := &objectSink{want: map[object.Ref]bool{}}
	for _, r := range refs {
		sink.want[r] = true
	}
	if err := whole.Read(ctx, source.Query{Objects: refs}, sink); err != nil {
		return nil, err
	}
	a.in.Report.Gaps(sink.Gaps)
	slices.SortFunc(sink.items, func(x, y preflight.Item) int { return object.Compare(x.Ref, y.Ref) })
	return sink.items, nil
}

// objectSink makes items of the wanted objects.
type objectSink struct {
	wholeSink
	want  map[object.Ref]bool
	items []preflight.Item
}

func (s *objectSink) Add(o object.Object) {
	fields := o.Fields()
	if fields == nil || !s.want[o.Ref] {
		return
	}
	u := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind})
	asApplied(u)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, preflight.Item{Ref: o.Ref, Object: u, Exists: true})
}

// asApplied removes from an object what only the cluster sets.
func asApplied(u *unstructured.Unstructured) {
	delete(u.Object, "status")
	for _, field := range []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	notes := u.GetAnnotations()
	delete(notes, "kubectl.kubernetes.io/last-applied-configuration")
	delete(notes, "deployment.kubernetes.io/revision")
	if len(notes) == 0 {
		notes = nil
	}
	u.SetAnnotations(notes)
	if u.GetKind() == "Pod" && u.GetAPIVersion() == "v1" {
		unstructured.RemoveNestedField(u.Object, "spec", "nodeName")
	}
}
