package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// draw formats a forest, a line for each branch.
func draw(g *graph.Graph, trees []*graph.Branch, indent string) string {
	var b strings.Builder
	for _, t := range trees {
		again := ""
		if t.Repeated {
			again = " again"
		}
		fmt.Fprintf(&b, "%s%s%s\n", indent, strings.TrimSpace(t.How.String()+" "+nameOf(g.Ref(t.ID))), again)
		b.WriteString(draw(g, t.Children, indent+" "))
	}
	return b.String()
}

func TestForest(t *testing.T) {
	for name, c := range map[string]struct {
		lines, roots string
		opts         graph.StackOptions
		want         string
	}{
		"alone": {"a", "a", graph.StackOptions{}, "a"},
		"under its owner, though it is needed nearer": {"a needs z\na owns b\nb owns z", "a", graph.StackOptions{}, `
a
 owns b
  owns z`},
		"as near as can be": {"a owns b\nb needs c\na needs c", "a", graph.StackOptions{}, `
a
 owns b
 needs c`},
		"siblings": {"a needs pod:p\na needs sa:s\na owns y\na owns b\nx serves a", "a", graph.StackOptions{}, `
a
 owns b
 owns y
 needs pod:p
 needs sa:s
 served by x`},
		"who makes it": {"apps:d needs sec:s\na owns sec:s\na needs b\nsvc serves apps:d", "apps:d", graph.StackOptions{}, `
apps:d
 needs sec:s
  made by a
   needs b
 served by svc`},
		"makers come last": {"apps:d needs sec:s\na owns sec:s\na needs b\napps:d owns pod:p\npod:p needs sec:t\nsec:t needs b\nb owns c", "apps:d", graph.StackOptions{}, `
apps:d
 owns pod:p
  needs sec:t
   needs b
    owns c
 needs sec:s
  made by a`},
		"a maker of two": {"apps:d needs sec:s\napps:e needs sec:t\na owns sec:s\na owns sec:t", "apps:d apps:e", graph.StackOptions{}, `
apps:d
 needs sec:s
  made by a
apps:e
 needs sec:t
  made by a again`},
		"a maker that was asked for": {"apps:d needs sec:s\na owns sec:s", "a apps:d", graph.StackOptions{}, `
apps:d
 needs sec:s again
a
 owns sec:s`},
		"up from what a maker needs": {"apps:d needs sec:s\na owns sec:s\na needs b", "b", graph.StackOptions{Up: true}, `
b
 needed by a
  owns sec:s
   needed by apps:d`},
		"owners in a cycle": {"a needs b\nb owns c\nc owns b", "a", graph.StackOptions{}, `
a
 needs b
  owns c`},
		"the root in a cycle": {"a owns b\nb owns a", "a", graph.StackOptions{}, `
a
 owns b`},
		"one Service": {shop, "svc2", graph.StackOptions{}, `
svc2
 served by ingress
 serves deploy2
  owns rs2
   owns pod2
    needs n:node
    needs sa:default
    needs shared`},
		"the other's": {"a needs b\nb needs c", "a b", graph.StackOptions{}, `
a
 needs b again
b
 needs c`},
		"mentioned once": {"a owns p\na owns q\np needs s\nq needs s\nb owns s", "a b", graph.StackOptions{}, `
a
 owns p
  needs s again
 owns q
b
 owns s`},
		"boundaries are not mentioned": {"a needs n:node\nb needs n:node", "a b", graph.StackOptions{}, `
a
 needs n:node
b`},
		"up": {"a owns b\nb owns c\nd needs c\nc serves e", "c", graph.StackOptions{Up: true}, `
c
 serves e
 owned by b
  owned by a
 needed by d`},
		"connected": {"a owns b\nc needs b", "b", graph.StackOptions{Connected: true}, `
b
 owned by a
 needed by c`},
		"no inferred": {"a made b\na needs b", "a", graph.StackOptions{NoInferred: true}, `
a
 needs b`},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			s := g.Stack(nodes(t, g, c.roots), c.opts)
			if got, want := strings.TrimSpace(draw(g, s.Forest(), "")), strings.TrimSpace(c.want); got != want {
				t.Errorf("drawn\n%s\nwant\n%s", got, want)
			}
			checkForest(t, 0, s)
		})
	}
}

// An object that many need, with an owner to wait for, and many that wait for an owner without
// edges: placing must not retry them all.
func TestForestIsWide(t *testing.T) {
	const n = 10_000
	w := newWorld(t, "root needs far\nfar owns secret")
	for i := range n {
		pod := fmt.Sprint("pod", i)
		w.edge("root", "owns", pod)
		w.edge(pod, "needs", "secret")
		w.edge(pod, "needs", fmt.Sprint("claim", i))
		w.edge(fmt.Sprint("claim", i), "owns", fmt.Sprint("volume", i))
		w.edge(fmt.Sprint("volume", i), "owns", fmt.Sprint("claim", i))
	}
	g := w.build(nil)
	for _, o := range []graph.StackOptions{{}, {Connected: true}} {
		s := g.Stack(nodes(t, g, "root"), o)
		if len(s.Members()) != 3*n+3 {
			t.Fatalf("%d members", len(s.Members()))
		}
		checkForest(t, 0, s)
	}
	up := g.Stack(nodes(t, g, "secret"), graph.StackOptions{Up: true})
	if len(up.Members()) != n+3 {
		t.Fatalf("%d members above", len(up.Members()))
	}
	checkForest(t, 0, up)
	if im := g.Impact(node(t, g, "far"), graph.ImpactOptions{}); len(im.Deleted) != 1 || len(im.Direct) != n+1 {
		t.Errorf("%d deleted, %d direct", len(im.Deleted), len(im.Direct))
	}
}
