package graph_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// A selector into an unread namespace makes that worth reading, if what it matches would belong to
// the stack.
func TestSelectorsThatLookElsewhere(t *testing.T) {
	other := refOf("u:x").GroupKind()
	in := func(namespace string) relation.Target {
		return relation.Target{Kind: other, Namespace: namespace, Selector: &relation.Selector{Labels: map[string]string{"a": "b"}}}
	}
	everywhere := in("")
	everywhere.AllNamespaces = true
	builtIn := everywhere
	builtIn.Kind = schema.GroupKind{Kind: "Unlisted"}
	byLabel := in("")
	byLabel.Namespaces = &relation.Selector{Labels: map[string]string{"c": "d"}}
	read := in("far")
	read.Kind = refOf("pod:x").GroupKind()
	for _, c := range []struct {
		name       string
		says, root string
		rule       string
		link       relation.Link
		options    graph.StackOptions
		want       string
	}{
		{"needs, in a namespace", "a", "a", "needs", relation.Link{Target: in("far")}, graph.StackOptions{}, "[far ns] []"},
		{"needs, everywhere", "a", "a", "needs", relation.Link{Target: everywhere}, graph.StackOptions{}, "[ns] [Other.test]"},
		{"a member needs, everywhere", "b", "a", "needs", relation.Link{Target: everywhere}, graph.StackOptions{}, "[ns] [Other.test]"},
		{"a root looks among a built-in kind, everywhere", "a", "a", "needs", relation.Link{Target: builtIn}, graph.StackOptions{}, "[ns] [Unlisted]"},
		{"a member does", "b", "a", "needs", relation.Link{Target: builtIn}, graph.StackOptions{}, "[ns] []"},
		{"needs, in namespaces by their labels", "a", "a", "needs", relation.Link{Target: byLabel}, graph.StackOptions{}, "[ns] [Other.test]"},
		{"what was read", "a", "a", "needs", relation.Link{Target: read}, graph.StackOptions{}, "[ns] []"},
		{"who belongs to the stack", "b", "a", "needs", relation.Link{Target: in("far")}, graph.StackOptions{}, "[far ns] []"},
		{"who does not", "z", "a", "needs", relation.Link{Target: in("far")}, graph.StackOptions{}, "[ns] []"},
		{"a root that serves stands for it", "a", "a", "serves", relation.Link{Target: in("far")}, graph.StackOptions{}, "[far ns] []"},
		{"who serves the root stands for nothing else", "s", "a", "serves", relation.Link{Target: in("far")}, graph.StackOptions{}, "[ns] []"},
		{"said by the other end", "a", "a", "needs", relation.Link{Target: in("far"), Backward: true}, graph.StackOptions{}, "[ns] []"},
		{"a guess", "a", "a", "needs", relation.Link{Target: in("far"), Inferred: true}, graph.StackOptions{NoInferred: true}, "[ns] []"},
		{"of another relation", "a", "a", "needs", relation.Link{Target: in("far")}, graph.StackOptions{Relations: []relation.Relation{relation.Owns}}, "[ns] []"},
		{"upwards", "a", "a", "needs", relation.Link{Target: in("far")}, graph.StackOptions{Up: true}, "[ns] []"},
		{"upwards, to whom it serves", "a", "a", "serves", relation.Link{Target: in("far")}, graph.StackOptions{Up: true}, "[far ns] []"},
		{"connected", "s", "a", "serves", relation.Link{Target: in("far")}, graph.StackOptions{Connected: true}, "[far ns] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "a owns b\ns serves a\nz")
			w.link(c.says, c.rule, c.link)
			g := w.build(nil)
			s := g.Stack(nodes(t, g, c.root), c.options)
			if got := fmt.Sprint(s.Namespaces(), s.WantedKinds()); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// An object that serves another namespace has that read.
func TestNamespacesOfWhatIsServed(t *testing.T) {
	for root, want := range map[string]string{"monitor": "[far ns]", "far/app": "[far]"} {
		g := graphOf(t, "monitor serves pod:far/p\nfar/app owns pod:far/p")
		if got := fmt.Sprint(g.Stack(nodes(t, g, root), graph.StackOptions{}).Namespaces()); got != want {
			t.Errorf("of %s: %s, want %s", root, got, want)
		}
	}
}
