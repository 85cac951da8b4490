package graph

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// rawEdge is an edge between rows, before nodes are numbered.
type rawEdge struct {
	from, to inventory.ID
	field    uint32
	value    uint32
	rule     uint16
	flags    linkFlags
}

// resolver holds what Build needs while it turns links into edges.
type resolver struct {
	*Builder
	inv   *inventory.Inventory
	index *inventory.Index
	alias map[inventory.ID]inventory.ID

	edges    []rawEdge
	maybe    map[inventory.ID][]inventory.ID
	problems []Problem
}

// Build resolves the links of the inventory's objects into a graph. It may be
// called again after more has been added. Time and memory grow with objects and
// edges.
func (b *Builder) Build(inv *inventory.Inventory) *Graph {
	r := &resolver{Builder: b, inv: inv, index: inv.Index(), alias: aliases(inv, b.rules), maybe: map[inventory.ID][]inventory.ID{}}
	r.edges = make([]rawEdge, 0, len(b.links))
	for id := range inventory.ID(inv.Len()) {
		if !inv.Present(id) {
			continue
		}
		for i := range b.linksOf(id) {
			r.resolve(id, &b.linksOf(id)[i])
		}
	}
	g := &Graph{inv: inv, kinds: b.kinds, rules: b.rules.Rules(), uidText: b.uidText}
	g.number, g.rows = r.nodes()
	g.connect(r.edges)
	g.problems = append(r.problems, g.ownerCycles()...)
	slices.SortFunc(g.problems, func(a, b Problem) int {
		return cmp.Or(object.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	g.problems = slices.Compact(g.problems)
	g.candidates = r.candidates(g)
	return g
}

// aliases maps the rows of an object that two groups serve to one of them: that
// which a rule reads, else a named group before the core one (events), else the
// first by name. Two objects that merely carry one UID differ in name.
func aliases(inv *inventory.Inventory, rules *relation.Set) map[inventory.ID]inventory.ID {
	alias := map[inventory.ID]inventory.ID{}
	better := func(a, b object.Ref) bool {
		if x, y := rules.Reads(a.GroupKind()), rules.Reads(b.GroupKind()); x != y {
			return x
		}
		if (a.Group == "") != (b.Group == "") {
			return b.Group == ""
		}
		return object.Compare(a, b) < 0
	}
	for _, twin := range inv.Twins() {
		x, y := inv.Ref(twin[0]), inv.Ref(twin[1])
		if x.Kind != y.Kind || x.Namespace != y.Namespace || x.Name != y.Name || !inv.Present(twin[0]) || !inv.Present(twin[1]) {
			continue
		}
		if better(y, x) {
			twin[0], twin[1] = twin[1], twin[0]
		}
		alias[twin[1]] = twin[0]
	}
	return alias
}

func (r *resolver) canonical(id inventory.ID) inventory.ID {
	for range len(r.alias) {
		to, ok := r.alias[id]
		if !ok {
			break
		}
		id = to
	}
	return id
}

func (r *resolver) resolve(from inventory.ID, l *link) {
	switch {
	case l.flags&bySelector != 0:
		r.selected(from, l)
	case l.flags&byUID != 0:
		r.owned(from, l)
	default:
		to := inventory.ID(l.target)
		if l.flags&ifPresent != 0 && !r.inv.Present(to) {
			if !r.inv.Missing(to) {
				r.maybe[from] = append(r.maybe[from], to)
			}
			return
		}
		r.add(from, to, l)
	}
}

func (r *resolver) selected(from inventory.ID, l *link) {
	t := r.selectors[l.target]
	q := inventory.Query{
		Labels: t.Selector.Labels, Expressions: t.Selector.Expressions,
		Annotation: t.Selector.Annotation, Match: t.Selector.Match,
	}
	if t.Selector.Name != nil {
		q.Name = t.Selector.Name.Match
	}
	for _, to := range r.index.Select(t.Kind, t.Namespace, t.AllNamespaces, q) {
		r.add(from, to, l)
	}
}

// add keeps an edge, in its true direction. Nothing relates to itself.
func (r *resolver) add(said, target inventory.ID, l *link) {
	from, to := r.canonical(said), r.canonical(target)
	if from == to {
		return
	}
	if l.flags&backward != 0 {
		from, to = to, from
	}
	r.edges = append(r.edges, rawEdge{from: from, to: to, field: l.field, value: l.value, rule: l.rule, flags: l.flags})
}

// nodes numbers the rows that are nodes: what was read, and what an edge names.
func (r *resolver) nodes() ([]ID, []inventory.ID) {
	named := make([]bool, r.inv.Len())
	for i := range r.edges {
		named[r.edges[i].from], named[r.edges[i].to] = true, true
	}
	rows := r.inv.Sorted(func(id inventory.ID) bool {
		if _, twin := r.alias[id]; twin {
			return false
		}
		return named[id] || r.inv.Present(id)
	})
	number := make([]ID, r.inv.Len())
	for i := range number {
		number[i] = -1
	}
	for n, row := range rows {
		number[row] = ID(n)
	}
	for twin := range r.alias {
		number[twin] = number[r.canonical(twin)]
	}
	return number, rows
}

// candidates are the targets that are edges if they exist, and that nobody has
// looked for.
func (r *resolver) candidates(g *Graph) map[ID][]object.Ref {
	out := make(map[ID][]object.Ref, len(r.maybe))
	for from, targets := range r.maybe {
		if n := g.number[from]; n >= 0 {
			for _, t := range targets {
				out[n] = append(out[n], r.inv.Ref(t))
			}
		}
	}
	return out
}

// connect lays the edges out by source, and an index of them by target. Edges
// of one node are ordered by relation, target, rule and field, so that the order
// of arrival does not show.
func (g *Graph) connect(raw []rawEdge) {
	n := len(g.rows)
	g.out, g.in = make([]uint32, n+1), make([]uint32, n+1)
	for i := range raw {
		g.out[g.number[raw[i].from]+1]++
	}
	for i := range n {
		g.out[i+1] += g.out[i]
	}
	g.edges = make([]edge, len(raw))
	next := slices.Clone(g.out[:n])
	for i := range raw {
		e := &raw[i]
		from := g.number[e.from]
		g.edges[next[from]] = edge{from: from, to: g.number[e.to], field: e.field, value: e.value, rule: e.rule, flags: e.flags}
		next[from]++
	}
	for i := range n {
		slices.SortFunc(g.edges[g.out[i]:g.out[i+1]], g.compareEdges)
	}
	g.compact()
	for i := range g.edges {
		g.in[g.edges[i].to+1]++
	}
	for i := range n {
		g.in[i+1] += g.in[i]
	}
	g.into = make([]uint32, len(g.edges))
	copy(next, g.in[:n])
	for i := range g.edges {
		to := g.edges[i].to
		g.into[next[to]] = uint32(i)
		next[to]++
	}
}

func (g *Graph) compareEdges(a, b edge) int {
	if c := cmp.Or(cmp.Compare(g.relation(&a), g.relation(&b)), cmp.Compare(a.to, b.to), cmp.Compare(a.rule, b.rule)); c != 0 {
		return c
	}
	if a.field == b.field {
		return 0
	}
	return cmp.Compare(g.inv.Text(a.field), g.inv.Text(b.field))
}

// compact drops an edge that says the same as the one before it, as an object
// does that two groups serve.
func (g *Graph) compact() {
	n := len(g.rows)
	kept := uint32(0)
	start := uint32(0)
	for i := range n {
		end := g.out[i+1]
		first := kept
		for j := start; j < end; j++ {
			if j > start && g.compareEdges(g.edges[j], g.edges[j-1]) == 0 {
				continue
			}
			g.edges[kept] = g.edges[j]
			kept++
		}
		start = end
		g.out[i] = first
	}
	g.out[n] = kept
	g.edges = g.edges[:kept]
}
