package graph

import (
	"iter"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Part is something that a member of a stack has, rests on, or is made or served by.
type Part struct {
	To ID
	// Required says that the member does not do its work without it: it owns it, needs it
	// and was not told to do without, is made by it, or leads to it as a Service does to its
	// pods. A maker that could not be read does not count: what it makes may well be there. What
	// merely serves the member does not count; nor does what is missing and was only
	// guessed, or is no more than a blemish if it is missing.
	Required bool

	g *Graph
	e *edge
}

// Edge returns the evidence; false for the owner of what a Service leads to, to which
// no edge of its own goes.
func (p Part) Edge() (Edge, bool) {
	if p.e == nil {
		return Edge{}, false
	}
	return p.g.edge(*p.e), true
}

// Terminal says that the member only looks at the part, as a Prometheus does at its monitors.
func (p Part) Terminal() bool { return p.e != nil && p.g.rules[p.e.rule].Terminal }

// Owned says that the member owns the part.
func (p Part) Owned() bool { return p.e != nil && p.e.to == p.To && p.g.owns(p.e) }

// Maker says that the part makes the member, and is in the stack for that.
func (p Part) Maker() bool { return p.e != nil && p.e.from == p.To && p.g.owns(p.e) }

// Scales says that the part sets the size of the member, as an autoscaler does: by the field
// of all that write through the scale subresource (HorizontalPodAutoscaler, KEDA, Knative), or
// as a VerticalPodAutoscaler, whose targetRef policies have as well.
func (p Part) Scales() bool {
	if p.e == nil || p.e.from != p.To || p.g.relation(p.e) != relation.Serves {
		return false
	}
	fields := strings.Split(p.g.inv.Text(p.e.field), ".")
	return slices.Contains(fields, "scaleTargetRef") ||
		slices.Contains(fields, "targetRef") && p.g.Ref(p.To).Group == "autoscaling.k8s.io"
}

// Parts yields the members of the stack that a member leads to, by the edges by which
// stacks are followed: what it owns and needs, what it stands for, who makes it, and who
// serves it. One that it leads to twice comes twice. Of a boundary, and of what a stack only
// looks at, there are none; of a maker those that it needs.
func (s *Stack) Parts(id ID) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		if s.Boundary(id) || s.leaves[id] || s.isForeignPart(id) {
			return
		}
		_ = s.eachBelow(id, yield) && s.behind(id, yield) && s.makers(id, yield) && s.serving(id, yield)
	}
}

// isForeignPart says whether a node is a part of the stack of a root that is not one of these.
func (s *Stack) isForeignPart(id ID) bool {
	root, apart := s.opts.PartOf[id]
	return apart && !s.isRoot(root)
}

// eachBelow yields what a member owns and needs.
func (s *Stack) eachBelow(id ID, yield func(Part) bool) bool {
	for i := s.g.out[id]; i < s.g.out[id+1]; i++ {
		e := &s.g.edges[i]
		if r := s.g.relation(e); r == relation.Serves || !s.Has(e.to) || !s.opts.follows(s.g, e) {
			continue
		}
		if (s.g.manages(e) || s.g.collects(e)) && !s.managing[id] && !s.isRoot(id) || s.provenance[id] && !s.rests(e) {
			continue
		}
		if !yield(Part{To: e.to, Required: s.g.isRequired(e), g: s.g, e: e}) {
			return false
		}
	}
	return true
}

// isRequired says whether the source of an edge does its work only with the target.
func (g *Graph) isRequired(e *edge) bool {
	switch {
	case g.collects(e), e.flags&(optional|dormant) != 0:
		return false
	case g.State(e.to) == Missing:
		return g.isProblemIfMissing(e) && g.lack(e, nil) == Error
	case g.relation(e) == relation.Needs:
		return g.consequence(e).severity == Error
	}
	return true
}

// behind yields what a member stands for, and the topmost owners of that.
func (s *Stack) behind(id ID, yield func(Part) bool) bool {
	if !s.stands[id] {
		return true
	}
	for i := s.g.out[id]; i < s.g.out[id+1]; i++ {
		e := &s.g.edges[i]
		if s.g.relation(e) != relation.Serves || !s.Has(e.to) || !s.opts.follows(s.g, e) || s.g.State(e.to) == Missing {
			continue
		}
		counts := e.flags&(optional|inferred) == 0
		if !yield(Part{To: e.to, Required: counts, g: s.g, e: e}) {
			return false
		}
		if path := s.g.OwnerPath(e.to, s.opts); len(path) > 0 && s.Has(path[0]) {
			if !yield(Part{To: path[0], Required: counts, g: s.g}) {
				return false
			}
		}
	}
	return true
}

// rests says whether an edge is one by which makers are followed.
func (s *Stack) rests(e *edge) bool {
	return s.g.relation(e) == relation.Needs && !s.g.rules[e.rule].Terminal
}

// makers yields who makes a member.
func (s *Stack) makers(id ID, yield func(Part) bool) bool {
	for _, i := range s.g.into[s.g.in[id]:s.g.in[id+1]] {
		e := &s.g.edges[i]
		if s.madeBy(e) && !yield(Part{To: e.from, Required: s.g.State(e.from) == Present, g: s.g, e: e}) {
			return false
		}
	}
	return true
}

// serving yields who serves a member.
func (s *Stack) serving(id ID, yield func(Part) bool) bool {
	if s.provenance[id] {
		return true
	}
	for _, i := range s.g.into[s.g.in[id]:s.g.in[id+1]] {
		e := &s.g.edges[i]
		if s.g.relation(e) != relation.Serves || !s.Has(e.from) || !s.opts.follows(s.g, e) {
			continue
		}
		if !yield(Part{To: e.from, g: s.g, e: e}) {
			return false
		}
	}
	return true
}

// IsMissingDependency says whether an object that is there does not do its work without a node: of what
// is missing, whether that matters.
func (g *Graph) IsMissingDependency(id ID) bool {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; g.State(e.from) == Present && g.relation(e) != relation.Serves && g.isRequired(e) {
			return true
		}
	}
	return false
}
