package solve

import "slices"

// A literal is a variable or its negation. Variables are numbered from 0.
type literal int32

func yes(v int) literal            { return literal(v << 1) }
func no(v int) literal             { return literal(v<<1 | 1) }
func (l literal) negated() literal { return l ^ 1 }
func (l literal) variable() int    { return int(l >> 1) }
func (l literal) positive() bool   { return l&1 == 0 }

// clause is an or of three literals or more, of which the first two are watched, or one of
// two choices.
type clause struct {
	literals []literal
	// choices are its positive literals, the better ones first.
	choices []literal
}

// maxLiterals is how many literals all clauses of a question may have together: some 50 MB.
const maxLiterals = 4_000_000

// draft are clauses that are not looked at yet. They lie in one block.
type draft struct {
	literals []literal
	ends     []int32
}

func (s *search) variable() int {
	v := len(s.level)
	s.value = append(s.value, 0, 0)
	s.level = append(s.level, 0)
	s.why = append(s.why, cause{other: -1})
	s.rivals = append(s.rivals, nil)
	s.seen = append(s.seen, false)
	if s.sealed {
		s.watches = append(s.watches, nil, nil)
		s.implied = append(s.implied, nil, nil)
		s.needs = append(s.needs, nil)
	}
	return v
}

// one says that at most one of the variables is true.
func (s *search) one(variables []int) {
	for _, v := range variables {
		s.rivals[v] = variables
	}
}

// add adds a clause.
func (s *search) add(literals ...literal) {
	s.written += len(literals)
	if s.written > maxLiterals {
		return
	}
	if !s.sealed {
		s.draft.literals = append(s.draft.literals, literals...)
		s.draft.ends = append(s.draft.ends, int32(len(s.draft.literals)))
		return
	}
	s.backtrack(0)
	kept, holds := s.open(slices.Clone(literals))
	if holds || s.small(kept) {
		return
	}
	c := &clause{literals: kept}
	c.choose(nil)
	if len(kept) > 2 {
		s.watches[kept[0]] = append(s.watches[kept[0]], c)
		s.watches[kept[1]] = append(s.watches[kept[1]], c)
	} else {
		s.imply(kept[0], kept[1])
	}
	s.eachNeed(c, func(v int) { s.needs[v] = append(s.needs[v], c) })
	s.head = 0
}

// open leaves the literals of a clause that are not decided for good, or says that it holds.
func (s *search) open(literals []literal) (kept []literal, holds bool) {
	kept = literals[:0]
	for i, l := range literals {
		if s.value[l] > 0 || len(literals) < 8 && slices.Contains(literals[i+1:], l.negated()) {
			return nil, true
		}
		if s.value[l] == 0 && (len(literals) >= 8 || !slices.Contains(kept, l)) {
			kept = append(kept, l)
		}
	}
	return kept, false
}

// small takes a clause of one literal or none.
func (s *search) small(kept []literal) bool {
	switch len(kept) {
	case 0:
		s.broken = true
	case 1:
		s.set(kept[0], cause{other: -1})
	}
	return len(kept) < 2
}

func (s *search) imply(a, b literal) {
	s.implied[a.negated()] = append(s.implied[a.negated()], b)
	s.implied[b.negated()] = append(s.implied[b.negated()], a)
}

// choose finds the choices of a clause; they are put behind those of others.
func (c *clause) choose(block []literal) []literal {
	from := len(block)
	for _, l := range c.literals {
		if l.positive() {
			block = append(block, l)
		}
	}
	c.choices = block[from:len(block):len(block)]
	return block
}

// eachNeed calls with the variables that a clause may leave a choice to once they are true; one
// of choices alone is a root. Where there is one choice only, it follows and is none.
func (s *search) eachNeed(c *clause, f func(v int)) {
	switch {
	case len(c.choices) == len(c.literals):
		s.roots = append(s.roots, c)
	case len(c.choices) > 1:
		for _, l := range c.literals {
			if !l.positive() {
				f(l.variable())
			}
		}
	}
}

// seal makes the clauses of the draft ready to be searched: it counts first, so that every
// list lies in a block with all others of its sort.
func (s *search) seal() {
	s.sealed = true
	clauses, pairs := s.read()
	implied, watched, needed := make([]int32, len(s.value)), make([]int32, len(s.value)), make([]int32, len(s.level))
	choices := 0
	for _, l := range pairs {
		implied[l.negated()]++
	}
	for i := range clauses {
		c := &clauses[i]
		a, b := c.literals[0], c.literals[1]
		if len(c.literals) == 2 {
			implied[a.negated()]++
			implied[b.negated()]++
		} else {
			watched[a]++
			watched[b]++
		}
		for _, l := range c.literals {
			if l.positive() {
				choices++
			} else {
				needed[l.variable()]++
			}
		}
	}
	s.implied, s.watches, s.needs = blocks[literal](implied), blocks[*clause](watched), blocks[*clause](needed)
	for i := 0; i < len(pairs); i += 2 {
		s.imply(pairs[i], pairs[i+1])
	}
	block := make([]literal, 0, choices)
	for i := range clauses {
		c := &clauses[i]
		a, b := c.literals[0], c.literals[1]
		if len(c.literals) == 2 {
			s.imply(a, b)
		} else {
			s.watches[a] = append(s.watches[a], c)
			s.watches[b] = append(s.watches[b], c)
		}
		block = c.choose(block)
		s.eachNeed(c, func(v int) { s.needs[v] = append(s.needs[v], c) })
	}
	s.draft = draft{}
}

// read parts the draft into clauses, and pairs of literals of which one follows from the other.
// What has one literal is taken at once.
func (s *search) read() (clauses []clause, pairs []literal) {
	from := int32(0)
	for _, end := range s.draft.ends {
		kept, holds := s.open(s.draft.literals[from:end:end])
		from = end
		switch {
		case holds || s.small(kept):
		case len(kept) == 2 && (!kept[0].positive() || !kept[1].positive()):
			pairs = append(pairs, kept...)
		default:
			clauses = append(clauses, clause{literals: kept})
		}
	}
	return clauses, pairs
}

// blocks makes empty lists with room for so many, in one block.
func blocks[T any](counts []int32) [][]T {
	all := 0
	for _, n := range counts {
		all += int(n)
	}
	block, lists := make([]T, all), make([][]T, len(counts))
	for i, n := range counts {
		lists[i], block = block[:0:n], block[n:]
	}
	return lists
}

// tidy takes out the clauses that hold for good.
func (s *search) tidy() {
	s.backtrack(0)
	if s.propagate() != nil {
		s.broken = true
		return
	}
	holds := func(c *clause) bool {
		return slices.ContainsFunc(c.literals, func(l literal) bool { return s.value[l] > 0 })
	}
	for l := range s.watches {
		s.watches[l] = slices.DeleteFunc(s.watches[l], holds)
	}
	for l := range s.implied {
		if s.value[l] != 0 {
			s.implied[l] = nil
		}
		s.implied[l] = slices.DeleteFunc(s.implied[l], func(m literal) bool { return s.value[m] > 0 })
	}
	for v := range s.needs {
		s.needs[v] = slices.DeleteFunc(s.needs[v], holds)
	}
	s.roots = slices.DeleteFunc(s.roots, holds)
}
