package inventory

// table finds the numbers of values that are stored elsewhere, by hash. A map would store the
// values a second time and take several times the memory: there are as many rows as objects in a
// cluster.
type table struct {
	slots []uint32 // number + 1; 0 is free
	n     int
}

// find returns the number among those with the hash for which same returns true.
func (t *table) find(hash uint64, same func(uint32) bool) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if n := t.slots[i] - 1; same(n) {
			return n, true
		}
	}
	return 0, false
}

// add adds a number that is not in the table. At most half of the slots are used, so that searches
// are short.
func (t *table) add(n uint32, hash func(uint32) uint64) {
	if t.n++; t.n*2 > len(t.slots) {
		old := t.slots
		t.slots = make([]uint32, max(16, len(old)*2))
		for _, s := range old {
			if s != 0 {
				t.put(s, hash(s-1))
			}
		}
	}
	t.put(n+1, hash(n))
}

func (t *table) put(slot uint32, hash uint64) {
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = slot
}
