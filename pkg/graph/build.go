package graph

import (
	"maps"
	"slices"
	"sync"

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

// resolver is the state of Build, which resolves links to edges.
type resolver struct {
	*Builder
	inv   *inventory.Inventory
	index *inventory.Index
	alias map[inventory.ID]inventory.ID

	edges          []rawEdge
	maybe          map[inventory.ID][]optionalTarget
	promises       []promise
	ungranted      map[inventory.ID]bool // rows with references that may need unread grants
	areas          map[inventory.ID][]area
	evidence       []said
	fronts         []said // selectors of objects that serve pods
	emptySelectors []said
	problems       []Problem
}

// optionalTarget is the target of an ifPresent link that nothing has read.
type optionalTarget struct {
	to       inventory.ID
	inferred bool
}

// candidate is an optionalTarget of a node.
type candidate struct {
	ref      object.Ref
	inferred bool
}

// Build resolves the links of the inventory's objects into a graph. It may be called again after
// more objects were added. Time and memory grow with objects and edges.
func (b *Builder) Build(inv *inventory.Inventory) *Graph {
	r := &resolver{Builder: b, inv: inv, index: inv.Index(), alias: aliases(inv, b.rules), maybe: map[inventory.ID][]optionalTarget{}, ungranted: map[inventory.ID]bool{}, areas: map[inventory.ID][]area{}}
	r.edges = make([]rawEdge, 0, len(b.links))
	for id := range inventory.ID(inv.Len()) {
		if !inv.WasRead(id) {
			continue
		}
		for i := range b.linksOf(id) {
			r.resolve(id, &b.linksOf(id)[i])
		}
		settled := b.settled(inv, id)
		for i := range settled {
			r.resolve(id, &settled[i])
		}
		r.controllers(id)
	}
	r.promised()
	r.unguess()
	r.templates()
	g := &Graph{inv: inv, kinds: b.kinds, rules: b.rules.Rules(), uids: b.uids.copy(), finalizers: maps.Clone(b.finalizers), seen: &sync.Pool{}}
	g.evidence, g.emptySelectors = slices.Clone(r.evidence), slices.Clone(r.emptySelectors)
	g.selectors, g.selections = slices.Clip(b.selectors), b.selections.copy()
	g.number, g.rows = r.nodes()
	g.connect(r.edges)
	g.problems = slices.Concat(r.problems, g.ownerCycles())
	slices.SortFunc(g.problems, compareProblems)
	g.problems = slices.Compact(g.problems)
	g.candidates = r.candidates(g)
	g.ungranted = map[ID]bool{}
	for from := range r.ungranted {
		g.ungranted[g.number[from]] = true
	}
	g.areas = make(map[ID][]area, len(r.areas))
	for from, areas := range r.areas {
		if n := g.number[from]; n >= 0 {
			g.areas[n] = append(g.areas[n], areas...)
		}
	}
	return g
}

// aliases maps the rows of an object that several groups serve to one of them: the group that a
// rule reads, else a named group before the core one (events), else the first by name. Different
// objects with the same UID differ in name.
func aliases(inv *inventory.Inventory, rules *relation.Set) map[inventory.ID]inventory.ID {
	better := func(a, b object.Ref) bool {
		if x, y := rules.Reads(a.GroupKind()), rules.Reads(b.GroupKind()); x != y {
			return x
		}
		if (a.Group == "") != (b.Group == "") {
			return b.Group == ""
		}
		return object.Compare(a, b) < 0
	}
	// served is an object without the group that serves it.
	type served struct {
		uid inventory.UID
		ref object.Ref
	}
	identity := func(id inventory.ID) served {
		s := served{inv.RawUID(id), inv.Ref(id)}
		s.ref.Group = ""
		return s
	}
	best := map[served]inventory.ID{}
	for _, twin := range inv.Twins() {
		for _, id := range twin {
			if have, ok := best[identity(id)]; !ok || better(inv.Ref(id), inv.Ref(have)) {
				best[identity(id)] = id
			}
		}
	}
	alias := map[inventory.ID]inventory.ID{}
	for _, twin := range inv.Twins() {
		for _, id := range twin {
			if to := best[identity(id)]; to != id {
				alias[id] = to
			}
		}
	}
	return alias
}

func (r *resolver) canonical(id inventory.ID) inventory.ID {
	if to, ok := r.alias[id]; ok {
		return to
	}
	return id
}

func (r *resolver) resolve(from inventory.ID, l *link) {
	if r.rules.Rules()[l.rule].Evidence {
		r.evidence = append(r.evidence, said{from, *l})
		return
	}
	if l.flags&bySelector != 0 {
		r.selected(from, l)
		return
	}
	to := inventory.ID(l.target)
	if l.flags&ifPresent != 0 && !r.inv.WasRead(to) {
		r.promise(from, to, l)
		// Peers do not extend a stack, so they are not worth a request.
		if !r.inv.Missing(to) && !r.rules.Rules()[l.rule].Peer {
			r.maybe[from] = append(r.maybe[from], optionalTarget{to, l.flags&inferred != 0})
		}
		return
	}
	switch {
	case l.flags&byUID != 0:
		r.owned(from, l)
	case l.flags&granted != 0:
		r.granted(from, to, l)
	default:
		r.add(from, to, l)
	}
}

// granted resolves a reference into another namespace that counts only with a ReferenceGrant there.
// If the grants could not be read, the edge is inferred.
func (r *resolver) granted(from, to inventory.ID, l *link) {
	referrer, target := r.inv.Ref(from), r.inv.Ref(to)
	allowed := func(key string) bool {
		return len(r.index.Select(relation.ReferenceGrant, target.Namespace, false, inventory.Query{Key: key})) > 0
	}
	switch {
	case target.Namespace == "" || target.Namespace == referrer.Namespace || slices.ContainsFunc(relation.GrantKeys(referrer, target), allowed):
		r.add(from, to, l)
	case r.inv.Covered(relation.ReferenceGrant, target.Namespace) || r.kinds.NotServed(relation.ReferenceGrant):
		r.problem(referrer, NotGranted, target, l, "refers to %s, which no ReferenceGrant in that namespace allows", target)
	default:
		guess := *l
		guess.flags |= inferred
		r.ungranted[from] = true
		r.add(from, to, &guess)
	}
}

// add adds an edge, in its true direction. It drops edges from a node to itself.
func (r *resolver) add(source, target inventory.ID, l *link) {
	from, to := r.canonical(source), r.canonical(target)
	if from == to {
		return
	}
	if l.flags&backward != 0 {
		from, to = to, from
	}
	r.edges = append(r.edges, rawEdge{from: from, to: to, field: l.field, value: l.value, rule: l.rule, flags: l.flags})
}

// unguess drops inferred needs between an owner and what it owns, in either direction: a field that
// names a child or an owner adds nothing to the owner reference.
func (r *resolver) unguess() {
	type pair struct{ from, to inventory.ID }
	guessed := map[pair]bool{}
	guess := func(e *rawEdge) bool {
		return e.flags&inferred != 0 && r.rules.Rules()[e.rule].Relation == relation.Needs
	}
	for i := range r.edges {
		if e := &r.edges[i]; guess(e) {
			guessed[pair{e.from, e.to}] = false
		}
	}
	if len(guessed) == 0 {
		return
	}
	for i := range r.edges {
		e := &r.edges[i]
		if rule := &r.rules.Rules()[e.rule]; rule.Relation != relation.Owns || rule.Via != relation.Owner {
			continue
		}
		for _, p := range [...]pair{{e.from, e.to}, {e.to, e.from}} {
			if _, ok := guessed[p]; ok {
				guessed[p] = true
			}
		}
	}
	r.edges = slices.DeleteFunc(r.edges, func(e rawEdge) bool { return guess(&e) && guessed[pair{e.from, e.to}] })
}

// nodes numbers the rows that are nodes: those that were read, and those of an edge.
func (r *resolver) nodes() ([]ID, []inventory.ID) {
	named := make([]bool, r.inv.Len())
	for i := range r.edges {
		named[r.edges[i].from], named[r.edges[i].to] = true, true
	}
	rows := r.inv.Sorted(func(id inventory.ID) bool {
		if _, twin := r.alias[id]; twin {
			return false
		}
		return named[id] || r.inv.WasRead(id)
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

// candidates returns, by node, the targets that become edges if they exist, and that nothing has
// read.
func (r *resolver) candidates(g *Graph) map[ID][]candidate {
	out := make(map[ID][]candidate, len(r.maybe))
	for from, targets := range r.maybe {
		if n := g.number[from]; n >= 0 {
			for _, t := range targets {
				out[n] = append(out[n], candidate{r.inv.Ref(t.to), t.inferred})
			}
		}
	}
	return out
}
