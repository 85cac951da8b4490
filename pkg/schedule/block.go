package schedule

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// blocking looks for a way in which others close all nodes of a class, node by node. It is
// complete for a class whose own rules do not reach beyond a node: which of the others are
// where on its nodes is then all that matters. Rules that the others have among each other
// beyond a node are left out, which gives the scheduler more choices than it has: to find
// no way is a proof all the same, and a way that was found is real only if there are none.
type blocking struct {
	m      *model
	c      int
	nodes  []int
	avail  []int
	budget *int
	failed map[string]bool
	// used is what the way found so far puts on each node.
	used [][]int
	// after are the nodes from each one on.
	after []nodeSet
}

// local says that no rule of a class reaches beyond a node.
func (m *model) local(c int) bool {
	return len(m.affinity[c]) == 0 && len(m.spread[c]) == 0 && !slices.ContainsFunc(m.conflicts[c], func(k conflict) bool { return !k.part.single })
}

// blockable returns whether others can close all nodes of a class, and how; sure is false
// where the budget ended before that was known.
func (m *model) blockable(c int, budget *int) (way *blocking, sure bool) {
	b := &blocking{m: m, c: c, nodes: m.in[c].list(), budget: budget, failed: map[string]bool{}}
	kind := map[int]int32{}
	for k, n := range m.nodes {
		kind[n] = m.kind[k]
	}
	slices.SortStableFunc(b.nodes, func(x, y int) int { return int(kind[x]) - int(kind[y]) })
	b.avail = m.othersNear(c, m.in[c]).near
	b.used = make([][]int, len(b.nodes))
	for i := range b.nodes {
		b.used[i] = make([]int, len(m.classes))
		rest := newNodeSet(len(m.g.nodes))
		for _, n := range b.nodes[i:] {
			rest.add(n)
		}
		b.after = append(b.after, rest)
	}
	// The lists of the nodes from each one on would be too much of a big cluster.
	if b.close(0) {
		return b, true
	}
	return nil, *budget > 0
}

// close closes the nodes from the i-th on.
func (b *blocking) close(i int) bool {
	if i == len(b.nodes) {
		return true
	}
	*b.budget -= len(b.nodes) - i
	if *b.budget <= 0 {
		return false
	}
	o := others{m: b.m, of: b.c, nodes: b.after[i], near: b.avail}
	if o.closable() < len(b.nodes)-i {
		return false
	}
	key := []byte{}
	key = binary.AppendUvarint(key, uint64(i))
	for _, n := range b.avail {
		key = binary.AppendUvarint(key, uint64(n))
	}
	if b.failed[string(key)] {
		return false
	}
	if b.fill(i, 0) {
		return true
	}
	b.failed[string(key)] = true
	return false
}

// fill adds pods of the classes from the given one on to the i-th node, until it is closed.
func (b *blocking) fill(i, from int) bool {
	*b.budget--
	if *b.budget <= 0 {
		return false
	}
	if b.closed(i) {
		return b.close(i + 1)
	}
	for k := from; k < len(b.avail); k++ {
		if b.avail[k] == 0 || !b.takes(i, k) {
			continue
		}
		b.avail[k]--
		b.used[i][k]++
		if b.fill(i, k) {
			return true
		}
		b.avail[k]++
		b.used[i][k]--
	}
	return false
}

// closed says that the class itself finds no place beside what is on the i-th node.
func (b *blocking) closed(i int) bool {
	n := b.nodes[i]
	for _, k := range b.m.conflicts[b.c] {
		if b.used[i][k.other] > 0 && k.part.of[n] >= 0 {
			return true
		}
	}
	for d, want := range b.m.classes[b.c].of.want {
		if want > 0 && want+b.taken(i, d) > b.m.g.free[now][n*b.m.dims+d] {
			return true
		}
	}
	return false
}

// takes says that one more of a class fits on the i-th node beside what is there, once pods
// that are ending have gone.
func (b *blocking) takes(i, k int) bool {
	n := b.nodes[i]
	if !b.m.classes[k].in[gone].has(n) {
		return false
	}
	for _, c := range b.m.conflicts[k] {
		if b.used[i][c.other] > 0 && c.part.of[n] >= 0 {
			return false
		}
	}
	for d, want := range b.m.classes[k].of.want {
		if want > 0 && want+b.taken(i, d) > b.m.g.free[gone][n*b.m.dims+d] {
			return false
		}
	}
	return true
}

func (b *blocking) taken(i, d int) int64 {
	sum := int64(0)
	for k, n := range b.used[i] {
		sum += int64(n) * b.m.classes[k].of.want[d]
	}
	return sum
}

// describe writes what is where when no node is left.
func (b *blocking) describe() string {
	at := make([][]int16, len(b.nodes))
	for i, used := range b.used {
		at[i] = make([]int16, len(used))
		for k, n := range used {
			at[i][k] = int16(n)
		}
	}
	return b.m.describe(b.nodes, at)
}

// describe writes which pods are on which node: web on node-1, 2 of api on node-2.
func (m *model) describe(nodes []int, at [][]int16) string {
	var parts []string
	next := make([]int, len(m.classes))
	for i, n := range nodes {
		var here []string
		for k, count := range at[i] {
			for range count {
				here = append(here, m.classes[k].members[next[k]%len(m.classes[k].members)].name)
				next[k]++
			}
		}
		if len(here) > 0 {
			parts = append(parts, fmt.Sprintf("%s on %s", people(here), m.g.nodes[n].Name))
		}
	}
	if len(parts) > 4 {
		parts = append(parts[:4], fmt.Sprintf("others on %d nodes more", len(parts)-4))
	}
	return strings.Join(parts, "; ")
}

// people lists names for people, at most four of them.
func people(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
