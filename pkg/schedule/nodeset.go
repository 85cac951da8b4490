package schedule

import "math/bits"

// nodeSet is a set of nodes, by index.
type nodeSet []uint64

func newNodeSet(n int) nodeSet { return make(nodeSet, (n+63)/64) }

func (s nodeSet) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s nodeSet) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

func (s nodeSet) isSubset(o nodeSet) bool {
	for i, w := range s {
		if w&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (s nodeSet) list() []int {
	var out []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, i<<6+bits.TrailingZeros64(w))
		}
	}
	return out
}
