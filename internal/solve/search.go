package solve

import (
	"cmp"
	"context"
	"slices"
)

// maxSteps limits the versions that are tried for a solution, and again for a shorter explanation:
// about a second. Questions of real catalogs take some tens.
const maxSteps = 100_000

// search chooses a version for one unmet constraint after the other, and backtracks if none is
// left: to the last choice that contributed to the conflict.
type search struct {
	*universe
	left     int // steps
	chosen   []*candidate
	causes   []*constraint // why each of chosen is chosen
	level    map[*pack]int // index in chosen
	deferred map[*constraint]bool
}

// levels are choices, by their index in chosen.
type levels map[int]bool

func (l levels) add(indices ...int) levels {
	for _, i := range indices {
		if i >= 0 {
			l[i] = true
		}
	}
	return l
}

// run searches for compatible versions, with the reasons that are not ignored. It marks the reasons
// that it used.
func (s *search) run(ctx context.Context) (bool, error) {
	s.chosen, s.causes, s.level, s.deferred = nil, nil, map[*pack]int{}, map[*constraint]bool{}
	for _, g := range s.reasons {
		g.used = false
	}
	if !s.prune() || ctx.Err() != nil {
		return false, ctx.Err()
	}
	ok, _, err := s.try(ctx)
	return ok, err
}

// prune finds versions that can never be chosen, and reports whether the wants can be met with the
// others.
func (s *search) prune() bool {
	var all []*candidate
	for _, p := range s.packs {
		all = append(all, p.versions...)
	}
	for _, v := range all {
		v.impossible = false
		for _, g := range v.refused {
			if !g.ignored {
				v.impossible, g.used = true, true
			}
		}
	}
	could := func(c *constraint) bool {
		return slices.ContainsFunc(c.targets(), func(p *pack) bool {
			return slices.ContainsFunc(p.versions, func(v *candidate) bool { return !v.impossible && c.has(v) })
		})
	}
	for again := true; again; {
		again = false
		for _, c := range s.constraints {
			if c.possible = !c.required || c.ignored || could(c); !c.possible {
				c.used = true
			}
		}
		for _, v := range all {
			if !v.impossible && slices.ContainsFunc(v.constraints, func(c *constraint) bool { return !c.possible }) {
				v.impossible, again = true, true
			}
		}
	}
	return !slices.ContainsFunc(s.root, func(c *constraint) bool { return c.Kind == Wanted && !c.possible })
}

// try meets the next constraint, and all after it. If that is impossible, it returns the choices
// that are to blame: with these, it is impossible whatever the others are.
func (s *search) try(ctx context.Context) (ok bool, blame levels, err error) {
	c, from := s.next()
	if c == nil {
		blame = s.unmetDeferred()
		return blame == nil, blame, nil
	}
	c.used = true
	at := len(s.chosen)
	blame = levels{}.add(from)
	options := s.options(c)
	if c.pack == nil {
		options = append(options, nil) // another package may provide the API, for another reason
	}
	for _, v := range options {
		if s.left--; s.left < 0 {
			return false, nil, s.limit()
		}
		if s.left%256 == 0 && ctx.Err() != nil {
			return false, nil, ctx.Err()
		}
		if conflicts := s.against(v); conflicts != nil {
			blame.add(conflicts...)
			continue
		}
		s.push(v, c)
		ok, failed, err := s.try(ctx)
		if ok || err != nil {
			return ok, nil, err
		}
		s.pop()
		if !failed[at] {
			return false, failed, nil
		}
		delete(failed, at)
		for i := range failed {
			blame.add(i)
		}
	}
	return false, blame, nil
}

func (s *search) push(v *candidate, c *constraint) {
	if v == nil {
		s.deferred[c] = true
	} else {
		s.level[v.pack] = len(s.chosen)
	}
	s.chosen, s.causes = append(s.chosen, v), append(s.causes, c)
}

func (s *search) pop() {
	last := len(s.chosen) - 1
	if v := s.chosen[last]; v != nil {
		delete(s.level, v.pack)
	} else {
		delete(s.deferred, s.causes[last])
	}
	s.chosen, s.causes = s.chosen[:last], s.causes[:last]
}

