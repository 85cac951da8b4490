package solve

import (
	"context"
	"fmt"
	"slices"
)

// cause is why a literal is true: all others of the clause are false, or another literal is
// true.
type cause struct {
	clause *clause
	other  literal // -1 for none
}

// maxConflicts and maxLearned are how many dead ends are tried before a question is given up,
// and how many literals are learned from them: a second or two. Those of real catalogues have tens.
const (
	maxConflicts = 20_000
	maxLearned   = 200_000
)

// search decides clauses: it goes from need to need, learns from every conflict what led to
// it, and jumps back to there. What nobody needs is false.
type search struct {
	draft     draft
	sealed    bool
	written   int    // literals of all clauses so far
	value     []int8 // of a literal: 1 true, -1 false, 0 open
	level     []int32
	why       []cause
	implied   [][]literal // of a literal: what is true once it is
	watches   [][]*clause // of a literal
	needs     [][]*clause // of a variable: clauses with choices that may hold once it is true
	roots     []*clause   // clauses of choices alone
	rivals    [][]int     // of a variable: the other versions of its package, itself among them
	trail     []literal
	limits    []int // where each level begins on the trail
	heads     []int // what head was when the level began
	queue     int
	head      int // all needs of what lies before it on the trail are met
	seen      []bool
	model     []bool
	pair      [2]literal
	broken    bool
	conflicts int
	learned   int // literals of all that was learned
}

func (s *search) set(l literal, why cause) {
	v := l.variable()
	s.value[l], s.value[l.negated()] = 1, -1
	s.level[v] = int32(len(s.limits))
	s.why[v] = why
	s.trail = append(s.trail, l)
}

func (s *search) backtrack(level int) {
	if len(s.limits) <= level {
		return
	}
	from := s.limits[level]
	for _, l := range s.trail[from:] {
		s.value[l], s.value[l.negated()] = 0, 0
	}
	s.trail, s.queue, s.head = s.trail[:from], from, s.heads[level]
	s.limits, s.heads = s.limits[:level], s.heads[:level]
}

func (s *search) deeper() {
	s.limits, s.heads = append(s.limits, len(s.trail)), append(s.heads, s.head)
}

// propagate sets what follows, and returns the literals of a clause that none can satisfy.
func (s *search) propagate() []literal {
	for ; s.queue < len(s.trail); s.queue++ {
		l := s.trail[s.queue]
		for _, m := range s.implied[l] {
			switch {
			case s.value[m] < 0:
				return s.two(l.negated(), m)
			case s.value[m] == 0:
				s.set(m, cause{other: l})
			}
		}
		if l.positive() {
			for _, v := range s.rivals[l.variable()] {
				switch {
				case v == l.variable() || s.value[no(v)] > 0:
				case s.value[yes(v)] > 0:
					return s.two(l.negated(), no(v))
				default:
					s.set(no(v), cause{other: l})
				}
			}
		}
		if c := s.visit(l.negated()); c != nil {
			return c.literals
		}
	}
	return nil
}

func (s *search) two(a, b literal) []literal {
	s.pair = [2]literal{a, b}
	return s.pair[:]
}

// visit looks at the clauses that watch a literal, which is false now.
func (s *search) visit(l literal) *clause {
	list, kept := s.watches[l], 0
	for i, c := range list {
		if c.literals[0] == l {
			c.literals[0], c.literals[1] = c.literals[1], l
		}
		if s.value[c.literals[0]] <= 0 && s.rewatch(c) {
			continue
		}
		list[kept] = c
		kept++
		if s.value[c.literals[0]] > 0 {
			continue
		}
		if s.value[c.literals[0]] < 0 {
			kept += copy(list[kept:], list[i+1:])
			s.watches[l] = list[:kept]
			return c
		}
		s.set(c.literals[0], cause{clause: c, other: -1})
	}
	s.watches[l] = list[:kept]
	return nil
}

func (s *search) rewatch(c *clause) bool {
	for k := 2; k < len(c.literals); k++ {
		if l := c.literals[k]; s.value[l] >= 0 {
			c.literals[1], c.literals[k] = l, c.literals[1]
			s.watches[l] = append(s.watches[l], c)
			return true
		}
	}
	return false
}

// causes are the literals that made a literal true: itself, and others that are false.
func (s *search) causes(l literal) []literal {
	w := s.why[l.variable()]
	switch {
	case w.clause != nil:
		return w.clause.literals
	case w.other >= 0:
		return s.two(l, w.other.negated())
	}
	return nil
}

// learn finds a clause that would have kept a conflict away, and the level to go back to. The
// first literal of the clause is what it forces there.
func (s *search) learn(conflict []literal) ([]literal, int) {
	learned := []literal{0}
	level, open, at := len(s.limits), 0, len(s.trail)-1
	for {
		for _, l := range conflict {
			v := l.variable()
			if s.value[l] > 0 || s.seen[v] || s.level[v] == 0 {
				continue
			}
			s.seen[v] = true
			if int(s.level[v]) == level {
				open++
			} else {
				learned = append(learned, l)
			}
		}
		for !s.seen[s.trail[at].variable()] {
			at--
		}
		l := s.trail[at]
		at--
		open--
		s.seen[l.variable()] = false
		if open == 0 {
			learned[0] = l.negated()
			break
		}
		conflict = s.causes(l)
	}
	to := 0
	for i, l := range learned[1:] {
		s.seen[l.variable()] = false
		if to < int(s.level[l.variable()]) {
			to = int(s.level[l.variable()])
			learned[1], learned[i+1] = learned[i+1], learned[1]
		}
	}
	return learned, to
}

