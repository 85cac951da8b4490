package graph_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// shop is two applications behind one ingress.
const shop = `
ingress serves svc1
ingress serves svc2
svc1 serves pod1
svc2 serves pod2
deploy1 owns rs1
rs1 owns pod1
deploy2 owns rs2
rs2 owns pod2
pod1 needs n:node
pod2 needs n:node
pod1 needs shared
pod2 needs shared
pod1 needs sa:default
pod2 needs sa:default
binding serves sa:default
pod1 needs sa:own
role-binding serves sa:own
role-binding needs role
`

func TestStack(t *testing.T) {
	for name, c := range map[string]struct {
		lines, roots string
		opts         graph.StackOptions
		want         string
	}{
		"alone":                             {"a\nb", "a", graph.StackOptions{}, "a"},
		"no roots":                          {"a\nb", "", graph.StackOptions{}, ""},
		"owns and needs":                    {"a owns b\nb needs c\nc owns d\nx owns a\ny needs a", "a", graph.StackOptions{}, "a b c d"},
		"who serves it":                     {"s serves a\nt serves s\na serves b", "x", graph.StackOptions{}, "x"},
		"one of two":                        {shop, "deploy1", graph.StackOptions{}, "deploy1 ingress n:node pod1 role role-binding rs1 sa:default sa:own shared svc1"},
		"both":                              {shop, "deploy1 deploy2", graph.StackOptions{}, "deploy1 deploy2 ingress n:node pod1 pod2 role role-binding rs1 rs2 sa:default sa:own shared svc1 svc2"},
		"a Service stands":                  {shop, "svc2", graph.StackOptions{}, "deploy2 ingress n:node pod2 rs2 sa:default shared svc2"},
		"an Ingress stands":                 {shop, "ingress", graph.StackOptions{}, "deploy1 deploy2 ingress n:node pod1 pod2 role role-binding rs1 rs2 sa:default sa:own shared svc1 svc2"},
		"a needed Service":                  {shop + "client needs svc2", "client", graph.StackOptions{}, "client deploy2 ingress n:node pod2 rs2 sa:default shared svc2"},
		"a mere pod":                        {shop, "pod2", graph.StackOptions{}, "ingress n:node pod2 sa:default shared svc2"},
		"a boundary as root":                {shop, "sa:default", graph.StackOptions{}, "binding sa:default"},
		"no climb onto a node":              {"n:node owns pod\nsvc serves pod\na needs svc", "a", graph.StackOptions{}, "a pod svc"},
		"no climb to what is gone":          {"x owns pod\ngone x\nsvc serves pod\na needs svc", "a", graph.StackOptions{}, "a pod svc"},
		"does not stand for gone":           {"svc serves x\ngone x\na needs svc", "a", graph.StackOptions{}, "a svc"},
		"several topmost":                   {"x owns y\ny owns pod\nz owns pod\nsvc serves pod", "svc", graph.StackOptions{}, "pod svc x y z"},
		"owners in a cycle":                 {"x owns y\ny owns x\ny owns pod\nsvc serves pod", "svc", graph.StackOptions{}, "pod svc"},
		"missing and unread":                {"a needs b\ngone b\na needs u:c", "a", graph.StackOptions{}, "a b u:c"},
		"relations":                         {"a owns b\nb needs c\ns serves b", "a", graph.StackOptions{Relations: []relation.Relation{relation.Owns}}, "a b"},
		"no inferred":                       {"a guesses b\na needs c\na made d", "a", graph.StackOptions{NoInferred: true}, "a c"},
		"inferred":                          {"a guesses b\na needs c\na made d", "a", graph.StackOptions{}, "a b c d"},
		"up":                                {"a owns b\nc needs b\nb serves d\nb owns e\nd needs f\ng serves d", "b", graph.StackOptions{Up: true}, "a b c d"},
		"up from what a maker needs":        {"apps:d needs sec:s\na owns sec:s\na needs b", "b", graph.StackOptions{Up: true}, "a apps:d b sec:s"},
		"up, not for its own":               {"a owns apps:d\napps:d needs sec:s\na owns sec:s\na needs b", "b", graph.StackOptions{Up: true}, "a b"},
		"up, not what a maker makes itself": {"apps:d needs sec:s\na owns sec:s\na owns sec:t", "a", graph.StackOptions{Up: true}, "a apps:d sec:s"},
		"up to a boundary":                  {"n:node owns a\nx needs n:node", "a", graph.StackOptions{Up: true}, "a n:node"},
		"connected":                         {"a owns b\nc needs b\nb serves d\ne needs d\ne needs n:node\nf needs n:node", "a", graph.StackOptions{Connected: true}, "a b c d e n:node"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines+"\nx")
			s := g.Stack(nodes(t, g, c.roots), c.opts)
			if got := names(g, s.Members()); got != c.want {
				t.Errorf("members %q, want %q", got, c.want)
			}
			if got := names(g, g.Union(nodes(t, g, c.roots), c.opts)); got != c.want {
				t.Errorf("union %q, want %q", got, c.want)
			}
			if s.Graph() != g || names(g, s.Roots()) != names(g, nodes(t, g, c.roots)) {
				t.Error("graph or roots")
			}
		})
	}
}

