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
		var key []byte
		for k := range m.dims {
			key = binary.AppendVarint(key, m.free[n*m.dims+k])
		}
		for i := range m.classes {
			key = append(key, bit(m.in[i].has(n)))
		}
		domain := func(p *part) {
			switch d := p.of[n]; {
			case d < 0:
				key = append(key, 0)
			case p.single:
				key = append(key, 1)
			default:
				key = binary.AppendVarint(append(key, 2), int64(d))
			}
		}
		for _, c := range m.clusters {
			domain(c.part)
		}
		for _, r := range m.affinityAll {
			for k, p := range r.parts {
				domain(p)
				if d := p.of[n]; d >= 0 {
					key = binary.AppendVarint(key, int64(r.base[k][d]))
				}
			}
		}
		for _, r := range m.spreadAll {
			domain(r.part)
			if d := r.part.of[n]; d >= 0 {
				key = binary.AppendVarint(key, int64(r.base[d]))
			}
			key = append(key, bit(r.counted.has(n)))
		}
		number, ok := numbers[string(key)]
		if !ok {
			number = int32(len(numbers))
			numbers[string(key)] = number
		}
		m.kind = append(m.kind, number)
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
