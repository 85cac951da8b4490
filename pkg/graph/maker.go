package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// promise is an object's claim to own one that is known to be missing. Alone it is no edge: the
// object may not have been created yet, or may be created elsewhere.
type promise struct {
	from, to inventory.ID
	link     *link
}

func (r *resolver) promise(from, to inventory.ID, l *link) {
	if rule := &r.rules.Rules()[l.rule]; rule.Relation == relation.Owns && !rule.Manages && l.flags&backward == 0 && r.inv.Missing(to) {
		r.promises = append(r.promises, promise{from, to, l})
	}
}

// promised makes edges of the promises of missing objects that others need, so that a message can
// name the maker.
func (r *resolver) promised() {
	if len(r.promises) == 0 {
		return
	}
	waiting := map[inventory.ID][]inventory.ID{} // by missing object, two that need it
	for _, p := range r.promises {
		waiting[r.canonical(p.to)] = nil
	}
	for i := range r.edges {
		e := &r.edges[i]
		needer, promised := waiting[e.to]
		if rule := &r.rules.Rules()[e.rule]; promised && rule.Relation == relation.Needs && !rule.Peer && len(needer) < 2 && !slices.Contains(needer, e.from) {
			waiting[e.to] = append(needer, e.from)
		}
	}
	for _, p := range r.promises {
		from := r.canonical(p.from)
		if slices.ContainsFunc(waiting[r.canonical(p.to)], func(needer inventory.ID) bool { return needer != from }) {
			r.add(p.from, p.to, p.link)
		}
	}
}

// Makers returns the makers of an object, in order: the custom resources that own it, by an owner
// reference or by a rule, whether it exists or not. A Certificate makes a Secret, and a
// PostgresCluster the one with its credentials.
//
// A custom resource (it has a status of its own), a workload and a boundary have no maker.
// Workloads, managers (they install what others wrote) and missing owners are not makers; an unread
// owner is.
func (g *Graph) Makers(id ID, o StackOptions) []ID {
	return g.sources(id, func(e *edge) bool { return g.makes(e) && o.follows(g, e) })
}

// makes reports whether the source of an edge is a maker of its target.
func (g *Graph) makes(e *edge) bool {
	if !g.owns(e) || !isCustom(g, e.from) || g.State(e.from) == Missing {
		return false
	}
	to := g.Ref(e.to)
	k, known := g.kinds.Kind(to.GroupKind())
	return known && !k.Custom && !isWorkload(to) && !IsBoundary(to) && !IsBoundary(g.Ref(e.from))
}

// awaited reports whether an existing object owns a missing node and is to make it.
func (g *Graph) awaited(id ID, o StackOptions) bool {
	return slices.ContainsFunc(g.ownersOf(id, o), func(owner ID) bool { return g.State(owner) == Present })
}

// Provenance reports whether a member is in the stack only because it makes what is needed there,
// or because a maker needs it. It counts for the health of the stack, but is no part of it: what
// else it owns, uses or costs belongs to others.
func (s *Stack) Provenance(id ID) bool { return s.marked(id, markProvenance) }

// madeBy reports whether an edge starts at a maker that is provenance of the stack.
func (s *Stack) madeBy(e *edge) bool {
	return s.marked(e.from, markProvenance) && s.g.makes(e) && s.opts.follows(s.g, e)
}

// needs adds what a node needs, in the given way, and the makers of that.
func (w *walker) needs(v visit, e *edge, way uint8) {
	w.add(e.to, v.root, way)
	makers, known := w.made[e.to]
	if !known {
		makers = w.g.Makers(e.to, w.opts)
		w.made[e.to] = makers
	}
	for _, maker := range makers {
		if !w.g.isBelow(v.id, maker, w.opts) {
			w.add(maker, v.root, making)
		}
	}
}

// provenance follows a maker: what it needs, and the makers of that.
func (w *walker) provenance(v visit) {
	for i := w.g.out[v.id]; i < w.g.out[v.id+1]; i++ {
		e := &w.g.edges[i]
		if w.g.relation(e) == relation.Needs && !w.g.rules[e.rule].Terminal && w.opts.follows(w.g, e) {
			w.needs(v, e, making)
		}
	}
}

// isBelow reports whether an owner owns a node, at any depth: what it makes for those is internal
// to it. The search is limited to maxChain.
func (g *Graph) isBelow(id, owner ID, o StackOptions) bool {
	above := []ID{id}
	for next := 0; next < len(above); next++ {
		if above[next] == owner || next == maxChain {
			return true
		}
		for _, x := range g.ownersOf(above[next], o) {
			if len(above) <= maxChain && !slices.Contains(above, x) {
				above = append(above, x)
			}
		}
	}
	return false
}

// madeForOthers returns what a node makes and an object needs that it does not own.
func (w *walker) madeForOthers(id ID) []ID {
	var descendants map[ID]bool
	var out []ID
	for i := w.g.out[id]; i < w.g.out[id+1]; i++ {
		e := &w.g.edges[i]
		if !w.g.makes(e) || !w.opts.follows(w.g, e) {
			continue
		}
		if descendants == nil {
			descendants = w.g.descendants(id, w.opts)
		}
		if w.g.isNeededByOthers(e.to, descendants, w.opts) {
			out = append(out, e.to)
		}
	}
	return out
}

// maker returns text that names the maker of a missing object and what to do; "" if there is none.
func (d *diagnosis) maker(id ID) string {
	makers := d.g.Makers(id, d.s.opts)
	if len(makers) == 0 {
		return ""
	}
	self := d.g.Ref(id)
	names := make([]string, len(makers))
	for i, m := range makers {
		names[i] = near(d.g.Ref(m), self)
	}
	needer := strings.Join(names, " or ") + " creates it"
	lack := d.hindrance(makers)
	if lack == nil {
		return needer + ": see its status"
	}
	subject := "that"
	if !slices.Contains(makers, lack.from) {
		subject = near(d.g.Ref(lack.from), self)
	}
	return fmt.Sprintf("%s, and %s, which %s needs, is missing: create that", needer, near(d.g.Ref(lack.to), self), subject)
}

// hindrance returns what blocks makers: the nearest need for a missing object that has no maker
// itself.
func (d *diagnosis) hindrance(makers []ID) *edge {
	var first *edge
	seen := map[ID]bool{}
	next := slices.Clone(makers)
	for at := 0; at < len(next); at++ {
		id := next[at]
		if seen[id] {
			continue
		}
		seen[id] = true
		for i := d.g.out[id]; i < d.g.out[id+1]; i++ {
			e := &d.g.edges[i]
			if d.g.relation(e) != relation.Needs || e.flags&optional != 0 || !d.s.opts.follows(d.g, e) {
				continue
			}
			creators := d.g.Makers(e.to, d.s.opts)
			if d.g.State(e.to) == Missing && d.g.isProblemIfMissing(e) {
				if len(creators) == 0 {
					return e
				}
				first = cmp.Or(first, e)
			}
			next = append(append(next, e.to), creators...)
		}
	}
	return first
}