// next returns the first unmet constraint, with the index of its choice (-1 for none): those by
// name before those by API.
func (s *search) next() (*constraint, int) {
	for _, byName := range []bool{true, false} {
		for i := -1; i < len(s.chosen); i++ {
			for _, c := range s.constraintsOf(i) {
				if c.required && (c.pack != nil) == byName && !s.isMet(c) && !s.deferred[c] {
					return c, i
				}
			}
		}
	}
	return nil, 0
}

// constraintsOf returns the constraints of a choice that are not ignored; -1 is for wants and
// installed packages.
func (s *search) constraintsOf(i int) []*constraint {
	all := s.root
	switch {
	case i < 0:
	case s.chosen[i] == nil:
		return nil
	default:
		all = s.chosen[i].constraints
	}
	if !slices.ContainsFunc(all, func(c *constraint) bool { return c.ignored }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c *constraint) bool { return c.ignored })
}

// isMet reports whether a chosen version meets a constraint. For a constraint with a range any
// chosen version does, since only versions in the range are chosen.
func (s *search) isMet(c *constraint) bool {
	return slices.ContainsFunc(c.targets(), func(p *pack) bool {
		i, chosen := s.level[p]
		return chosen && (c.pack != nil || c.has(s.chosen[i]))
	})
}

// options returns the versions that could be chosen for a constraint, best first. A prerelease is
// not chosen for an API: only a range selects it.
func (s *search) options(c *constraint) []*candidate {
	if c.pack != nil {
		return c.pack.versions
	}
	var all []*candidate
	for _, p := range s.preferredProviders(c) {
		if _, chosen := s.level[p]; chosen {
			continue
		}
		for _, v := range p.versions {
			if c.has(v) && (v == p.installed || v.at.Prerelease() == "") {
				all = append(all, v)
			}
		}
	}
	return all
}

// preferredProviders returns the packages that may be added for an API: the first preferred one,
// else the only one.
func (s *search) preferredProviders(c *constraint) []*pack {
	var chosen, candidates, able []*pack
	for _, p := range c.providers {
		switch {
		case p.installed != nil || p.wanted:
			chosen = append(chosen, p) // chosen already, unless the want is ignored
			continue
		case slices.ContainsFunc(p.versions, func(v *candidate) bool {
			return c.has(v) && v.at.Prerelease() == "" && !slices.ContainsFunc(v.refused, func(g *reason) bool { return g.Kind == Kubernetes })
		}):
			able = append(able, p)
		}
		candidates = append(candidates, p)
	}
	switch {
	case len(able) == 0:
		return append(chosen, candidates...)
	case len(able) == 1 || slices.Contains(s.q.Prefer, able[0].name):
		return append(chosen, able[0])
	case c.unclear.ignored:
		return append(chosen, able...)
	}
	c.unclear.used = true
	return chosen
}

// against returns the choices that conflict with a version, -1 for none of them; nil without a
// conflict. The earliest one is enough.
func (s *search) against(v *candidate) []int {
	if v == nil {
		return nil
	}
	if v.impossible {
		return []int{-1}
	}
	for i := -1; i < len(s.chosen); i++ {
		for _, c := range s.constraintsOf(i) {
			if c.pack == v.pack && !c.has(v) {
				c.used = true
				return []int{i}
			}
		}
	}
	first := len(s.chosen)
	var blocking *constraint
	for _, c := range v.constraints {
		if c.ignored || c.pack == nil {
			continue
		}
		i, chosen := s.level[c.pack]
		other := v
		switch {
		case chosen:
			other = s.chosen[i]
		case c.pack == v.pack:
			i = -1
		default:
			continue
		}
		if !c.has(other) && i < first {
			first, blocking = i, c
		}
	}
	if blocking == nil {
		return nil
	}
	blocking.used = true
	return []int{first}
}

// unmetDeferred returns the choices because of which no package provides an API: all of them, since
// any could have led to a provider, or have excluded one.
func (s *search) unmetDeferred() levels {
	for at, c := range s.causes {
		if s.chosen[at] != nil || s.isMet(c) {
			continue
		}
		blame := levels{}
		for i := range s.causes {
			blame.add(i)
		}
		return blame
	}
	return nil
}

func (s *search) limit() error {
	e := &LimitError{}
	for _, v := range slices.Backward(s.chosen) {
		if v != nil && len(e.Packages) < 3 {
			e.Packages = append(e.Packages, short(v.Name))
		}
	}
	slices.SortFunc(e.Packages, cmp.Compare[string])
	return e
}
