package schedule

import (
	"encoding/binary"
)

// sortKinds numbers the kinds of nodes: of one kind are those with as much room, open to
// the same classes, and alike to every rule. In a part where no domain has two nodes the
// domain itself tells them apart only by what is counted there.
func (m *model) sortKinds() {
	numbers := map[string]int32{}
	for _, n := range m.nodes {
		key := m.kindOf(n)
		number, ok := numbers[string(key)]
		if !ok {
			number = int32(len(numbers))
			numbers[string(key)] = number
		}
		m.kind = append(m.kind, number)
	}
}

func (m *model) kindOf(n int) []byte {
	var key []byte
	for k := range m.dims {
		key = binary.AppendVarint(key, m.free[n*m.dims+k])
	}
	for i := range m.classes {
		key = append(key, bit(m.in[i].has(n)))
	}
	for _, c := range m.clusters {
		key = c.part.mark(key, n, nil)
	}
	for _, r := range m.affinityAll {
		for k, p := range r.parts {
			key = p.mark(key, n, r.base[k])
		}
	}
	for _, r := range m.spreadAll {
		key = append(r.part.mark(key, n, r.base), bit(r.counted.has(n)))
	}
	return key
}

// mark adds the domain of a node, and what is counted there.
func (p *part) mark(key []byte, n int, counts []int32) []byte {
	d := p.of[n]
	switch {
	case d < 0:
		return append(key, 0)
	case p.single:
		key = append(key, 1)
	default:
		key = binary.AppendVarint(append(key, 2), int64(d))
	}
	if counts != nil {
		key = binary.AppendVarint(key, int64(counts[d]))
	}
	return key
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
