package inventory

import (
	"hash/maphash"
	"strings"
)

// seed makes hashes unpredictable, so that an attacker cannot choose names that collide.
var seed = maphash.MakeSeed()

// symbols numbers strings; the empty string is 0.
type symbols struct {
	list  []string
	index table
	texts texts
}

func newSymbols() symbols { return symbols{list: []string{""}} }

func (s *symbols) number(v string) uint32 {
	if n, ok := s.find(v); ok {
		return n
	}
	n := uint32(len(s.list))
	s.list = append(s.list, s.texts.clone(v))
	s.index.add(n, func(n uint32) uint64 { return maphash.String(seed, s.list[n]) })
	return n
}

func (s *symbols) find(v string) (uint32, bool) {
	if v == "" {
		return 0, true
	}
	return s.index.find(maphash.String(seed, v), func(n uint32) bool { return s.list[n] == v })
}

// texts copies strings, many into one block. A string from the decoder may be a slice of a whole
// object or page, and would keep that in memory.
type texts struct{ block strings.Builder }

const blockSize = 1 << 14

func (t *texts) clone(s string) string {
	if len(s) > blockSize/8 {
		return strings.Clone(s)
	}
	if t.block.Len()+len(s) > t.block.Cap() {
		// Strings that were cut from the old block still reference it.
		t.block = strings.Builder{}
		t.block.Grow(blockSize)
	}
	start := t.block.Len()
	t.block.WriteString(s)
	return t.block.String()[start:]
}
