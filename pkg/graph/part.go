package graph

import (
	"iter"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Part is an object that a member of a stack owns or needs, or that makes or serves it.
type Part struct {
	To ID
	// Required is set if the member does not work without the part: it owns it, needs it (and not
	// optionally), is made by it, or routes to it as a Service does to its pods. Not required are
	// an unread maker, since its result may exist; what merely serves the member; and a missing
	// part whose edge is inferred or of little effect.
	Required bool

	g *Graph
	e *edge
}

// Edge returns the evidence; false for the owner of what a Service routes to, which has no edge of
// its own.
func (p Part) Edge() (Edge, bool) {
	if p.e == nil {
		return Edge{}, false
	}
	return p.g.edge(*p.e), true
}

// Terminal reports whether the member only reads the part, as a Prometheus does its monitors.
func (p Part) Terminal() bool { return p.e != nil && p.g.rules[p.e.rule].Terminal }

// Owned reports whether the member owns the part.
func (p Part) Owned() bool { return p.e != nil && p.e.to == p.To && p.g.owns(p.e) }

// Maker reports whether the part makes the member, and is in the stack for that.
func (p Part) Maker() bool { return p.e != nil && p.e.from == p.To && p.g.owns(p.e) }

// Scales reports whether the part sets the size of the member, as an autoscaler does: by the field
// of all that write through the scale subresource (HorizontalPodAutoscaler, KEDA, Knative), or as a
// VerticalPodAutoscaler, whose targetRef policies have as well.
func (p Part) Scales() bool {
	if p.e == nil || p.e.from != p.To || p.g.relation(p.e) != relation.Serves {
		return false
	}
	fields := strings.Split(p.g.inv.Text(p.e.field), ".")
	return slices.Contains(fields, "scaleTargetRef") ||
		slices.Contains(fields, "targetRef") && p.g.Ref(p.To).Group == "autoscaling.k8s.io"
}

// Parts yields the parts of a member, by the edges that stacks follow: what it owns, needs and
// serves, its makers, and what serves it. A part may occur twice. A boundary and a leaf have none;
// a maker has those that it needs.
func (s *Stack) Parts(id ID) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		if s.Boundary(id) || s.marked(id, markLeaf) || s.isForeignPart(id) {
			return
		}
		_ = s.eachBelow(id, yield) && s.behind(id, yield) && s.makers(id, yield) && s.serving(id, yield)
	}
}

// isForeignPart reports whether a node is a part of a root of another stack.
func (s *Stack) isForeignPart(id ID) bool {
	root, separate := s.opts.PartOf[id]
	return separate && !s.isRoot(root)
}

// eachBelow yields what a member owns and needs.
func (s *Stack) eachBelow(id ID, yield func(Part) bool) bool {
	for i := s.g.out[id]; i < s.g.out[id+1]; i++ {
		e := &s.g.edges[i]
		if r := s.g.relation(e); r == relation.Serves || !s.Has(e.to) || !s.opts.follows(s.g, e) {
			continue
		}
		if (s.g.manages(e) || s.g.collects(e)) && !s.marked(id, markManaging) && !s.isRoot(id) || s.marked(id, markProvenance) && !s.rests(e) {
			continue
		}
		if !yield(Part{To: e.to, Required: s.g.isRequired(e), g: s.g, e: e}) {
			return false
		}
	}
	return true
}

// isRequired reports whether the source of an edge works only with the target.
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

// behind yields what a member serves, and the topmost owners of that.
func (s *Stack) behind(id ID, yield func(Part) bool) bool {
	if !s.marked(id, markStands) {
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

// rests reports whether makers are followed along an edge.
func (s *Stack) rests(e *edge) bool {
	return s.g.relation(e) == relation.Needs && !s.g.rules[e.rule].Terminal
}

// makers yields the makers of a member.
func (s *Stack) makers(id ID, yield func(Part) bool) bool {
	for _, i := range s.g.into[s.g.in[id]:s.g.in[id+1]] {
		e := &s.g.edges[i]
		if s.madeBy(e) && !yield(Part{To: e.from, Required: s.g.State(e.from) == Present, g: s.g, e: e}) {
			return false
		}
	}
	return true
}

// serving yields what serves a member.
func (s *Stack) serving(id ID, yield func(Part) bool) bool {
	if s.marked(id, markProvenance) {
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

// IsMissingDependency reports whether an existing object does not work without a node; for a
// missing node, whether that has an effect.
func (g *Graph) IsMissingDependency(id ID) bool {
	for _, i := range g.into[g.in[id]:g.in[id+1]] {
		if e := &g.edges[i]; g.State(e.from) == Present && g.relation(e) != relation.Serves && g.isRequired(e) {
			return true
		}
	}
	return false
}
