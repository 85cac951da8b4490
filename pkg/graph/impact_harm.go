package graph

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// grade is how certain and how soon something breaks, worst first.
type grade uint8

const (
	sureNow grade = iota
	sureOnRestart
	guessedNow
	guessedOnRestart
	grades
)

func gradeOf(e Effect, guess bool) grade {
	at := sureNow
	if e == BreaksOnRestart {
		at = sureOnRestart
	}
	if guess {
		at += guessedNow
	}
	return at
}

func (a grade) effect() Effect {
	if a == sureOnRestart || a == guessedOnRestart {
		return BreaksOnRestart
	}
	return Breaks
}

func (a grade) guess() bool { return a >= guessedNow }

// weakened returns the grade after an edge: what breaks by something of this grade.
func (a grade) weakened(guess bool) grade {
	if guess && !a.guess() {
		return a + guessedNow
	}
	return a
}

// harm propagates the effects of a deletion. It proceeds grade by grade, so that each object breaks
// in the most certain and soonest way.
type harm struct {
	g    *Graph
	opts StackOptions
	gone map[ID]bool

	direct, through []Dependent
	found           map[ID]*Dependent // of direct, by object
	grade           map[ID]grade      // of what is broken
	fronts          map[ID]bool       // whether the objects that a node serves are needed by others; a cache
	waiting         [grades][]Dependent
	fewer           map[ID]Dependent    // those with fewer pods than before
	misowned        map[object.Ref]bool // objects with a wrong owner reference
}

// run propagates the effects of the deleted objects, in their order.
func (h *harm) run(gone []ID) {
	h.fewer, h.misowned = map[ID]Dependent{}, h.g.misowned()
	for _, at := range gone {
		h.losers(at)
	}
	h.makers(gone)
	h.climb(slices.DeleteFunc(slices.Clone(gone), func(id ID) bool { return !isWorkload(h.g.Ref(id)) }), sureNow)
	for at := range grades {
		h.spread(at)
	}
	for _, d := range h.found {
		at, broken := h.grade[d.ID]
		if !broken || d.Effect.Broken() && gradeOf(d.Effect, d.Inferred) <= at {
			h.direct = append(h.direct, *d)
		}
	}
	h.fold()
	for _, id := range slices.Sorted(maps.Keys(h.fewer)) {
		if _, broken := h.grade[id]; !broken {
			h.through = append(h.through, h.fewer[id])
		}
	}
	slices.SortFunc(h.direct, compareDependents)
	// Stable, so that dependents of equal rank stay in the order of propagation.
	slices.SortStableFunc(h.through, func(a, b Dependent) int { return a.rank() - b.rank() })
}

func compareDependents(a, b Dependent) int {
	return cmp.Or(a.rank()-b.rank(), cmp.Compare(a.ID, b.ID))
}

// rank orders dependents, worst first: what certainly breaks, what may break, the rest.
func (d *Dependent) rank() int {
	if d.Effect.Broken() {
		return int(gradeOf(d.Effect, d.Inferred))
	}
	rank := int(grades) + 2*int(d.Effect)
	if d.Inferred {
		rank++
	}
	return rank
}

// mark records that something is broken, and reports whether that is new.
func (h *harm) mark(id ID, at grade) bool {
	if have, broken := h.grade[id]; h.gone[id] || broken && have <= at {
		return false
	}
	h.grade[id] = at
	return true
}

// spread propagates a grade completely: to what needs a broken object, then to its owners and to
// what serves it.
func (h *harm) spread(at grade) {
	for _, d := range h.waiting[at] {
		if h.mark(d.ID, at) {
			h.through = append(h.through, d)
		}
	}
	var fresh []ID
	for id, grade := range h.grade {
		if grade == at {
			fresh = append(fresh, id)
		}
	}
	slices.Sort(fresh)
	for len(fresh) > 0 {
		for next := 0; next < len(fresh); next++ {
			fresh = append(fresh, h.needing(fresh[next], at)...)
		}
		fresh = h.climb(fresh, at)
	}
}

// pass records an effect, and reports whether to follow it now: a later grade is followed in its
// turn.
func (h *harm) pass(d Dependent, at, to grade) bool {
	d.Effect, d.Inferred = to.effect(), to.guess()
	if have, broken := h.grade[d.ID]; h.gone[d.ID] || broken && have <= to {
		return false
	}
	if to != at {
		h.waiting[to] = append(h.waiting[to], d)
		return false
	}
	h.grade[d.ID] = to
	h.through = append(h.through, d)
	return true
}

// needing returns what breaks because it needs a broken object.
func (h *harm) needing(id ID, at grade) []ID {
	g := h.g
	var out []ID
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		e := &g.edges[i]
		if g.relation(e) != relation.Needs || g.rules[e.rule].Terminal || e.flags&optional != 0 || !h.counts(e) {
			continue
		}
		c := g.consequence(e)
		if c.severity != Error || c.when == whenMade || e.flags&bySelector != 0 && h.another(e) {
			continue
		}
		guess := e.flags&(inferred|backward|bySelector|ifPresent) != 0
		if h.pass(Dependent{ID: e.from, Cause: id, Edge: g.edge(*e), Follows: c.follows}, at, at.weakened(guess)) {
			out = append(out, e.from)
		}
	}
	return out
}

