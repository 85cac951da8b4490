package check

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ManagedWorkloads returns the workloads of the stack without static pods, which a kubelet
// runs from a file.
func (s *Stack) ManagedWorkloads() []*Workload {
	return slices.DeleteFunc(slices.Clone(s.Workloads()), func(wl *Workload) bool {
		return wl.Template == nil && len(wl.Pods) > 0 && IsMirrorPod(&wl.Pods[0].ObjectMeta)
	})
}

// Definition is a CustomResourceDefinition, whole, and the objects of its kind.
type Definition struct {
	World *ClusterState
	// Ref is that of the CustomResourceDefinition.
	Ref object.Ref
	// CRD has its managed fields.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Kind is the defined kind, Instances its objects that were read.
	Kind      schema.GroupKind
	Instances []object.Ref
	// Operator is the operator of the kind; nil where it is unknown.
	Operator *Operator
	// Creator is the field manager that made it, as a source knows it where the managed fields
	// were not read; empty where it is unknown.
	Creator string
	// Usage is the text that its usage annotation leads to (internal/manual), Missing the
	// reason why there is none, Unread why that is unknown; all empty where it names none.
	Usage, UsageMissing, UsageUnread string
	// Annotations are the problems of its relationship annotations, in the words of
	// pkg/annotations.
	Annotations []string
	// Relationships counts the declared rules.
	Relationships int
	// Composition are the kinds that it declares as parts of instances; nil where it declares
	// none.
	Composition []schema.GroupKind
}

// NewDefinition reads a CustomResourceDefinition of apiextensions.k8s.io/v1.
func NewDefinition(w *ClusterState, fields map[string]any) (*Definition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, crd); err != nil {
		return nil, fmt.Errorf("read a CustomResourceDefinition: %w", err)
	}
	d := &Definition{
		World: w, CRD: crd,
		Ref:  object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: crd.Name},
		Kind: schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
	}
	d.Instances = w.Instances(d.Kind)
	return d, nil
}

// Served returns the versions that are served, in the order of the definition.
func (d *Definition) Served() []*apiextensionsv1.CustomResourceDefinitionVersion {
	var out []*apiextensionsv1.CustomResourceDefinitionVersion
	for i := range d.CRD.Spec.Versions {
		if v := &d.CRD.Spec.Versions[i]; v.Served {
			out = append(out, v)
		}
	}
	return out
}

// Storage returns the version in which objects are stored; nil of an invalid definition.
func (d *Definition) Storage() *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.CRD.Spec.Versions {
		if v := &d.CRD.Spec.Versions[i]; v.Storage {
			return v
		}
	}
	return nil
}

// Workloads returns the workloads that instances own, at any depth.
func (d *Definition) Workloads() []*Workload {
	var owned []object.Ref
	for _, ref := range d.Instances {
		owned = append(owned, d.World.Owned(ref)...)
	}
	return d.World.WorkloadsOf(owned)
}

// Operator is workloads, and the definitions that they act on.
type Operator struct {
	World *ClusterState
	// Name is that of the catalog, or of its workload.
	Name string
	// Workloads are those that run it; none where they are unknown, with the reason in
	// Unknown.
	Workloads []*Workload
	Unknown   string
	// Evidence is the evidence for the workloads: one sentence each.
	Evidence []string
	// Definitions are the CustomResourceDefinitions that it acts on, Kinds the kinds that
	// these define.
	Definitions []object.Ref
	Kinds       []schema.GroupKind
}

// Ref is the operator's reference in reports: its first workload, or its first definition.
func (o *Operator) Ref() object.Ref {
	switch {
	case len(o.Workloads) > 0:
		return o.Workloads[0].Ref
	case len(o.Definitions) > 0:
		return o.Definitions[0]
	}
	return object.Ref{Name: o.Name}
}

// Accounts returns the service accounts that its pods run as, in order, each once.
func (o *Operator) Accounts() []object.Ref {
	var out []object.Ref
	for _, w := range o.Workloads {
		for _, ref := range w.Accounts() {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

// Stack is an application: its roots, and the objects that belong to them.
type Stack struct {
	World *ClusterState
	// Ref is the reference in reports.
	Ref   object.Ref
	Stack *graph.Stack

	// members and workloads are made once: every rule asks for them.
	members   []object.Ref
	workloads []*Workload
	derived   map[string]any
}

// Derived returns what is derived from a stack for several rules. It is computed once for a key.
func Derived[T any](s *Stack, key string, compute func(*Stack) T) T {
	if have, ok := s.derived[key].(T); ok {
		return have
	}
	value := compute(s)
	if s.derived == nil {
		s.derived = map[string]any{}
	}
	s.derived[key] = value
	return value
}

// Members returns the existing objects of the stack, without boundaries (nodes, classes,
// definitions) and without objects that only created some of them, in order. The list is shared: it
// must not be changed.
func (s *Stack) Members() []object.Ref {
	if s.members == nil {
		for _, id := range s.Stack.Members() {
			if s.World.Graph.State(id) == graph.Present && !s.Stack.Boundary(id) && !s.Stack.Provenance(id) {
				s.members = append(s.members, s.World.Graph.Ref(id))
			}
		}
	}
	return s.members
}

// Workloads returns the workloads of the stack, and its bare pods. The list is shared: it must not be
// changed.
func (s *Stack) Workloads() []*Workload {
	if s.workloads == nil {
		s.workloads = s.World.WorkloadsOf(s.Members())
	}
	return s.workloads
}
