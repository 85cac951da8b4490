package solve

import (
	"cmp"
	"context"
	"slices"
)

// maxSteps is how many versions are tried before a question is given up, and again before a
// shorter explanation is: about a second. Questions of real catalogs take some tens.
const maxSteps = 100_000

// search chooses a version for one constraint after the other that is not met, and goes back
// where none is left: to the last choice that had a part in it.
type search struct {
	*universe
	left     int // steps
	chosen   []*candidate
	causes   []*constraint // why each of chosen is
	level    map[*pack]int // of chosen
	deferred map[*constraint]bool
}

// levels are choices, by their places in chosen.
type levels map[int]bool

func (l levels) add(of ...int) levels {
	for _, i := range of {
		if i >= 0 {
			l[i] = true
		}
	}
	return l
}

// run looks for versions that go together, with the reasons that are not ignored. It marks
// the reasons that it had to do with.
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

// prune finds versions that cannot be chosen whatever else is, and says whether the wants can
// be met with the other ones.
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

// try meets the next constraint, and all after it. Where that cannot be, it returns the
// choices that are to blame: with these, it cannot be whatever the others are.
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
		options = append(options, nil) // another package may bring the API, for another reason
	}
	for _, v := range options {
		if s.left--; s.left < 0 {
			return false, nil, s.limit()
		}
		if s.left%256 == 0 && ctx.Err() != nil {
			return false, nil, ctx.Err()
		}
		if why := s.against(v); why != nil {
			blame.add(why...)
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

// next returns the first constraint that is not met, and the choice that it is of (-1 for
// none): those by name before those by API.
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

// constraintsOf returns the constraints of a choice that are not ignored; of wants and what is installed
// for -1.
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

// isMet says that a chosen version meets a constraint; one of a range with any version does,
// since only those in the range are chosen.
func (s *search) isMet(c *constraint) bool {
	return slices.ContainsFunc(c.targets(), func(p *pack) bool {
		i, chosen := s.level[p]
		return chosen && (c.pack != nil || c.has(s.chosen[i]))
	})
}

// options are the versions that could be chosen for a constraint, the better ones first. A
// prerelease is not chosen for an API: only a range asks for it.
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

// preferredProviders are the packages that may be added for an API: the first that is preferred,
// else the only one that there is.
func (s *search) preferredProviders(c *constraint) []*pack {
	var there, others, able []*pack
	for _, p := range c.providers {
		switch {
		case p.installed != nil || p.wanted:
			there = append(there, p) // chosen already, unless the want is ignored
			continue
		case slices.ContainsFunc(p.versions, func(v *candidate) bool {
			return c.has(v) && v.at.Prerelease() == "" && !slices.ContainsFunc(v.refused, func(g *reason) bool { return g.Kind == Kubernetes })
		}):
			able = append(able, p)
		}
		others = append(others, p)
	}
	switch {
	case len(able) == 0:
		return append(there, others...)
	case len(able) == 1 || slices.Contains(s.q.Prefer, able[0].name):
		return append(there, able[0])
	case c.unclear.ignored:
		return append(there, able...)
	}
	c.unclear.used = true
	return there
}

// against returns the choices that a version does not go together with, -1 for none of them;
// nil where it goes together with all. The earliest one is enough.
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
	var why *constraint
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
			first, why = i, c
		}
	}
	if why == nil {
		return nil
	}
	why.used = true
	return []int{first}
}

// unmetDeferred returns the choices that led to it that an API is brought by nobody: all of
// them, since any could have brought it along, or have kept another from doing so.
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
