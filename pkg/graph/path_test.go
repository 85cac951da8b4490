package graph_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// way formats a path: a >needs> b <owns< c.
func way(g *graph.Graph, from graph.ID, steps []graph.Step) string {
	words := []string{nameOf(g.Ref(from))}
	for _, s := range steps {
		word := s.Edge.Relation.String()
		if s.Edge.Inferred {
			word += "?"
		}
		if s.Against {
			words = append(words, "<"+word+"<", nameOf(g.Ref(s.Edge.From)))
			continue
		}
		words = append(words, ">"+word+">", nameOf(g.Ref(s.Edge.To)))
	}
	return strings.Join(words, " ")
}

func TestPath(t *testing.T) {
	for name, c := range map[string]struct {
		lines, from, to string
		opts            graph.StackOptions
		want            string // empty if there is none
	}{
		"itself":                     {"a", "a", "a", graph.StackOptions{}, "a"},
		"forward":                    {"a owns b\nb needs c", "a", "c", graph.StackOptions{}, "a >owns> b >needs> c"},
		"against":                    {"a owns b\nb needs c", "c", "a", graph.StackOptions{}, "c <needs< b <owns< a"},
		"either way":                 {"a needs b\nc needs b", "a", "c", graph.StackOptions{}, "a >needs> b <needs< c"},
		"shortest":                   {"a guesses z\na owns b\nb needs z", "a", "z", graph.StackOptions{}, "a >needs?> z"},
		"declared first":             {"a guesses b\nb owns z\na needs c\nc owns z", "a", "z", graph.StackOptions{}, "a >needs> c >owns> z"},
		"declared first, one":        {"a guesses b\na serves b", "a", "b", graph.StackOptions{}, "a >serves> b"},
		"declared, and against":      {"a guesses b\nb needs a", "a", "b", graph.StackOptions{}, "a <needs< b"},
		"either way, by name":        {"b needs a\nb owns z\na needs c\nc owns z", "a", "z", graph.StackOptions{}, "a <needs< b >owns> z"},
		"owners first":               {"a needs b\nb needs z\na needs c\nc owns z", "a", "z", graph.StackOptions{}, "a >needs> c >owns> z"},
		"owners first, one":          {"a serves b\na needs b\nb owns a", "a", "b", graph.StackOptions{}, "a <owns< b"},
		"needs before serves":        {"a serves b\nb serves z\na serves c\nc needs z", "a", "z", graph.StackOptions{}, "a >serves> c >needs> z"},
		"one owner, two needs":       {"a owns b\nb serves z\na needs c\nc needs z", "a", "z", graph.StackOptions{}, "a >owns> b >serves> z"},
		"shorter before owners":      {"a serves z\na owns b\nb owns z", "a", "z", graph.StackOptions{}, "a >serves> z"},
		"declared before owners":     {"a made b\nb owns z\na serves c\nc serves z", "a", "z", graph.StackOptions{}, "a >serves> c >serves> z"},
		"the same from the end":      {"z needs b\nz needs c\nb needs a\nc needs a", "z", "a", graph.StackOptions{}, "z >needs> b >needs> a"},
		"by name, if equal":          {"a needs d\na needs c\nc needs z\nd needs z", "a", "z", graph.StackOptions{}, "a >needs> c >needs> z"},
		"not through a boundary":     {"a needs n:node\nb needs n:node", "a", "b", graph.StackOptions{}, ""},
		"round a boundary":           {"a needs n:node\nb needs n:node\na needs c\nc needs d\nd needs b", "a", "b", graph.StackOptions{}, "a >needs> c >needs> d >needs> b"},
		"to a boundary":              {"a needs n:node", "a", "n:node", graph.StackOptions{}, "a >needs> n:node"},
		"from a boundary":            {"a needs n:node\na owns b", "n:node", "b", graph.StackOptions{}, "n:node <needs< a >owns> b"},
		"not through the gone":       {"a needs x\nb needs x\ngone x", "a", "b", graph.StackOptions{}, ""},
		"through what is to be made": {"a needs sec:s\nb made sec:s\nb needs c\ngone sec:s\ngone c", "a", "c", graph.StackOptions{}, "a >needs> sec:s <owns?< b >needs> c"},
		"not if its owner is gone":   {"a needs sec:s\nb owns sec:s\nb needs c\ngone sec:s\ngone b", "a", "c", graph.StackOptions{}, ""},
		"nor by who manages":         {"a needs x\nb manages x\nb needs c\ngone x", "a", "c", graph.StackOptions{}, ""},
		"to the gone":                {"a needs x\ngone x", "a", "x", graph.StackOptions{}, "a >needs> x"},
		"through the unread":         {"a needs u:x\nb needs u:x", "a", "b", graph.StackOptions{}, "a >needs> u:x <needs< b"},
		"unreachable":                {"a owns b\nc owns d", "a", "d", graph.StackOptions{}, ""},
		"alone":                      {"a\nb", "a", "b", graph.StackOptions{}, ""},
		"no inferred":                {"a guesses b", "a", "b", graph.StackOptions{NoInferred: true}, ""},
		"relations":                  {"a needs b\na owns c\nc owns b", "a", "b", graph.StackOptions{Relations: []relation.Relation{relation.Owns}}, "a >owns> c >owns> b"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			from := node(t, g, c.from)
			steps, ok := g.Path(from, node(t, g, c.to), c.opts)
			if ok != (c.want != "") || ok && way(g, from, steps) != c.want {
				t.Errorf("path %v %q, want %q", ok, way(g, from, steps), c.want)
			}
		})
	}
}

