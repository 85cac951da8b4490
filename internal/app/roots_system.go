package app

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// keepersOf returns the managers of the System of a root; there are several where all namespaces
// are searched.
func (s *Session) keepersOf(g *graph.Graph, r Root) []graph.ID {
	var out []graph.ID
	for _, id := range s.Adopted(g, s.NamespaceOf(r)) {
		if g.Ref(id) == system.ParentRef(g.Ref(id).Namespace, r.Name) {
			out = append(out, id)
		}
	}
	return out
}

// SingleManager returns the manager of the System of a root, for questions about one object.
func (s *Session) SingleManager(g *graph.Graph, r Root) (graph.ID, error) {
	keepers := s.keepersOf(g, r)
	if len(keepers) != 1 {
		return 0, hint.With(fmt.Errorf("%s is in %d namespaces", r.Text, len(keepers)), "name one: system/NAMESPACE/"+r.Name)
	}
	return keepers[0], nil
}

// Adopted returns the managers of the Systems in a namespace; in all if it is empty.
func (s *Session) Adopted(g *graph.Graph, in string) []graph.ID {
	var out []graph.ID
	for id := range g.OfKind(ConfigMapKind) {
		ref := g.Ref(id)
		if g.WasRead(id) && (in == "" || ref.Namespace == in) && system.IsParent(ref, g.Labels(id)) {
			out = append(out, id)
		}
	}
	return out
}

// Keepers returns the managers of all Systems among the roots. They are read with the roots.
func (s *Session) Keepers(g *graph.Graph) []graph.ID {
	var out []graph.ID
	for _, r := range s.systems {
		out = append(out, s.keepersOf(g, r)...)
	}
	return out
}

// inSystem returns the members of a System that no other of them owns.
func (s *Session) inSystem(g *graph.Graph, r Root) []graph.ID {
	var out []graph.ID
	for _, keeper := range s.keepersOf(g, r) {
		out = append(out, g.InSet(keeper)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noSystem returns why system/NAME was not found, with the Systems that exist.
func (s *Session) noSystem(g *graph.Graph, r Root, place string) error {
	if len(s.keepersOf(g, r)) > 0 {
		return hint.With(fmt.Errorf("the System %q%s has no member that could be read", r.Name, place), "kubectl sysop system adopt -f FILE makes the roots of its manifest members again")
	}
	err := fmt.Errorf("no System %q was adopted%s", r.Name, place)
	if gap, ok := s.GapOf(g, object.Resource{Kind: "ConfigMap", Plural: "configmaps"}, s.NamespaceOf(r)); ok {
		return fmt.Errorf("%w, as far as could be read: %s", err, gap.Message)
	}
	var names []string
	for _, id := range s.Adopted(g, s.NamespaceOf(r)) {
		names = append(names, g.Labels(id)[system.Label])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if near := object.Nearest(r.Name, names); len(near) > 0 {
		return fmt.Errorf("%w%s", err, object.DidYouMean(near))
	}
	const maxShown = 8
	switch {
	case len(names) == 0 && place != "":
		return hint.With(err, "there are none in it; -n names another namespace, -A searches all")
	case len(names) == 0:
		return hint.With(err, "there are none; kubectl sysop system adopt -f FILE adopts one")
	case len(names) > maxShown:
		names = append(names[:maxShown:maxShown], "...")
	}
	return hint.With(err, "there are "+strings.Join(names, ", "))
}

// ConfigMapKind is the kind of ConfigMaps.
var ConfigMapKind = schema.GroupKind{Kind: "ConfigMap"}