func TestShared(t *testing.T) {
	g := graphOf(t, shop)
	s := g.Stack(nodes(t, g, "deploy2 deploy1 deploy1"), graph.StackOptions{})
	var shared, boundary []graph.ID
	for _, id := range s.Members() {
		if s.Shared(id) {
			shared = append(shared, id)
		}
		if s.Boundary(id) {
			boundary = append(boundary, id)
		}
	}
	if got := names(g, shared); got != "ingress n:node sa:default shared" {
		t.Errorf("shared %q", got)
	}
	if got := names(g, boundary); got != "n:node sa:default" {
		t.Errorf("boundaries %q", got)
	}
	if s := g.Stack(nodes(t, g, "n:node"), graph.StackOptions{}); s.Boundary(node(t, g, "n:node")) || s.Boundary(node(t, g, "pod1")) {
		t.Error("a root is no boundary, and neither is what is not there")
	}
}

// An owner may be in the stack for another reason, and its owners not.
func TestOwnersOutside(t *testing.T) {
	g := graphOf(t, "top owns owner\nowner owns root\nroot needs owner\nother owns root")
	s := g.Stack(nodes(t, g, "root"), graph.StackOptions{})
	if got := names(g, s.Members()); got != "owner root" {
		t.Errorf("members %q", got)
	}
	if got := names(g, s.OwnersOutside()); got != "other top" {
		t.Errorf("owners %q", got)
	}
}

func TestStackReads(t *testing.T) {
	g := graphOf(t, `
top owns mid
also owns mid
mid owns root
root owns far/child
root needs away/data
away/data owns away/deep
other/binding serves root
root needs u:unread
u:above owns top
root needs n:node
u:host/hidden serves root
`)
	s := g.Stack(nodes(t, g, "root"), graph.StackOptions{})
	if got := names(g, s.OwnersOutside()); got != "also mid top u:above" {
		t.Errorf("owners %q", got)
	}
	if first := s.OwnersOutside()[0]; g.Ref(first).Name != "mid" {
		t.Errorf("nearest owner %v", g.Ref(first))
	}
	// Owner references do not cross namespaces.
	if got := strings.Join(s.Namespaces(), " "); got != "away ns" {
		t.Errorf("namespaces %q", got)
	}
	var wanted []string
	for _, r := range s.Wanted() {
		wanted = append(wanted, nameOf(r))
	}
	if got := strings.Join(wanted, " "); got != "u:above u:unread" {
		t.Errorf("wanted %q", got)
	}
	for _, e := range s.Edges() {
		if !s.Has(e.From) || !s.Has(e.To) {
			t.Errorf("edge %s", edgeText(g, e))
		}
	}
	if len(s.Edges()) != 5 {
		t.Errorf("%d edges", len(s.Edges()))
	}
}

// Data without references does not make its namespace worth reading.
func TestNamespacesOfData(t *testing.T) {
	g := graphOf(t, "a needs sa:far/x\na needs pod:away/y\na needs away2/z\ngone away2/z")
	s := g.Stack(nodes(t, g, "a"), graph.StackOptions{})
	if got := strings.Join(s.Namespaces(), " "); got != "away ns" {
		t.Errorf("namespaces %q", got)
	}
}