// core are the assumptions that together make a conflict. They are what is true at the first
// level without a cause.
func (s *search) core(conflict []literal) []literal {
	var out []literal
	mark := func(literals []literal) {
		for _, l := range literals {
			if s.level[l.variable()] > 0 {
				s.seen[l.variable()] = true
			}
		}
	}
	mark(conflict)
	for at := len(s.trail) - 1; at >= s.limits[0]; at-- {
		t := s.trail[at]
		if !s.seen[t.variable()] {
			continue
		}
		if w := s.why[t.variable()]; w.clause == nil && w.other < 0 {
			out = append(out, t)
		}
		mark(s.causes(t))
		s.seen[t.variable()] = false
	}
	return out
}

// solve looks for a model in which the assumptions hold; keep keeps it. Without one it returns those of them
// that cannot hold together; none where nothing can be had at all.
func (s *search) solve(ctx context.Context, assumed []literal) (ok bool, core []literal, err error) {
	s.backtrack(0)
	if err := s.may(ctx); err != nil {
		return false, nil, err
	}
	for !s.broken {
		conflict := s.propagate()
		switch {
		case conflict == nil && len(s.limits) == 0:
			if core, ok := s.assume(assumed); !ok {
				return false, core, nil
			}
		case conflict == nil:
			l, done := s.next()
			if done {
				return true, nil, nil
			}
			s.deeper()
			s.set(l, cause{other: -1})
		case len(s.limits) == 0:
			s.broken = true
		case len(s.limits) == 1:
			return false, s.core(conflict), nil
		default:
			s.resolve(conflict)
			if s.conflicts++; s.conflicts%64 == 0 {
				if err := s.may(ctx); err != nil {
					return false, nil, err
				}
			}
		}
	}
	return false, nil, nil
}

// may says that the search may go on.
func (s *search) may(ctx context.Context) error {
	switch {
	case s.written > maxLiterals:
		return fmt.Errorf("too much hangs together to choose packages: more than %d million conditions; want fewer versions, or narrower ranges", maxLiterals/1_000_000)
	case s.conflicts > maxConflicts || s.learned > maxLearned:
		return fmt.Errorf("too much hangs together to choose packages: there is no answer after %d dead ends; want the versions of some packages named", s.conflicts)
	}
	return ctx.Err()
}

// assume makes the first level, of what is assumed and follows from that. Where it cannot
// hold, it returns which of it.
func (s *search) assume(assumed []literal) (core []literal, ok bool) {
	for ; s.head < len(s.trail); s.head++ {
		if t := s.trail[s.head]; t.positive() && len(s.needs[t.variable()]) > 0 {
			break
		}
	}
	s.deeper()
	for _, l := range assumed {
		if s.value[l] < 0 {
			if s.level[l.variable()] == 0 {
				return []literal{l}, false
			}
			return append(s.core([]literal{l}), l), false
		}
		if s.value[l] == 0 {
			s.set(l, cause{other: -1})
		}
		if conflict := s.propagate(); conflict != nil {
			return s.core(conflict), false
		}
	}
	return nil, true
}

func (s *search) resolve(conflict []literal) {
	learned, to := s.learn(conflict)
	s.backtrack(to)
	if len(learned) == 1 {
		s.set(learned[0], cause{other: -1})
		return
	}
	s.learned += len(learned)
	if len(learned) == 2 {
		s.imply(learned[0], learned[1])
		s.set(learned[0], cause{other: learned[1].negated()})
		return
	}
	c := &clause{literals: learned}
	s.watches[learned[0]] = append(s.watches[learned[0]], c)
	s.watches[learned[1]] = append(s.watches[learned[1]], c)
	s.set(learned[0], cause{clause: c, other: -1})
}

// next is what to decide: the best choice of the first need that is open.
func (s *search) next() (literal, bool) {
	for _, c := range s.roots {
		if l := s.unmet(c); l >= 0 {
			return l, false
		}
	}
	for ; s.head < len(s.trail); s.head++ {
		if t := s.trail[s.head]; t.positive() {
			for _, c := range s.needs[t.variable()] {
				if l := s.unmet(c); l >= 0 {
					return l, false
				}
			}
		}
	}
	return 0, true
}

// unmet returns the best choice of a clause that must hold and does not yet, else -1.
func (s *search) unmet(c *clause) literal {
	best := literal(-1)
	for _, l := range c.choices {
		if s.value[l] > 0 {
			return -1
		}
		if best < 0 && s.value[l] == 0 {
			best = l
		}
	}
	if best < 0 || len(c.choices) == len(c.literals) {
		return best
	}
	for _, l := range c.literals {
		if !l.positive() && s.value[l] >= 0 {
			return -1
		}
	}
	return best
}

// keep keeps the model that was found last.
func (s *search) keep() {
	s.model = slices.Grow(s.model[:0], len(s.level))[:len(s.level)]
	for v := range s.model {
		s.model[v] = s.value[yes(v)] > 0
	}
}

// failed says that a literal cannot hold, as far as that follows at once.
func (s *search) failed(l literal) bool {
	s.backtrack(0)
	if s.propagate() != nil {
		s.broken = true
	}
	if s.broken || s.value[l] != 0 {
		return s.broken || s.value[l] < 0
	}
	s.deeper()
	s.set(l, cause{other: -1})
	conflict := s.propagate() != nil
	s.backtrack(0)
	return conflict
}
