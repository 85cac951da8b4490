package solve

import (
	"context"
	"slices"
)

// A literal is a variable or its negation. Variables are numbered from 0.
type literal int32

func yes(v int) literal          { return literal(v << 1) }
func no(v int) literal           { return literal(v<<1 | 1) }
func (l literal) not() literal   { return l ^ 1 }
func (l literal) variable() int  { return int(l >> 1) }
func (l literal) positive() bool { return l&1 == 0 }

// clause is an or of literals. The first two are watched.
type clause struct {
	literals []literal
	// choices are its positive literals, the better ones first.
	choices []literal
}

// cause is why a literal is true: all others of the clause are false, or another version of
// the package is chosen.
type cause struct {
	clause *clause
	other  literal // the version that is chosen; -1 for none
}

// search decides clauses: it goes from need to need, learns from every conflict what led to
// it, and jumps back to there. What nobody needs is false.
type search struct {
	value     []int8 // of a literal: 1 true, -1 false, 0 open
	level     []int32
	why       []cause
	place     []int32 // on the trail
	watches   [][]*clause
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
	broken    bool
	conflicts int
}

func (s *search) variable() int {
	v := len(s.level)
	s.value = append(s.value, 0, 0)
	s.level = append(s.level, 0)
	s.why = append(s.why, cause{other: -1})
	s.place = append(s.place, 0)
	s.watches = append(s.watches, nil, nil)
	s.needs = append(s.needs, nil)
	s.rivals = append(s.rivals, nil)
	s.seen = append(s.seen, false)
	return v
}

// one says that at most one of the variables is true.
func (s *search) one(variables []int) {
	for _, v := range variables {
		s.rivals[v] = variables
	}
}

// add adds a clause. It is kept, the caller must not change it.
func (s *search) add(literals ...literal) {
	s.back(0)
	kept := make([]literal, 0, len(literals))
	for _, l := range literals {
		if s.value[l] > 0 || len(literals) < 8 && slices.Contains(kept, l.not()) {
			return
		}
		if s.value[l] == 0 {
			kept = append(kept, l)
		}
	}
	switch len(kept) {
	case 0:
		s.broken = true
		return
	case 1:
		s.set(kept[0], cause{other: -1})
		return
	}
	c := &clause{literals: kept}
	s.watch(c)
	for _, l := range kept {
		if l.positive() {
			c.choices = append(c.choices, l)
		}
	}
	switch {
	case len(c.choices) == len(kept):
		s.roots = append(s.roots, c)
	case len(c.choices) > 0:
		for _, l := range kept {
			if !l.positive() {
				s.needs[l.variable()] = append(s.needs[l.variable()], c)
			}
		}
	}
	s.head = 0
}

func (s *search) watch(c *clause) {
	for _, l := range c.literals[:2] {
		s.watches[l] = append(s.watches[l], c)
	}
}

func (s *search) set(l literal, why cause) {
	v := l.variable()
	s.value[l], s.value[l.not()] = 1, -1
	s.level[v] = int32(len(s.limits))
	s.why[v] = why
	s.place[v] = int32(len(s.trail))
	s.trail = append(s.trail, l)
}

func (s *search) back(level int) {
	if len(s.limits) <= level {
		return
	}
	from := s.limits[level]
	for _, l := range s.trail[from:] {
		s.value[l], s.value[l.not()] = 0, 0
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
		if l.positive() {
			for _, v := range s.rivals[l.variable()] {
				switch {
				case v == l.variable() || s.value[no(v)] > 0:
				case s.value[yes(v)] > 0:
					return []literal{l.not(), no(v)}
				default:
					s.set(no(v), cause{other: l})
				}
			}
		}
		if c := s.visit(l.not()); c != nil {
			return c.literals
		}
	}
	return nil
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

// causes are the literals, all false, that made a literal true.
func (s *search) causes(l literal) []literal {
	w := s.why[l.variable()]
	switch {
	case w.clause != nil:
		return w.clause.literals
	case w.other >= 0:
		return []literal{w.other.not()}
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
			learned[0] = l.not()
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

// core are the assumptions that together make a literal, which was to be assumed, false.
func (s *search) core(l literal) []literal {
	out := []literal{l}
	if s.level[l.variable()] == 0 {
		return out
	}
	s.seen[l.variable()] = true
	for at := len(s.trail) - 1; at >= s.limits[0]; at-- {
		t := s.trail[at]
		if !s.seen[t.variable()] {
			continue
		}
		s.seen[t.variable()] = false
		w := s.why[t.variable()]
		if w.clause == nil && w.other < 0 {
			if t != l {
				out = append(out, t)
			}
			continue
		}
		for _, c := range s.causes(t) {
			if c != t && s.level[c.variable()] > 0 {
				s.seen[c.variable()] = true
			}
		}
	}
	return out
}

// solve looks for a model in which the assumptions hold. Without one it returns those of them
// that cannot hold together; none where nothing can be had at all.
func (s *search) solve(ctx context.Context, assumed []literal) (ok bool, core []literal, err error) {
	s.back(0)
	if s.broken {
		return false, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return false, nil, err
	}
	for {
		if conflict := s.propagate(); conflict != nil {
			if len(s.limits) == 0 {
				s.broken = true
				return false, nil, nil
			}
			s.resolve(conflict)
			if s.conflicts++; s.conflicts%64 == 0 && ctx.Err() != nil {
				return false, nil, ctx.Err()
			}
			continue
		}
		l, done := s.next(assumed)
		if done {
			s.keep()
			return true, nil, nil
		}
		if s.value[l] < 0 {
			return false, s.core(l), nil
		}
		s.deeper()
		if s.value[l] == 0 {
			s.set(l, cause{other: -1})
		}
	}
}

func (s *search) resolve(conflict []literal) {
	learned, to := s.learn(conflict)
	s.back(to)
	if len(learned) == 1 {
		s.set(learned[0], cause{other: -1})
		return
	}
	c := &clause{literals: learned}
	s.watch(c)
	s.set(learned[0], cause{clause: c, other: -1})
}

// next is what to decide: an assumption, then the best choice of the first need that is open.
func (s *search) next(assumed []literal) (literal, bool) {
	if len(s.limits) < len(assumed) {
		return assumed[len(s.limits)], false
	}
	for _, c := range s.roots {
		if l := s.open(c); l >= 0 {
			return l, false
		}
	}
	for ; s.head < len(s.trail); s.head++ {
		if t := s.trail[s.head]; t.positive() {
			for _, c := range s.needs[t.variable()] {
				if l := s.open(c); l >= 0 {
					return l, false
				}
			}
		}
	}
	return 0, true
}

// open returns the best choice of a clause that must hold and does not yet, else -1.
func (s *search) open(c *clause) literal {
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

func (s *search) keep() {
	s.model = slices.Grow(s.model[:0], len(s.level))[:len(s.level)]
	for v := range s.model {
		s.model[v] = s.value[yes(v)] > 0
	}
}

// failed says that a literal cannot hold, as far as that follows at once.
func (s *search) failed(l literal) bool {
	s.back(0)
	if s.propagate() != nil {
		s.broken = true
	}
	if s.broken || s.value[l] != 0 {
		return s.broken || s.value[l] < 0
	}
	s.deeper()
	s.set(l, cause{other: -1})
	conflict := s.propagate() != nil
	s.back(0)
	return conflict
}
