package schedule

import (
	"cmp"
	"slices"
)

// arrangement is where the pods of a model go.
type arrangement struct {
	// nodes lists them for each class.
	nodes [][]int
	// done says that all have one; tried that there is no way to do so.
	done, tried bool
}

// arrange looks for a placement of all pods: with simple rules first, then by trying all,
// as long as the budget lasts.
func (m *model) arrange(budget *int) arrangement {
	for _, order := range m.orders() {
		for _, pick := range []func(*state, int) int{(*state).first, (*state).fullest, (*state).emptiest} {
			s := m.start()
			out := arrangement{nodes: make([][]int, len(m.classes))}
			if s.greedy(order, pick, &out) {
				out.done = true
				return out
			}
		}
	}
	s := m.start()
	t := &search{m: m, s: s, budget: budget, seen: map[string]bool{}}
	t.out.nodes = make([][]int, len(m.classes))
	t.out.done = t.walk()
	t.out.tried = !t.out.done && *budget > 0
	return t.out
}

// orders are those in which classes are placed: who wants most first, who has the fewest
// nodes first.
func (m *model) orders() [][]int {
	size := make([]float64, len(m.classes))
	choice := make([]int, len(m.classes))
	most := make([]int64, m.dims)
	for _, n := range m.nodes {
		for k := range m.dims {
			most[k] = max(most[k], m.free[n*m.dims+k])
		}
	}
	for i, c := range m.classes {
		choice[i] = m.in[i].count()
		for k, v := range c.of.want {
			if most[k] > 0 {
				size[i] = max(size[i], float64(v)/float64(most[k]))
			}
		}
	}
	biggest, fewest := make([]int, len(m.classes)), make([]int, len(m.classes))
	for i := range biggest {
		biggest[i], fewest[i] = i, i
	}
	slices.SortStableFunc(biggest, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	slices.SortStableFunc(fewest, func(a, b int) int {
		return cmp.Or(cmp.Compare(choice[a], choice[b]), cmp.Compare(size[b], size[a]))
	})
	return [][]int{biggest, fewest}
}

// greedy places what it can in the order given, again and again: a pod can make room for
// one that goes where it is.
func (s *state) greedy(order []int, pick func(*state, int) int, out *arrangement) bool {
	for {
		moved, waits := false, false
		for _, c := range order {
			for s.left[c] > 0 {
				n := pick(s, c)
				if n < 0 {
					break
				}
				s.place(c, n)
				out.nodes[c] = append(out.nodes[c], n)
				moved = true
			}
			waits = waits || s.left[c] > 0
		}
		if !waits || !moved {
			return !waits
		}
	}
}

func (s *state) first(c int) int {
	for _, n := range s.m.nodes {
		if s.fits(c, n) {
			return n
		}
	}
	return -1
}

func (s *state) fullest(c int) int  { return s.best(c, 1) }
func (s *state) emptiest(c int) int { return s.best(c, -1) }

// best takes the node with the least, or the most, left of what the class wants.
func (s *state) best(c int, sign float64) int {
	best, least := -1, 0.0
	for _, n := range s.m.nodes {
		if !s.fits(c, n) {
			continue
		}
		left := 0.0
		for k, v := range s.m.classes[c].of.want {
			if v > 0 {
				left += float64(s.free[n*s.m.dims+k]) / float64(v)
			}
		}
		if left *= sign; best < 0 || left < least {
			best, least = n, left
		}
	}
	return best
}

// search tries all placements. A state that led nowhere is not entered twice.
type search struct {
	m      *model
	s      *state
	budget *int
	seen   map[string]bool
	out    arrangement
}

func (t *search) walk() bool {
	if *t.budget <= 0 {
		return false
	}
	best, choice := -1, []int(nil)
	done := true
	options := make([][]int, len(t.m.classes))
	for c := range t.m.classes {
		if t.s.left[c] == 0 {
			continue
		}
		done = false
		options[c] = t.s.distinct(c, t.budget)
		if best < 0 || len(options[c]) < len(choice) {
			best, choice = c, options[c]
		}
	}
	if done {
		return true
	}
	if !t.m.monotone() {
		return t.any(options)
	}
	return t.one(best, choice)
}

// one tries the nodes of one class: where no pod helps another, all orders lead to the same
// placements, and a class that has no node will have none later.
func (t *search) one(c int, nodes []int) bool {
	for _, n := range nodes {
		if t.step(c, n) {
			return true
		}
	}
	return false
}

func (t *search) any(options [][]int) bool {
	for c, nodes := range options {
		if t.one(c, nodes) {
			return true
		}
	}
	return false
}

func (t *search) step(c, n int) bool {
	t.s.place(c, n)
	t.out.nodes[c] = append(t.out.nodes[c], n)
	if key := t.s.key(); !t.seen[key] {
		t.seen[key] = true
		if t.walk() {
			return true
		}
	}
	t.s.take(c, n)
	t.out.nodes[c] = t.out.nodes[c][:len(t.out.nodes[c])-1]
	return false
}
