package schedule

import (
	"cmp"
	"slices"
)

// This file and block.go prove that a pod finds a node whatever the scheduler does with the
// others, and in whichever order.
//
// Let F be the nodes that take pod p now, beside every pod that is there, and let the others
// be all pods that are to be placed and could have one of these nodes. No pod that is there
// leaves in the meantime but those that are ending, and that only makes room. So a node n of
// F can refuse p later for two reasons only: others were placed on it that take more of some
// resource than free(n) - want(p), or another that must not be in one domain with p was
// placed in a domain of n. One pod has one node. So the nodes that others can close
//
//   - by a resource are at most k, if the k nodes of F that need the least are as much as
//     all the others want together, and the k+1 such nodes are more;
//   - by a domain are at most the sizes, in F, of as many domains as there are such pods;
//   - in all are at most as many as there are others, each counted with its largest domain
//     of each part.
//
// If the sum over resources and parts, or the last number, is less than |F|, p finds a node
// at any time. That needs no order, so that it holds for all pods of which it is shown.

// others are the pods of a model but one of a class, that could come near a set of nodes.
type others struct {
	m *model
	// of is the class of the pod itself.
	of int
	// gone are the nodes each class could have once pods that are ending have gone.
	nodes nodeSet
	near  []int
}

func (m *model) othersNear(c int, nodes nodeSet) *others {
	o := &others{m: m, of: c, nodes: nodes, near: make([]int, len(m.classes))}
	for i, k := range m.classes {
		n := k.count()
		if i == c {
			n--
		}
		if n > 0 && k.in[gone].meets(nodes) {
			o.near[i] = n
		}
	}
	return o
}

// closable is a bound on how many of the nodes others can close to a pod of the class.
func (o *others) closable() int {
	sum := 0
	for k, v := range o.m.classes[o.of].of.want {
		if v > 0 {
			sum += o.byResource(k, v)
		}
	}
	byPod, byDomain := o.byConflicts()
	return min(sum+byDomain, byPod)
}

// byResource counts the nodes that can be filled up to where the class does not fit.
func (o *others) byResource(k int, want int64) int {
	total, step := int64(0), int64(0)
	for i, n := range o.near {
		if v := o.m.classes[i].of.want[k]; n > 0 && v > 0 {
			total += int64(n) * v
			step = gcd(step, v)
		}
	}
	if total == 0 {
		return 0
	}
	var needs []int64
	o.nodes.each(func(n int) {
		// What others take is a multiple of step.
		need := o.m.free[n*o.m.dims+k] - want + 1
		need = (need + step - 1) / step * step
		if need <= total {
			needs = append(needs, need)
		}
	})
	slices.Sort(needs)
	closed := 0
	for _, need := range needs {
		if total -= need; total < 0 {
			break
		}
		closed++
	}
	return closed
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// byConflicts counts by pods and by domains.
func (o *others) byConflicts() (byPod, byDomain int) {
	reach := make([]int, len(o.near))
	parts := map[*part]int{}
	for _, k := range o.m.conflicts[o.of] {
		n := o.far(k.other)
		if n == 0 {
			continue
		}
		parts[k.part] += n
		sizes := o.sizes(k.part, o.m.classes[k.other].in[gone])
		if len(sizes) > 0 {
			reach[k.other] += sizes[0]
		}
	}
	for i, r := range reach {
		byPod += max(r, min(o.near[i], 1)) * o.far(i)
	}
	for p, n := range parts {
		sizes := o.sizes(p, nil)
		for _, size := range sizes[:min(n, len(sizes))] {
			byDomain += size
		}
	}
	return byPod, byDomain
}

// far counts the other pods of a class, wherever they may go: in a wide domain a pod closes
// nodes that it could not have itself.
func (o *others) far(i int) int {
	n := o.m.classes[i].count()
	if i == o.of {
		n--
	}
	return n
}

// sizes lists how many of the nodes each domain has, the largest first; of those domains
// that a set of nodes reaches, if one is given.
func (o *others) sizes(p *part, reached nodeSet) []int {
	count := make([]int, p.domains)
	o.nodes.each(func(n int) {
		if d := p.of[n]; d >= 0 {
			count[d]++
		}
	})
	if reached != nil {
		hit := make([]bool, p.domains)
		reached.each(func(n int) {
			if d := p.of[n]; d >= 0 {
				hit[d] = true
			}
		})
		for d := range count {
			if !hit[d] {
				count[d] = 0
			}
		}
	}
	slices.SortFunc(count, func(a, b int) int { return cmp.Compare(b, a) })
	return slices.DeleteFunc(count, func(n int) bool { return n == 0 })
}

// room says that a pod of the class finds one of the nodes at any time.
func (m *model) room(c int, nodes nodeSet) bool {
	return !nodes.empty() && m.othersNear(c, nodes).closable() < nodes.count()
}

// sureness is how far it is shown that the pods of a class find nodes.
type sureness uint8

const (
	unshown sureness = iota
	// later says that they do once others have been placed, which is sure to happen.
	later
	// always says that they do at any time.
	always
)

// shownByCounting applies the argument above to the class. Affinity and spread are reduced to it:
// see withAffinity and withSpread.
func (m *model) shownByCounting(c int, sure []sureness) sureness {
	switch a, s := m.affinity[c], m.spread[c]; {
	case len(a) == 0 && len(s) == 0:
		if m.room(c, m.in[c]) {
			return always
		}
	case len(s) == 0 && len(a) == 1 && len(a[0].parts) == 1:
		return m.withAffinity(c, a[0], sure)
	case len(a) == 0 && m.withSpread(c, s):
		return always
	}
	return unshown
}

// nodesWithin is the part of the class's nodes that are in one of the domains.
func (m *model) nodesWithin(c int, p *part, in func(int32) bool) nodeSet {
	out := newNodeSet(len(m.g.nodes))
	m.in[c].each(func(n int) {
		if d := p.of[n]; d >= 0 && in(d) {
			out.add(n)
		}
	})
	return out
}

// withAffinity: where a pod that is meant stays, its domain stays open, so that room in all
// such domains together is enough. Where there is none yet, one may come in any domain that
// a meant pod could have; each of these alone needs room. A class that means itself may go
// anywhere before the first; another has to wait until one is sure to have come.
func (m *model) withAffinity(c int, r *affinityRule, sure []sureness) sureness {
	p := r.parts[0]
	firm := func(d int32) bool { return r.firm[0][d] > 0 }
	if slices.ContainsFunc(r.firm[0], func(n int32) bool { return n > 0 }) && m.room(c, m.nodesWithin(c, p, firm)) {
		return always
	}
	land := make([]bool, p.domains)
	for d, n := range r.base[0] {
		land[d] = n > 0
	}
	comes := r.self && r.total == 0
	for i, k := range m.classes {
		if !r.means[i] {
			continue
		}
		k.in[gone].each(func(n int) {
			if d := p.of[n]; d >= 0 {
				land[d] = true
			}
		})
		keyed := true
		k.in[gone].each(func(n int) { keyed = keyed && p.of[n] >= 0 })
		comes = comes || i != c && k.asked && sure[i] == always && keyed
	}
	if !comes {
		return unshown
	}
	for d, can := range land {
		if can && !m.room(c, m.nodesWithin(c, p, func(e int32) bool { return e == int32(d) })) {
			return unshown
		}
	}
	if r.self && r.total == 0 {
		return always
	}
	return later
}
