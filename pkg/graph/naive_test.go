package graph_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

type set map[graph.ID]bool

// naive is the definition of a stack of one root, as a fixed point: it repeats until nothing is
// added.
type naive struct {
	g     *graph.Graph
	edges []graph.Edge
	root  graph.ID
	in    set
	stand set
	// leaves are in the stack and not followed; managing are managers that are roots, and what they
	// manage.
	leaves, managing set
	// making are makers of what is needed, and what they need.
	making set
}

func leaf(e graph.Edge) bool    { return e.Rule == "test-collects" || gathers(e) }
func gathers(e graph.Edge) bool { return e.Rule == "test-gathers" }
func manages(e graph.Edge) bool { return e.Rule == "test-manages" }
func aside(e graph.Edge) bool   { return e.Rule == "test-regards" }
func owns(e graph.Edge) bool    { return e.Relation == relation.Owns && !manages(e) }

func naiveStack(g *graph.Graph, root graph.ID, o graph.StackOptions) set {
	n := naive{g: g, root: root, in: set{root: true}, stand: set{root: true}, leaves: set{}, managing: set{root: true}, making: set{}}
	for node := range g.Nodes() {
		for e := range g.Out(node.ID) {
			if !aside(e) && (!o.NoInferred || !e.Inferred) && (len(o.Relations) == 0 || slices.Contains(o.Relations, e.Relation)) {
				n.edges = append(n.edges, e)
			}
		}
	}
	step := n.closure
	if o.Connected {
		step = n.connected
	}
	if o.Up {
		step = n.up
	}
	count := func() int { return len(n.in) + len(n.stand) + len(n.leaves) + len(n.managing) + len(n.making) }
	for size := -1; size != count(); {
		size = count()
		for _, e := range n.edges {
			step(e)
		}
	}
	maps.Copy(n.in, n.leaves)
	maps.Copy(n.in, n.making)
	return n.in
}

// makers adds the makers of what is needed, unless they own what needs it.
func (n *naive) makers(need graph.Edge) {
	for _, e := range n.edges {
		if e.To == need.To && n.makes(e) && !n.owned(e.From)[need.From] {
			n.making[e.From] = true
		}
	}
}

// makes reports whether a custom resource owns an object that is neither a custom resource, a
// workload, nor a boundary.
func (n *naive) makes(e graph.Edge) bool {
	from, to := n.g.Node(e.From), n.g.Node(e.To)
	workloads := []string{"Pod", "Deployment", "ReplicaSet", "StatefulSet", "Job"}
	return owns(e) && from.Ref.Group == "test" && to.Ref.Group != "test" && from.State != graph.Missing && !to.Boundary && !slices.Contains(workloads, to.Ref.Kind)
}

// follows reports whether the stack continues at a node.
func (n *naive) follows(id graph.ID) bool {
	return n.in[id] && (id == n.root || !n.g.Node(id).Boundary)
}

func (n *naive) closure(e graph.Edge) {
	switch e.Relation {
	case relation.Owns:
		if n.follows(e.From) && !manages(e) {
			n.in[e.To] = true
		}
		if n.follows(e.From) && manages(e) && n.managing[e.From] {
			n.in[e.To], n.managing[e.To] = true, true
		}
	case relation.Needs:
		isMade := n.making[e.From] && !n.g.Node(e.From).Boundary
		if isMade && !leaf(e) {
			n.making[e.To] = true
		}
		if (isMade || n.follows(e.From)) && !leaf(e) {
			n.makers(e)
		}
		if n.follows(e.From) && leaf(e) {
			if !gathers(e) || n.managing[e.From] {
				n.leaves[e.To] = true
			}
		} else if n.follows(e.From) {
			n.in[e.To], n.stand[e.To] = true, true
		}
	case relation.Serves:
		if n.follows(e.To) {
			n.in[e.From] = true
		}
		if n.follows(e.From) && n.stand[e.From] && n.g.State(e.To) != graph.Missing {
			n.in[e.To], n.stand[e.To] = true, true
			if n.follows(e.To) {
				maps.Copy(n.in, n.tops(e.To, set{}))
			}
		}
	}
}

