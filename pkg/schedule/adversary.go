package schedule

import "slices"

// worstCase walks through all states that the scheduler can come to, whichever pod it takes
// next and whichever node it picks, and looks for one that is a dead end: pods that were
// asked about are left, and none of them has a node. Pods that have none for now are tried
// again later, so that such a state is the only way to fail; but see must.
type worstCase struct {
	m      *model
	s      *state
	budget *int
	seen   map[string]bool
	// must are classes that could evict others while they have no node: they have to have
	// one in every state.
	must []bool
	// stuck are those that were left in the dead end.
	stuck []int
}

// deadEnd returns whether there is one. The state and stuck describe it; sure is false where
// the budget ended first.
func (a *worstCase) deadEnd() (found, sure bool) {
	if a.walk() {
		return true, true
	}
	return false, *a.budget > 0
}

func (a *worstCase) walk() bool {
	if *a.budget <= 0 {
		return false
	}
	options := make([][]int, len(a.m.classes))
	waits, open := []int(nil), false
	for c, k := range a.m.classes {
		if a.s.left[c] == 0 {
			continue
		}
		options[c] = a.s.distinct(c, a.budget)
		if k.asked {
			waits = append(waits, c)
			open = open || len(options[c]) > 0
		}
		if a.must[c] && len(options[c]) == 0 {
			a.stuck = []int{c}
			return true
		}
	}
	if len(waits) > 0 && !open {
		a.stuck = waits
		return true
	}
	if len(waits) == 0 && !slices.Contains(a.must, true) {
		return false
	}
	for c, nodes := range options {
		for _, n := range nodes {
			if a.step(c, n) {
				return true
			}
		}
	}
	return false
}

func (a *worstCase) step(c, n int) bool {
	a.s.place(c, n)
	if key := a.s.key(); !a.seen[key] {
		a.seen[key] = true
		if a.walk() {
			return true
		}
	}
	a.s.take(c, n)
	return false
}
