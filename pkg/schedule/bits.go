package schedule

import "math/bits"

// nodeSet is a set of nodes, by index.
type nodeSet []uint64

func newNodeSet(n int) nodeSet { return make(nodeSet, (n+63)/64) }

func (s nodeSet) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s nodeSet) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

func (s nodeSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s nodeSet) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s nodeSet) meets(o nodeSet) bool {
	for i, w := range s {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

func (s nodeSet) isSubset(o nodeSet) bool {
	for i, w := range s {
		if w&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (s nodeSet) join(o nodeSet) {
	for i, w := range o {
		s[i] |= w
	}
}

// each calls do with every member, in order.
func (s nodeSet) each(do func(int)) {
	for i, w := range s {
		for w != 0 {
			do(i<<6 + bits.TrailingZeros64(w))
			w &= w - 1
		}
	}
}

func (s nodeSet) list() []int {
	out := make([]int, 0, s.count())
	s.each(func(i int) { out = append(out, i) })
	return out
}
