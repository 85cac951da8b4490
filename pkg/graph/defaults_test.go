package graph_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// A complete list of Namespaces has those of the control plane; another list proves nothing about
// those that it lacks.
func TestNamespaceState(t *testing.T) {
	for lines, want := range map[string]graph.State{
		"a needs in:prod\ngone in:prod\nin:shop":        graph.Unread,
		"a needs in:prod\ngone in:prod\nin:kube-system": graph.Missing,
		"a needs in:prod": graph.Present,
	} {
		g := graphOf(t, lines)
		if got := g.State(node(t, g, "in:prod")); got != want {
			t.Errorf("%q: %s, want %s", lines, got, want)
		}
	}
	for lines, want := range map[string]graph.State{"in:shop": graph.Unread, "in:default": graph.Missing} {
		if got := graphOf(t, lines).StateOf(refOf("in:prod")); got != want {
			t.Errorf("%q: %s of no node, want %s", lines, got, want)
		}
	}
}

// An object whose get returned NotFound is missing, whatever it is.
func TestDefaultAbsent(t *testing.T) {
	b := graph.NewBuilder(relation.NewSet(), builtInKinds())
	inv := inventory.New(nil, b.Extract)
	view := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "view"}
	inv.Absent(view)
	if got := b.Build(inv).StateOf(view); got != graph.Missing {
		t.Errorf("state %s", got)
	}
}
