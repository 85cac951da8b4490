package solve

import (
	"cmp"
	"context"
	"slices"
)

// maxReadableReasons is how many reasons somebody may still read. Of more, no shorter list is looked for.
const maxReadableReasons = 20

// minimize leaves out one after the other of reasons what is not needed for that they cannot
// hold together, in two orders: the shorter one is told.
func (r *rules) minimize(ctx context.Context, core []literal) ([]*reason, error) {
	slices.Sort(core)
	r.forget(core)
	forward, err := r.shrink(ctx, slices.Clone(core))
	if err != nil {
		return nil, err
	}
	switch {
	case len(forward) > maxReadableReasons:
		if forward, err = r.settle(ctx, forward); err != nil {
			return nil, err
		}
	case len(forward) > 3:
		slices.Reverse(core)
		backward, err := r.shrink(ctx, core)
		if err != nil {
			return nil, err
		}
		if len(backward) < len(forward) {
			forward = backward
		}
	}
	left := r.those(forward)
	return slices.DeleteFunc(slices.Clone(r.reasons), func(g *reason) bool { return !left[g.holds] }), nil
}

// shrink leaves out what is not needed of a core, from its beginning, until it is clear that
// more is needed than is tellable.
func (r *rules) shrink(ctx context.Context, core []literal) ([]literal, error) {
	rest := make([]literal, 0, len(core))
	for i := 0; i < len(core) && i <= maxReadableReasons; {
		rest = append(append(rest[:0], core[:i]...), core[i+1:]...)
		ok, smaller, err := r.solve(ctx, rest)
		switch {
		case err != nil:
			return nil, err
		case ok:
			i++
		default:
			core = r.among(core, smaller)
		}
	}
	return core, nil
}

// settle does the same for good: what is needed is held from then on, so that it need not be
// thought through again. It begins with what is the furthest from the wants, which excludes
// versions of those nearer to them.
func (r *rules) settle(ctx context.Context, core []literal) ([]literal, error) {
	far := make([]int, len(r.value))
	for _, g := range r.reasons {
		if p := r.byName[g.Package]; p != nil {
			far[g.holds] = p.far
		}
	}
	slices.SortStableFunc(core, func(a, b literal) int { return cmp.Compare(far[a], far[b]) })
	var needed []literal
	for len(core) > 0 {
		last := core[len(core)-1]
		core = core[:len(core)-1]
		ok, smaller, err := r.solve(ctx, core)
		switch {
		case err != nil:
			return nil, err
		case ok:
			needed = append(needed, last)
			r.add(last)
		default:
			core = r.among(core, smaller)
		}
	}
	return needed, nil
}

func (r *rules) among(core, smaller []literal) []literal {
	left := r.those(smaller)
	return slices.DeleteFunc(core, func(l literal) bool { return !left[l] })
}

// those has true for those literals.
func (r *rules) those(literals []literal) []bool {
	those := make([]bool, len(r.value))
	for _, l := range literals {
		those[l] = true
	}
	return those
}

// forget gives up all reasons but those of a core, and what is only theirs, so that looking
// for fewer of these does not go through the clauses of the others.
func (r *rules) forget(core []literal) {
	left, needed := r.those(core), map[*need]bool{}
	for _, g := range r.reasons {
		if left[g.holds] {
			needed[g.need] = true
			continue
		}
		r.add(g.holds.negated())
		for _, l := range g.asks {
			r.add(l)
		}
	}
	for _, n := range r.inOrder {
		if n.met != 0 && !needed[n] {
			r.add(n.met.negated())
		}
	}
	r.tidy()
}