func (n *naive) connected(e graph.Edge) {
	if n.follows(e.From) || n.follows(e.To) {
		n.in[e.From], n.in[e.To] = true, true
	}
}

func (n *naive) up(e graph.Edge) {
	above, lower := e.From, e.To
	if e.Relation == relation.Serves {
		above, lower = lower, above
	}
	if n.follows(lower) {
		n.in[above] = true
	}
	if n.makes(e) && n.follows(e.From) && n.needed(e.To, n.owned(e.From)) {
		n.in[e.To] = true
	}
	if e.Relation != relation.Serves {
		return
	}
	if n.follows(e.To) && n.needed(e.From, nil) {
		n.in[e.From] = true
	}
	owned := n.owned(n.root)
	if owned[e.To] && n.needed(e.From, owned) {
		n.in[e.From] = true
		for id := range owned {
			if n.owned(id)[e.To] {
				n.in[id] = true
			}
		}
	}
}

// owned returns a node and all that it owns.
func (n *naive) owned(id graph.ID) set {
	found := set{id: true}
	for size := 0; size != len(found); {
		size = len(found)
		for _, e := range n.edges {
			if owns(e) && found[e.From] {
				found[e.To] = true
			}
		}
	}
	return found
}

func (n *naive) needed(id graph.ID, except set) bool {
	return slices.ContainsFunc(n.edges, func(e graph.Edge) bool {
		return e.Relation == relation.Needs && !leaf(e) && e.To == id && !except[e.From]
	})
}

// tops returns the topmost owners of a node, or the node itself.
func (n *naive) tops(id graph.ID, seen set) set {
	found, last := set{}, true
	if seen[id] {
		return found
	}
	seen[id] = true
	for _, e := range n.edges {
		if e.To == id && owns(e) && !n.g.Node(e.From).Boundary && n.g.State(e.From) != graph.Missing {
			last = false
			maps.Copy(found, n.tops(e.From, seen))
		}
	}
	if last {
		found[id] = true
	}
	return found
}

func TestStackIsTheFixedPoint(t *testing.T) {
	options := []graph.StackOptions{
		{},
		{NoInferred: true},
		{Connected: true},
		{Up: true},
		{Relations: []relation.Relation{relation.Owns, relation.Serves}},
		{Relations: []relation.Relation{relation.Needs}, Connected: true},
	}
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 2))
		g := randomWorld(t, random, 5+random.IntN(12), 5+random.IntN(40)).build(nil)
		checkStack(t, seed, random, g, options[seed%uint64(len(options))])
	}
}

// Most edges of a random world are cyclic. In this one the owners own mostly Secrets, which others
// need.
func TestMakersAreOfTheFixedPoint(t *testing.T) {
	options := []graph.StackOptions{{}, {NoInferred: true}, {Up: true}}
	provenance := 0
	for seed := range uint64(900) {
		random := rand.New(rand.NewPCG(seed, 4))
		s := checkStack(t, seed, random, randomMakers(t, random).build(nil), options[seed%uint64(len(options))])
		for _, id := range s.Members() {
			if s.Provenance(id) {
				provenance++
			}
		}
	}
	if provenance < 500 {
		t.Errorf("only %d makers in all", provenance)
	}
}

func randomMakers(t testing.TB, random *rand.Rand) *world {
	w := newWorld(t, "")
	pick := func(kinds ...string) string {
		return kinds[random.IntN(len(kinds))] + string(rune('a'+random.IntN(5)))
	}
	for range 8 + random.IntN(12) {
		w.edge(pick("apps:", "", ""), []string{"needs", "needs?", "collects"}[random.IntN(3)], pick("sec:", "sec:", ""))
		w.edge(pick(""), []string{"owns", "made"}[random.IntN(2)], pick("sec:", "sec:", "sec:", "apps:"))
	}
	for _, name := range []string{"apps:a", "sec:b"} {
		w.gone[refOf(name)] = random.IntN(3) == 0
	}
	return w
}

