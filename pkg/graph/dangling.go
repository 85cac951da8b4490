package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// dangling finds references to objects that are known to be missing. If a Deployment, its
// ReplicaSets and their pods all have the reference, it reports the Deployment once.
func (d *diagnosis) dangling() {
	byTarget := map[ID][]*edge{}
	for _, id := range d.s.members {
		if d.g.State(id) != Present || d.s.Boundary(id) {
			continue
		}
		for i := d.g.out[id]; i < d.g.out[id+1]; i++ {
			if e := &d.g.edges[i]; d.g.State(e.to) == Missing && d.g.isProblemIfMissing(e) {
				byTarget[e.to] = append(byTarget[e.to], e)
			}
		}
	}
	for _, to := range slices.Sorted(maps.Keys(byTarget)) {
		d.checkMissing(byTarget[to])
	}
}

// isProblemIfMissing reports whether a missing target of an edge is a problem. It is not if the
// target itself declares the edge, if the edge is inferred, or if the object is inactive.
func (g *Graph) isProblemIfMissing(e *edge) bool {
	r := &g.rules[e.rule]
	if e.flags&(inferred|backward|dormant) != 0 || r.Peer || givenToAll(g.Ref(e.to)) {
		return false
	}
	if g.consequence(e).severity == 0 {
		return false
	}
	return !g.ownedBack(e) // that is reported as an absent owner
}

// ownedBack reports whether the source of an edge has an owner reference to the target.
func (g *Graph) ownedBack(e *edge) bool {
	for reverse := range g.between(e.to, e.from) {
		if g.relation(reverse) == relation.Owns && reverse.flags&backward != 0 {
			return true
		}
	}
	return false
}

// givenToAll reports whether the control plane creates and recreates the object in every namespace
// or cluster: a dump without it is a selection.
func givenToAll(r object.Ref) bool {
	return r.Group == "" && (r.Kind == "ServiceAccount" || r.Kind == "ConfigMap" || r.Kind == "Service") && IsBoundary(r)
}

// checkMissing reports the references to one missing object: the most severe one of each object,
// and of each chain of controllers the topmost object.
func (d *diagnosis) checkMissing(edges []*edge) {
	if slices.ContainsFunc(edges, func(e *edge) bool { return d.g.relation(e) == relation.Needs && e.flags&optional == 0 }) {
		// The makers are named in the message of those that need it.
		edges = slices.DeleteFunc(edges, d.g.makes)
	}
	working := d.g.working(edges)
	worst := map[ID]*edge{}
	for _, e := range edges {
		if have := worst[e.from]; have == nil || d.g.lack(e, working) < d.g.lack(have, working) {
			worst[e.from] = e
		}
	}
	reported := map[ID]int{} // by object, the number of objects below with the same reference
	for from, e := range worst {
		top := d.topmost(from, func(id ID) bool { return worst[id] != nil && d.g.lack(worst[id], working) <= d.g.lack(e, working) })
		if reported[top] += 0; top != from {
			reported[top]++
		}
	}
	maker := d.maker(edges[0].to)
	for from, count := range reported {
		d.missing(worst[from], count, d.g.lack(worst[from], working), maker)
	}
}

// lack returns the severity of the missing target of an edge. If only new objects need it, it is a
// warning as long as some exist.
func (g *Graph) lack(e *edge, working map[ID]bool) Severity {
	c := g.consequence(e)
	switch {
	case e.flags&optional != 0:
		return Info
	case c.when == whenMade && working[e.from]:
		return max(c.severity, Warning)
	}
	return c.severity
}

// missing reports a reference to a missing object. maker names who is to make it, if known.
func (d *diagnosis) missing(e *edge, occurrences int, severity Severity, maker string) {
	self, to, field := d.g.Ref(e.from), d.g.Ref(e.to), d.g.inv.Text(e.field)
	p := Problem{Object: self, Reason: ReferenceMissing, Severity: severity, Related: to, Field: field}
	follows := d.g.consequence(e).follows
	problem, out := "which does not exist", "create it, or correct "
	if d.g.kinds.NotServed(to.GroupKind()) {
		problem, out = "of a kind that the cluster does not serve", "install what provides it, or correct "
	}
	if d.g.relation(e) == relation.Owns {
		out = "see the status of the owner, or correct "
	} else if maker != "" {
		out = maker + ", or correct "
	}
	if occurrences > 0 {
		problem += fmt.Sprintf(" (%s in it name it too)", count(occurrences, "object"))
	}
	at := field
	if value := d.g.value(e); value != to.Name && value != "" {
		at += fmt.Sprintf(" = %q", value)
	}
	if e.flags&optional != 0 {
		p.Reason = ReferenceMissingOptional
		p.Message = fmt.Sprintf("would use %s, %s: it works without it, as %s says", near(to, self), problem, at)
	} else {
		p.Message = fmt.Sprintf("%s %s, %s: %s; %s%s", d.g.relation(e), near(to, self), problem, follows, out, at)
	}
	d.problems = append(d.problems, p)
}
