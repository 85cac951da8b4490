package graph

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// StackImpact is what a deletion does to a stack.
type StackImpact struct {
	Stack FoundStack
	// Gone is set if all of its roots are deleted. Otherwise Effect is the worst effect on a
	// member, and Inferred is set if that is inferred; a stack with a deleted part that nothing
	// needs has the effect Bereaved.
	Gone     bool
	Effect   Effect
	Inferred bool
	// Because is the member with that effect.
	Because ID
	// Deleted counts the members that are deleted with the object.
	Deleted int
	// Members are the affected members that are not deleted, worst first: indices into
	// Impact.Dependents.
	Members []int
}

// Dependents returns all affected objects: the direct ones, the indirect ones, the bereft.
func (im *Impact) Dependents() []Dependent { return slices.Concat(im.Direct, im.Indirect, im.Bereft) }

// StacksOf returns the effects of a deletion on stacks, worst first, without the unaffected ones.
// Time grows with the sum of the stacks.
func (im *Impact) StacksOf(g *Graph, stacks []FoundStack, o StackOptions) []StackImpact {
	all := im.Dependents()
	places := map[ID]int{} // by object, its first and so worst dependent
	note := func(id ID, place int) {
		if have, met := places[id]; !met || all[place].rank() < all[have].rank() {
			places[id] = place
		}
	}
	for i := range all {
		note(all[i].ID, i)
		for _, child := range all[i].Below {
			note(child, i)
		}
	}
	gone := map[ID]bool{}
	for _, id := range im.Gone() {
		gone[id] = true
	}
	var out []StackImpact
	for _, f := range stacks {
		l := stackLook{im: im, all: all, places: places, gone: gone, stack: g.Stack(f.Roots, o)}
		if s := l.look(f, o); s.Gone || s.Effect != 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b StackImpact) int {
		return cmp.Or(a.rank()-b.rank(), object.Compare(a.Stack.Ref(g), b.Stack.Ref(g)))
	})
	return out
}

// stackLook finds the effects on the members of a stack.
type stackLook struct {
	im     *Impact
	all    []Dependent
	places map[ID]int // index in dependents, by object
	gone   map[ID]bool
	stack  *Stack
}

func (l *stackLook) look(f FoundStack, o StackOptions) StackImpact {
	s := StackImpact{Stack: f, Gone: !slices.ContainsFunc(f.Roots, func(id ID) bool { return !l.gone[id] })}
	deleted, met := ID(-1), map[int]bool{}
	for _, id := range l.stack.Members() {
		if !l.stack.IsOwnPart(id) && !l.stack.Provenance(id) {
			continue
		}
		if place, hit := l.places[id]; hit && !met[place] {
			met[place] = true
			s.Members = append(s.Members, place)
		}
		if l.gone[id] {
			if id != l.im.Object {
				s.Deleted++
			}
			if deleted < 0 || id == l.im.Object {
				deleted = id
			}
		}
	}
	slices.SortFunc(s.Members, func(a, b int) int { return cmp.Or(l.all[a].rank()-l.all[b].rank(), a-b) })
	if s.Gone || len(s.Members) == 0 && deleted < 0 {
		return s
	}
	l.worst(&s, deleted, o)
	return s
}

// worst sets the worst effect on a member. An effect on an inferred member is inferred as well.
func (l *stackLook) worst(s *StackImpact, deleted ID, o StackOptions) {
	o.NoInferred = true
	sure := l.stack.g.Stack(s.Stack.Roots, o)
	if deleted >= 0 {
		s.Effect, s.Because, s.Inferred = Bereaved, deleted, !sure.IsOwnPart(deleted) && !sure.Provenance(deleted)
		if isWorkload(l.stack.g.Ref(deleted)) && (deleted != l.im.Object || !l.im.RemakerKnown) {
			s.Effect = Breaks
		}
	}
	for _, place := range s.Members {
		d := &l.all[place]
		it := Dependent{Effect: d.Effect, Inferred: d.Inferred || !sure.IsOwnPart(d.ID) && !slices.ContainsFunc(d.Below, sure.IsOwnPart)}
		if l.stack.Provenance(d.ID) && d.Effect.Broken() {
			// What it has made stays, and is not recreated.
			it.Effect, it.Inferred = Degrades, d.Inferred
		}
		if s.Effect == 0 || it.rank() < s.rank() {
			s.Effect, s.Inferred, s.Because = it.Effect, it.Inferred, d.ID
		}
	}
}

func (s *StackImpact) rank() int {
	if s.Gone {
		return -1
	}
	d := Dependent{Effect: s.Effect, Inferred: s.Inferred}
	return d.rank()
}

// Unlooked returns kinds whose objects may refer to a node and were not all read in the namespaces
// where they would be, so that the impact may be incomplete. It lists a kind that only custom rules
// read only if it is served.
func (g *Graph) Unlooked(id ID) []schema.GroupKind {
	target := g.Ref(id)
	var out []schema.GroupKind
	for i := range g.rules {
		r := &g.rules[i]
		if r.Peer || r.Evidence || r.OnDemand || !slices.Contains(r.ToKinds(), target.GroupKind()) {
			continue
		}
		in := target.Namespace
		if r.CrossNamespace {
			in = ""
		}
		for _, gk := range r.From {
			k, served := g.kinds.Kind(gk)
			if !served && (r.Origin != "" || g.kinds.NotServed(gk)) || served && !k.Listable || g.inv.Covered(gk, in) || slices.Contains(out, gk) {
				continue
			}
			out = append(out, gk)
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