// A path is connected, and as short as a breadth-first search finds.
func TestPathIsShortest(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 4))
		w := randomWorld(t, random, 14, 22)
		g := w.build(nil)
		if g.Len() < 2 {
			continue
		}
		from, to := graph.ID(random.IntN(g.Len())), graph.ID(random.IntN(g.Len()))
		far := distances(g, from)
		steps, ok := g.Path(from, to, graph.StackOptions{})
		if d, reached := far[to]; ok != reached || ok && len(steps) != d {
			t.Fatalf("seed %d: %v %q, want %d steps in\n%s", seed, ok, way(g, from, steps), d, dump(g))
		}
		at := from
		for _, s := range steps {
			a, b := s.Edge.From, s.Edge.To
			if s.Against {
				a, b = b, a
			}
			if a != at || !slices.Contains(slices.Collect(g.Out(s.Edge.From)), s.Edge) {
				t.Fatalf("seed %d: broken: %q", seed, way(g, from, steps))
			}
			at = b
		}
		reverse, _ := g.Path(to, from, graph.StackOptions{})
		slices.Reverse(reverse)
		for i := range reverse {
			reverse[i].Against = !reverse[i].Against
		}
		if !slices.Equal(reverse, steps) {
			t.Fatalf("seed %d: %q, and backwards %q", seed, way(g, from, steps), way(g, from, reverse))
		}
		if cost, best := price(steps), cheapest(g, from, to, far); cost != best {
			t.Fatalf("seed %d: %q costs %v, and another way %v", seed, way(g, from, steps), cost, best)
		}
		again, _ := w.build(random).Path(from, to, graph.StackOptions{})
		if !slices.Equal(again, steps) {
			t.Fatalf("seed %d: %q and %q", seed, way(g, from, steps), way(g, from, again))
		}
	}
}

// price is the order among paths of equal length: inferred edges, edges other than owns, and
// serves.
func price(steps []graph.Step) (counts [3]int) {
	for _, s := range steps {
		if s.Edge.Inferred {
			counts[0]++
		}
		if s.Edge.Relation != relation.Owns {
			counts[1]++
		}
		if s.Edge.Relation == relation.Serves {
			counts[2]++
		}
	}
	return counts
}

// cheapest tries every path of the least length, from its end.
func cheapest(g *graph.Graph, from, to graph.ID, far map[graph.ID]int) [3]int {
	var best *[3]int
	var walk func(at graph.ID, steps []graph.Step)
	walk = func(at graph.ID, steps []graph.Step) {
		if at == from {
			if p := price(steps); best == nil || slices.Compare(p[:], best[:]) < 0 {
				best = &p
			}
			return
		}
		step := func(next graph.ID, e graph.Edge) {
			d, reached := far[next]
			n := g.Node(next)
			if reached && d == far[at]-1 && (next == from || !n.Boundary && (n.State != graph.Missing || awaited(g, next))) {
				walk(next, append(slices.Clone(steps), graph.Step{Edge: e}))
			}
		}
		for e := range g.Out(at) {
			step(e.To, e)
		}
		for e := range g.In(at) {
			step(e.From, e)
		}
	}
	if _, reached := far[to]; reached {
		walk(to, nil)
	}
	if best == nil {
		return [3]int{}
	}
	return *best
}

// awaited reports whether an existing object owns the node.
func awaited(g *graph.Graph, id graph.ID) bool {
	return slices.ContainsFunc(g.OwnersOf(id), func(owner graph.ID) bool { return g.State(owner) == graph.Present })
}

func distances(g *graph.Graph, from graph.ID) map[graph.ID]int {
	far := map[graph.ID]int{from: 0}
	for todo := []graph.ID{from}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if n := g.Node(at); at != from && (n.Boundary || n.State == graph.Missing && !awaited(g, at)) {
			continue
		}
		reach := func(to graph.ID) {
			if _, ok := far[to]; !ok {
				far[to] = far[at] + 1
				todo = append(todo, to)
			}
		}
		for e := range g.Out(at) {
			reach(e.To)
		}
		for e := range g.In(at) {
			reach(e.From)
		}
	}
	return far
}
