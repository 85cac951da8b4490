package schedule

import (
	"encoding/binary"
	"slices"
)

// state is a placement of some of the pods of a model. Placing and taking back are cheap,
// so that searches walk one state to and fro.
type state struct {
	m    *model
	free []int64
	left []int
	// at counts the pods of each class on each node of the model.
	at       [][]int16
	affinity [][][]int32
	total    []int32
	spread   [][]int32
	// present counts classes by clash, domain and class.
	present [][]int32
	// lowest caches the least count of each spread rule, -1 where it is not known.
	lowest []int32
	local  map[int]int
}

func (m *model) start() *state {
	s := &state{m: m, free: slices.Clone(m.free), local: make(map[int]int, len(m.nodes))}
	for _, c := range m.classes {
		s.left = append(s.left, c.count())
	}
	for k, n := range m.nodes {
		s.local[n] = k
		s.at = append(s.at, make([]int16, len(m.classes)))
	}
	for _, r := range m.affinityAll {
		counts := make([][]int32, len(r.parts))
		for k := range r.parts {
			counts[k] = slices.Clone(r.base[k])
		}
		s.affinity = append(s.affinity, counts)
		s.total = append(s.total, r.total)
	}
	for _, r := range m.spreadAll {
		s.spread = append(s.spread, slices.Clone(r.base))
		s.lowest = append(s.lowest, -1)
	}
	for _, c := range m.clusters {
		s.present = append(s.present, make([]int32, c.part.domains*len(m.classes)))
	}
	return s
}

// fits says whether the filters pass for a class on a node.
func (s *state) fits(c, n int) bool {
	m := s.m
	if !m.in[c].has(n) {
		return false
	}
	for k, v := range m.classes[c].of.want {
		if v > 0 && v > s.free[n*m.dims+k] {
			return false
		}
	}
	for _, k := range m.conflicts[c] {
		if d := k.part.of[n]; d >= 0 && s.presentIn(k, d) {
			return false
		}
	}
	for _, r := range m.affinity[c] {
		if !s.affinitySuits(r, n) {
			return false
		}
	}
	for _, r := range m.spread[c] {
		if !s.spreadSuits(r, n) {
			return false
		}
	}
	return true
}

func (s *state) presentIn(k conflict, domain int32) bool {
	return s.present[k.cluster][int(domain)*len(s.m.classes)+k.other] > 0
}

func (s *state) affinitySuits(r *affinityRule, n int) bool {
	there := true
	for k, p := range r.parts {
		d := p.of[n]
		if d < 0 {
			return false
		}
		if s.affinity[r.index][k][d] <= 0 {
			there = false
		}
	}
	return there || s.total[r.index] == 0 && r.self
}

func (s *state) spreadSuits(r *spreadRule, n int) bool {
	d := r.part.of[n]
	if d < 0 {
		return false
	}
	if s.lowest[r.index] < 0 {
		s.lowest[r.index] = r.least(s.spread[r.index])
	}
	return int(s.spread[r.index][d])+r.self-int(s.lowest[r.index]) <= r.skew
}

// least is the count that others are measured by: 0 where there are too few domains.
func (r *spreadRule) least(counts []int32) int32 {
	if len(r.present) < r.minDomains || len(r.present) == 0 {
		return 0
	}
	lowest := int32(1 << 30)
	for _, e := range r.present {
		lowest = min(lowest, counts[e])
	}
	return lowest
}

// place puts a pod of a class on a node, take takes it back.
func (s *state) place(c, n int) { s.move(c, n, 1) }
func (s *state) take(c, n int)  { s.move(c, n, -1) }

func (s *state) move(c, n int, by int32) {
	m := s.m
	s.left[c] -= int(by)
	s.at[s.local[n]][c] += int16(by)
	for k, v := range m.classes[c].of.want {
		s.free[n*m.dims+k] -= int64(by) * v
	}
	for _, k := range m.clusters {
		if d := k.part.of[n]; d >= 0 {
			s.present[k.index][int(d)*len(m.classes)+c] += by
		}
	}
	for _, r := range m.affinityAll {
		if r.means[c] {
			s.moveAffinity(r, n, by)
		}
	}
	for _, r := range m.spreadAll {
		if r.means[c] && r.counted.has(n) {
			s.spread[r.index][r.part.of[n]] += by
			s.lowest[r.index] = -1
		}
	}
}

func (s *state) moveAffinity(r *affinityRule, n int, by int32) {
	any := false
	for k, p := range r.parts {
		if d := p.of[n]; d >= 0 {
			s.affinity[r.index][k][d] += by
			any = true
		}
	}
	if any {
		s.total[r.index] += by
	}
}

// key is equal for states that are alike but for the names of alike nodes.
func (s *state) key() string {
	rows := make([]string, 0, 8)
	for k := range s.at {
		if !slices.ContainsFunc(s.at[k], func(v int16) bool { return v > 0 }) {
			continue
		}
		row := binary.AppendUvarint(nil, uint64(s.m.kind[k]))
		for _, v := range s.at[k] {
			row = binary.AppendUvarint(row, uint64(v))
		}
		rows = append(rows, string(row))
	}
	slices.Sort(rows)
	var out []byte
	for _, r := range rows {
		out = append(out, r...)
	}
	return string(out)
}

// distinct returns the nodes that a class fits on, of those that are alike in this state
// the first one.
func (s *state) distinct(c int, budget *int) []int {
	var out []int
	seen := map[string]bool{}
	for k, n := range s.m.nodes {
		*budget--
		if !s.fits(c, n) {
			continue
		}
		row := binary.AppendUvarint(nil, uint64(s.m.kind[k]))
		for _, v := range s.at[k] {
			row = binary.AppendUvarint(row, uint64(v))
		}
		if !seen[string(row)] {
			seen[string(row)] = true
			out = append(out, n)
		}
	}
	return out
}