// checkStack compares the stack of random roots with the definition.
func checkStack(t *testing.T, seed uint64, random *rand.Rand, g *graph.Graph, o graph.StackOptions) *graph.Stack {
	t.Helper()
	var roots []graph.ID
	want := map[graph.ID]int{}
	for range 1 + random.IntN(4) {
		if g.Len() == 0 {
			break
		}
		root := graph.ID(random.IntN(g.Len()))
		if slices.Contains(roots, root) {
			continue
		}
		roots = append(roots, root)
		for id := range naiveStack(g, root, o) {
			want[id]++
		}
	}
	s := g.Stack(roots, o)
	if got := slices.Sorted(maps.Keys(want)); !slices.Equal(got, s.Members()) {
		t.Fatalf("seed %d, options %+v, roots %q: members %q, want %q of\n%s", seed, o, names(g, roots), names(g, s.Members()), names(g, got), dump(g))
	}
	for id, n := range want {
		if s.Shared(id) != (n > 1) {
			t.Fatalf("seed %d, options %+v, roots %q: %s is in %d stacks", seed, o, names(g, roots), nameOf(g.Ref(id)), n)
		}
	}
	checkForest(t, seed, s)
	return s
}

// checkForest checks the contract of Forest.
func checkForest(t *testing.T, seed uint64, s *graph.Stack) {
	t.Helper()
	g := s.Graph()
	placed := set{}
	var walk func(above, b *graph.Branch)
	walk = func(above, b *graph.Branch) {
		if !s.Has(b.ID) {
			t.Errorf("seed %d: %s is no member", seed, nameOf(g.Ref(b.ID)))
		}
		switch {
		case b.Repeated:
			if len(b.Children) > 0 || len(s.Roots()) < 2 || b.How != graph.Needed && b.How != graph.MadeBy {
				t.Errorf("seed %d: %s again, with %d children, %s", seed, nameOf(g.Ref(b.ID)), len(b.Children), b.How)
			}
		case placed[b.ID]:
			t.Errorf("seed %d: %s twice", seed, nameOf(g.Ref(b.ID)))
		default:
			placed[b.ID] = true
		}
		zero := b.Edge == graph.Edge{}
		if !zero && (above == nil || (b.Edge.From != b.ID || b.Edge.To != above.ID) && (b.Edge.To != b.ID || b.Edge.From != above.ID)) {
			t.Errorf("seed %d: %s hangs by %s", seed, nameOf(g.Ref(b.ID)), edgeText(g, b.Edge))
		}
		if (above == nil) != (b.How == graph.Root) || zero && b.How != graph.Root && b.How != graph.ServedBelow {
			t.Errorf("seed %d: %s is there as %q", seed, nameOf(g.Ref(b.ID)), b.How)
		}
		for _, child := range b.Children {
			walk(b, child)
		}
	}
	trees := s.Forest()
	for _, b := range trees {
		walk(nil, b)
	}
	if len(trees) != len(s.Roots()) || len(placed) != len(s.Members()) {
		t.Errorf("seed %d: %d trees of %d roots, %d nodes of %d members in\n%s", seed, len(trees), len(s.Roots()), len(placed), len(s.Members()), dump(g))
	}
}

func TestCyclesAreMutualReach(t *testing.T) {
	keep := func(e graph.Edge) bool { return e.Relation != relation.Serves }
	found := 0
	for seed := range uint64(800) {
		random := rand.New(rand.NewPCG(seed, 3))
		g := randomWorld(t, random, 4+random.IntN(14), 4+random.IntN(30)).build(nil)
		reach := make([]set, g.Len())
		for id := range reach {
			reach[id] = set{}
			for todo := []graph.ID{graph.ID(id)}; len(todo) > 0; todo = todo[1:] {
				for e := range g.Out(todo[0]) {
					if keep(e) && !reach[id][e.To] {
						reach[id][e.To] = true
						todo = append(todo, e.To)
					}
				}
			}
		}
		var want [][]graph.ID
		seen := set{}
		for a := range graph.ID(g.Len()) {
			if seen[a] || !reach[a][a] {
				continue
			}
			var c []graph.ID
			for b := range graph.ID(g.Len()) {
				if reach[a][b] && reach[b][a] {
					c, seen[b] = append(c, b), true
				}
			}
			want = append(want, c)
		}
		found += len(want)
		if got := g.Cycles(keep); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: cycles %v, want %v of\n%s", seed, got, want, dump(g))
		}
	}
	if found < 100 {
		t.Errorf("only %d cycles in all", found)
	}
}
