package graph

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// losers finds the objects that depend on a deleted one: each once, by the most severe edge, and of
// a workload, its ReplicaSets and their pods only the topmost.
func (h *harm) losers(at ID) {
	g := h.g
	var edges []*edge
	for _, i := range g.into[g.in[at]:g.in[at+1]] {
		if e := &g.edges[i]; !h.gone[e.from] && h.counts(e) {
			edges = append(edges, e)
		}
	}
	if len(edges) == 0 {
		return
	}
	working := g.working(edges)
	worst := map[ID]*Dependent{}
	for _, e := range edges {
		d, ok := h.loser(e, working)
		if !ok {
			continue
		}
		if have := worst[d.ID]; have == nil || d.rank() < have.rank() {
			worst[d.ID] = &d
		}
	}
	h.gather(worst)
}

// counts reports whether an edge is a need of its source today.
func (h *harm) counts(e *edge) bool {
	g := h.g
	if g.rules[e.rule].Peer || e.flags&dormant != 0 || g.State(e.from) != Present || !h.opts.keeps(g, e) || givenToAll(g.Ref(e.to)) {
		return false
	}
	switch g.relation(e) {
	case relation.Needs:
		return !g.ownedBack(e)
	case relation.Serves:
		return g.consequence(e).severity == Error
	}
	return false
}

// loser returns the effect on the source of an edge if its target is deleted.
func (h *harm) loser(e *edge, working map[ID]bool) (Dependent, bool) {
	g := h.g
	c := g.consequence(e)
	d := Dependent{ID: e.from, Cause: e.to, Edge: g.edge(*e), Follows: c.follows}
	if e.flags&bySelector != 0 && h.another(e) {
		return d, false
	}
	grant := g.Ref(e.to).GroupKind() == relation.ReferenceGrant
	d.Inferred = e.flags&(inferred|backward) != 0 || e.flags&(bySelector|ifPresent) != 0 && !grant && e.flags&settled == 0
	switch {
	case c.severity == 0:
		return d, false
	case e.flags&optional != 0:
		d.Effect, d.Follows = DoesWithout, ""
	case c.when == whenMade && (working[e.from] || c.severity == Info):
		d.Effect, d.Inferred = OnlyNew, e.flags&(inferred|backward) != 0
	case c.severity == Error && c.when == whenRestarted && working[e.from]:
		d.Effect = BreaksOnRestart
	case c.severity == Error:
		d.Effect = Breaks
	case c.severity == Warning:
		d.Effect = Degrades
	default:
		d.Effect = DoesWithout
	}
	if working[e.from] && c.meanwhile != "" && d.Effect != DoesWithout {
		d.Follows = c.meanwhile + "; then " + c.follows
	}
	return d, true
}

// another reports whether the selector of an edge matches another object that stays.
func (h *harm) another(e *edge) bool {
	for i := h.g.out[e.from]; i < h.g.out[e.from+1]; i++ {
		o := &h.g.edges[i]
		if o.rule == e.rule && o.field == e.field && o.to != e.to && !h.gone[o.to] && h.g.State(o.to) == Present {
			return true
		}
	}
	return false
}

// gather reduces the dependents on one object to the topmost, each with those below it.
func (h *harm) gather(worst map[ID]*Dependent) {
	d := diagnosis{g: h.g, wrong: h.misowned}
	tops := map[ID]*Dependent{}
	children := map[ID][]ID{}
	for id, w := range worst {
		if w.Effect.Broken() {
			h.mark(id, gradeOf(w.Effect, w.Inferred))
		}
	}
	for id, w := range worst {
		top := d.topmost(id, func(id ID) bool { return worst[id] != nil && worst[id].class() <= w.class() })
		if tops[top] = worst[top]; top != id {
			children[top] = append(children[top], id)
		}
	}
	for top, w := range tops {
		slices.Sort(children[top])
		for _, id := range children[top] {
			if worst[id].rank() < w.rank() {
				w.Effect, w.Inferred, w.Follows = worst[id].Effect, worst[id].Inferred, worst[id].Follows
			}
		}
		w.Below = children[top]
		if have := h.found[top]; have == nil || w.rank() < have.rank() || w.rank() == have.rank() && w.Cause < have.Cause {
			h.found[top] = w
		}
	}
}

// class groups effects that Diagnose reports as one.
func (d *Dependent) class() int {
	switch {
	case d.Effect.Broken() && !d.Inferred:
		return 0
	case d.Effect.Broken():
		return 1
	}
	return int(d.Effect)
}
