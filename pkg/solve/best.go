package solve

import (
	"context"
	"errors"
	"slices"
)

// best narrows the rules down to the one best answer, a goal after the other: the wanted
// packages in their newest versions, in the order of wants; the fewest installed packages
// changed; the fewest packages besides; then these in their newest versions, by name. Of
// equals, what comes first by name is left alone, or taken. There must be one.
func (r *rules) best(ctx context.Context) error {
	r.keep()
	for _, l := range r.all() {
		r.add(l)
	}
	for _, n := range r.wants {
		if n.pack != nil && !n.Optional {
			if err := r.newest(ctx, n.pack); err != nil {
				return err
			}
		}
	}
	var same, unused, used []literal
	for _, p := range r.packs {
		switch {
		case p.there != nil:
			same = append(same, yes(p.there.x))
		case !p.wanted:
			unused, used = append(unused, no(p.used)), append(used, yes(p.used))
		}
	}
	for _, goal := range [][2][]literal{{same, same}, {unused, used}} {
		if err := r.maximize(ctx, goal[0]); err != nil {
			return err
		}
		for _, l := range goal[1] {
			if err := r.prefer(ctx, l); err != nil {
				return err
			}
		}
	}
	for _, p := range r.packs {
		if err := r.newest(ctx, p); err != nil {
			return err
		}
	}
	ok, _, err := r.solve(ctx, nil)
	if ok {
		r.keep()
	} else if err == nil {
		err = errors.New("what was chosen of the packages does not go together after all")
	}
	return err
}

// all are the reasons as literals.
func (r *rules) all() []literal {
	all := make([]literal, len(r.reasons))
	for i, g := range r.reasons {
		all[i] = g.holds
	}
	return all
}

// newest settles on the newest version of a package that can still be had.
func (r *rules) newest(ctx context.Context, p *pack) error {
	if !r.model[p.used] {
		return nil
	}
	for _, v := range p.versions {
		if err := r.prefer(ctx, yes(v.x)); err != nil {
			return err
		}
		if r.model[v.x] {
			return nil
		}
	}
	return nil
}

// holds says that a literal holds in the last model.
func (r *rules) holds(l literal) bool {
	return l.variable() < len(r.model) && r.model[l.variable()] == l.positive()
}

// prefer settles on a literal where it can still hold, else on its contrary.
func (r *rules) prefer(ctx context.Context, l literal) error {
	r.backtrack(0)
	if r.value[l] != 0 {
		return nil
	}
	if !r.holds(l) {
		ok, _, err := r.solve(ctx, []literal{l})
		if err != nil {
			return err
		}
		if !ok {
			l = l.negated()
		} else {
			r.keep()
		}
	}
	r.add(l)
	return nil
}

// maximize settles on as many of the literals as can hold together. Each set of them that cannot
// costs one at least: the set is given up for a count of how many of it do not hold.
func (r *rules) maximize(ctx context.Context, goals []literal) error {
	goals = slices.Clone(goals)
	goals = slices.DeleteFunc(goals, func(l literal) bool {
		if r.failed(l) {
			r.add(l.negated())
			return true
		}
		return false
	})
	more := map[literal]literal{} // after "fewer than n fail" comes "fewer than n+1 fail"
	for {
		ok, core, err := r.solve(ctx, goals)
		if err != nil {
			return err
		}
		if ok {
			r.keep()
			for _, l := range goals {
				r.add(l)
			}
			return nil
		}
		goals = slices.DeleteFunc(goals, func(l literal) bool { return slices.Contains(core, l) })
		for _, l := range core {
			if next, ok := more[l]; ok {
				goals = append(goals, next)
			}
		}
		failing := make([]literal, len(core))
		for i, l := range core {
			failing[i] = l.negated()
		}
		r.add(failing...)
		if len(failing) < 2 {
			continue
		}
		counts := r.count(failing)
		for i := 1; i+1 < len(counts); i++ {
			more[counts[i].negated()] = counts[i+1].negated()
		}
		goals = append(goals, counts[1].negated())
	}
}

// count returns literals of which the i-th follows where more than i of the given ones hold.
func (r *rules) count(of []literal) []literal {
	if len(of) == 1 {
		return of
	}
	a, b := r.count(of[:len(of)/2]), r.count(of[len(of)/2:])
	sum := make([]literal, len(of))
	for i := range sum {
		sum[i] = yes(r.variable())
	}
	for i, l := range a {
		r.add(l.negated(), sum[i])
		for j, m := range b {
			r.add(l.negated(), m.negated(), sum[i+j+1])
		}
	}
	for j, m := range b {
		r.add(m.negated(), sum[j])
	}
	return sum
}