// climb returns the owners of broken or deleted objects, and what fronts them if it is needed. An
// owner that has pods left only has fewer.
func (h *harm) climb(ids []ID, at grade) []ID {
	reached := map[ID]Dependent{}
	for _, id := range ids {
		h.eachAbove(id, func(e *edge) {
			if _, met := reached[e.from]; met {
				return
			}
			d := Dependent{ID: e.from, Cause: id, Edge: h.g.edge(*e), Follows: "what it owns does not work"}
			switch {
			case d.Edge.Relation == relation.Serves:
				d.Follows = "nothing behind it answers"
			case h.gone[id]:
				d.Follows = "until what it owns is recreated"
			}
			reached[e.from] = d
		})
	}
	var out []ID
	for _, id := range slices.Sorted(maps.Keys(reached)) {
		d := reached[id]
		if h.podsLeft(d, at) {
			continue
		}
		if h.pass(d, at, at.weakened(d.Edge.Inferred)) {
			out = append(out, id)
		}
	}
	return out
}

// makers records the remaining owners of deleted objects, which may recreate them.
func (h *harm) makers(gone []ID) {
	for _, id := range gone {
		r := h.g.Ref(id)
		if isWorkload(r) {
			continue
		}
		h.eachAbove(id, func(e *edge) {
			owner := h.g.Ref(e.from)
			if h.g.relation(e) != relation.Owns || h.found[e.from] != nil || remakes(owner.Kind, owner.Group, r.Kind) {
				return
			}
			h.found[e.from] = &Dependent{
				ID: e.from, Effect: Degrades, Inferred: true, Cause: id, Edge: h.g.edge(*e), Follows: "it created it, and may recreate it",
			}
		})
	}
}

// eachAbove visits the edges by which an object is owned, or fronted by something that is needed.
func (h *harm) eachAbove(id ID, visit func(*edge)) {
	g := h.g
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		e := &g.edges[i]
		if !h.opts.follows(g, e) || g.manages(e) || IsBoundary(g.Ref(e.from)) || g.State(e.from) != Present || h.gone[e.from] {
			continue
		}
		if r := g.relation(e); r == relation.Owns || r == relation.Serves && h.needed(e.from) {
			visit(e)
		}
	}
}

// podsLeft reports whether the deleted or broken object is one of several pods, and records the
// owner that has fewer.
func (h *harm) podsLeft(d Dependent, at grade) bool {
	g := h.g
	if g.Ref(d.Cause).GroupKind() != podKind {
		return false
	}
	seen := map[ID]bool{}
	for i := g.out[d.ID]; i < g.out[d.ID+1]; i++ {
		e := &g.edges[i]
		if seen[e.to] || g.rules[e.rule].Peer || g.Ref(e.to).GroupKind() != podKind || g.State(e.to) != Present {
			continue
		}
		seen[e.to] = true
		d.Of++
		if have, broken := h.grade[e.to]; !h.gone[e.to] && (!broken || have > at) {
			d.Left++
		}
	}
	if d.Left == 0 {
		return false
	}
	if d.Edge.Relation == relation.Owns { // the workload reports it; its Service has as many endpoints fewer
		d.Effect, d.Inferred = LosesReplica, at.guess()
		top := diagnosis{g: g, wrong: h.misowned}
		d.ID = top.topmost(d.ID, func(id ID) bool { return isWorkload(g.Ref(id)) && !h.gone[id] })
		if have, met := h.fewer[d.ID]; !met || d.rank() <= have.rank() {
			h.fewer[d.ID] = d
		}
	}
	return true
}

// fold moves an affected ReplicaSet and its pods below the workload that controls them, if the
// effect on that is at least as bad.
func (h *harm) fold() {
	at := map[ID]int{}
	for i := range h.through {
		at[h.through[i].ID] = i
	}
	d := diagnosis{g: h.g, wrong: h.misowned}
	folded := map[ID]bool{}
	for i := range h.through {
		it := &h.through[i]
		top := d.topmost(it.ID, func(id ID) bool {
			j, in := at[id]
			return in && isWorkload(h.g.Ref(id)) && h.through[j].rank() <= it.rank()
		})
		if top != it.ID {
			folded[it.ID] = true
			h.through[at[top]].Below = append(h.through[at[top]].Below, it.ID)
		}
	}
	h.through = slices.DeleteFunc(h.through, func(d Dependent) bool { return folded[d.ID] })
	for i := range h.through {
		slices.Sort(h.through[i].Below)
	}
}

func (h *harm) needed(id ID) bool {
	needed, known := h.fronts[id]
	if !known {
		needed = h.g.needed(id, h.opts)
		h.fronts[id] = needed
	}
	return needed
}
