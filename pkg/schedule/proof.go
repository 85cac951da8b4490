package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// singleReason proves that a class has no node, whatever else is placed: each node says why.
func (q *question) singleReason(c *class) Reason {
	nodes := q.explain(c, c.code[least], q.free[least])
	p := Reason{Pods: c.names(), Nodes: nodes}
	p.Reason = foremost(nodes)
	switch {
	case q.tooBig(c) != "":
		p.Message = q.tooBig(c)
	case len(nodes) == 1:
		p.Message = fmt.Sprintf("no node takes it: %s: %s", nodesOf(len(q.nodes)), nodes[0].Message)
	default:
		p.Message = "no node takes it: "
		for i, n := range nodes {
			if i == 3 && len(nodes) > 4 {
				p.Message += fmt.Sprintf("; and %d reasons more", len(nodes)-3)
				break
			}
			if i > 0 {
				p.Message += "; "
			}
			p.Message += nodesOf(len(n.Nodes)) + ": " + n.Message
		}
	}
	p.Message += q.evenWithout(c)
	return p
}

// evenWithout says which pods a proof leaves out, if leaving them out makes a difference.
func (q *question) evenWithout(c *class) string {
	ending, evicted := false, false
	for i := range q.settled {
		s := &q.settled[i]
		if c.code[least][s.node].shut() {
			continue
		}
		ending = ending || s.stays == now
		evicted = evicted || s.stays == gone
	}
	switch {
	case evicted:
		return ", even if all pods of a lower priority were evicted"
	case ending:
		return ", even once the pods that are ending have gone"
	}
	return ""
}

// foremost is the reason of the most nodes among those that the pod came furthest with.
func foremost(nodes []NodeReason) string {
	best := ""
	count := map[string]int{}
	for _, n := range nodes {
		count[n.Reason] += len(n.Nodes)
	}
	for _, n := range nodes {
		if best == "" || cmp.Or(cmp.Compare(reached(n.Reason), reached(best)), cmp.Compare(count[n.Reason], count[best])) > 0 {
			best = n.Reason
		}
	}
	return best
}

// reached ranks reasons: a node that is not meant for a pod says less of why it has none
// than one that is tainted, and that less than one that is full.
func reached(reason string) int {
	switch reason {
	case "NodeName", "NodeSelector":
		return 0
	case "Cordoned", "Taint":
		return 1
	}
	return 2
}

// tooBig says that a class wants more of something than any node that it may use has even
// empty.
func (q *question) tooBig(c *class) string {
	d := len(q.dims)
	for k, want := range c.of.want {
		if want == 0 || q.dims[k].name == dimPods {
			continue
		}
		most, all, open := int64(0), true, 0
		for n := range q.nodes {
			if c.code[least][n].shut() {
				continue
			}
			open++
			most = max(most, q.alloc[n*d+k])
			all = all && c.code[least][n] == room(k)
		}
		if !all || open == 0 || most >= want {
			continue
		}
		which := "any node"
		if open < len(q.nodes) {
			which = fmt.Sprintf("any of the %s that it may use", nodesOf(open))
		}
		x, y := q.dims[k].pair(want, most)
		if most == 0 {
			return fmt.Sprintf("it wants %s of %s, and none of the %s that it may use has any", x, q.dims[k].words(), nodesOf(open))
		}
		return fmt.Sprintf("it wants %s of %s, more than %s has even empty (at most %s)", x, q.dims[k].words(), which, y)
	}
	return ""
}

// counted looks for a proof by adding up: more of a class than its nodes can hold, or more
// wanted of something than there is.
func (q *question) counted(m *model) (Reason, bool) {
	for c := range m.classes {
		if p, ok := q.tooMany(m, c); ok {
			return p, true
		}
	}
	order := make([]int, len(m.classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.in[a].count(), m.in[b].count()) })
	for _, c := range order {
		if p, ok := q.tooMuch(m, c); ok {
			return p, true
		}
	}
	return Reason{}, false
}

// tooMany proves that a class has more pods than its nodes hold one by one.
func (q *question) tooMany(m *model, c int) (Reason, bool) {
	k := m.classes[c]
	holds, by := q.holds(m, c)
	total, reasons := 0, map[string]int{}
	for n, h := range holds {
		total += h
		reasons[by[n]]++
	}
	why := mostly(reasons)
	if total >= k.count() {
		for _, x := range m.conflicts[c] {
			if x.other == c && !x.part.single {
				if apart := m.byDomain(c, x.part, holds); apart < total {
					total, why = apart, conflictReason(k, x.part)
				}
			}
		}
		for _, r := range m.spread[c] {
			if even := m.bound(c, r, holds); even < total {
				total, why = even, "Spread"
			}
		}
	}
	if total >= k.count() || total == 0 && len(holds) == 0 {
		return Reason{}, false
	}
	nodes := q.explain(k, k.code[least], q.free[least])
	for i, n := range m.in[c].list() {
		if by[i] == "" {
			continue
		}
		nodes = addNode(nodes, q.nodes[n].Name, by[i], holdWords(holds[i], by[i]))
	}
	return Reason{Pods: k.names(), Reason: why, Message: fmt.Sprintf("at most %d of %d fit: %s", total, k.count(), q.boundWords(why, k)) + q.evenWithout(k), Nodes: sortNodes(nodes)}, true
}

// holds counts how many of a class each of its nodes takes, and what stops the next.
func (q *question) holds(m *model, c int) (holds []int, by []string) {
	k := m.classes[c]
	selfish := ""
	for _, x := range m.conflicts[c] {
		if x.other == c && x.part.single && selfish == "" {
			selfish = conflictReason(k, x.part)
		}
	}
	m.in[c].each(func(n int) {
		most, why := int64(k.count()), ""
		for d, want := range k.of.want {
			if want > 0 {
				if h := m.free[n*m.dims+d] / want; h < most {
					most, why = h, q.dims[d].reason
				}
			}
		}
		if selfish != "" && most > 1 && q.apartOn(m, c, n) {
			most, why = 1, selfish
		}
		holds = append(holds, int(most))
		by = append(by, why)
	})
	return holds, by
}

// apartOn says that two pods of a class cannot be on one node: the node has the key.
func (q *question) apartOn(m *model, c, n int) bool {
	return slices.ContainsFunc(m.conflicts[c], func(x conflict) bool { return x.other == c && x.part.of[n] >= 0 })
}

func conflictReason(c *class, p *part) string {
	switch {
	case p.key == partCluster:
		return "ClaimInUse"
	case p.key == partNode && len(c.of.ports) > 0:
		return "Port"
	case p.key == partNode:
		return "DiskConflict"
	}
	return "AntiAffinity"
}

// byDomain counts what fits with one pod in each domain of a part.
func (m *model) byDomain(c int, p *part, holds []int) int {
	sum, seen := 0, make([]bool, p.domains)
	for i, n := range m.in[c].list() {
		switch d := p.of[n]; {
		case d < 0:
			sum += holds[i]
		case holds[i] > 0 && !seen[d]:
			seen[d] = true
			sum++
		}
	}
	return sum
}

// bound counts what fits with a spread: when all are placed, no domain has more than the
// skew above the least, and the least has no more than it can hold.
func (m *model) bound(c int, r *spreadRule, holds []int) int {
	for i, means := range r.means {
		if means && i != c {
			return 1 << 30
		}
	}
	if !r.means[c] || r.self == 0 {
		return 1 << 30
	}
	fits := make([]int, r.part.domains)
	for i, n := range m.in[c].list() {
		if d := r.part.of[n]; d >= 0 {
			fits[d] += holds[i]
		}
	}
	least := 1 << 30
	for _, d := range r.present {
		least = min(least, int(r.base[d])+fits[d])
	}
	if len(r.present) < r.minDomains {
		least = 0
	}
	sum := 0
	for d, n := range fits {
		sum += max(0, min(n, least+r.skew-int(r.base[d])))
	}
	return sum
}

// tooMuch proves that all classes whose nodes are among those of one class want more of
// something than these nodes have.
func (q *question) tooMuch(m *model, c int) (Reason, bool) {
	for d := range q.dims {
		wanted, supply := int64(0), int64(0)
		var names []string
		for i, k := range m.classes {
			if v := k.of.want[d]; v > 0 && m.in[i].isSubset(m.in[c]) {
				wanted += v * int64(k.count())
				names = append(names, k.names()...)
			}
		}
		m.in[c].each(func(n int) { supply += max(0, m.free[n*m.dims+d]) })
		if wanted <= supply {
			continue
		}
		x, y := q.dims[d].pair(wanted, supply)
		count := m.in[c].count()
		return Reason{
			Pods: names, Reason: q.dims[d].reason,
			Message: fmt.Sprintf("together they want %s of %s, and the %s that take them %s %s free", x, q.dims[d].words(), nodesOf(count), plural(count, "has", "have"), y) + q.evenWithout(m.classes[c]),
			Nodes:   q.explain(m.classes[c], m.classes[c].code[least], q.free[least]),
		}, true
	}
	return Reason{}, false
}

// together names pods that were tried in all ways: as few of them as still do not fit.
func (q *question) together(m *model) Reason {
	classes := m.classes
	if m.monotone() {
		for i := len(classes) - 1; i >= 0 && len(classes) > 1; i-- {
			without := slices.Delete(slices.Clone(classes), i, i+1)
			if found := q.newModel(without, least).arrange(&q.arrange); found.tried {
				classes = without
			}
		}
		m = q.newModel(classes, least)
	}
	s, out := m.start(), arrangement{nodes: make([][]int, len(classes))}
	s.greedy(m.orders()[0], (*state).first, &out)
	p := Reason{Pods: namesOf(classes), Message: "they do not fit together: all ways to place them were tried"}
	for c := range classes {
		if s.left[c] > 0 {
			p.Nodes = q.explainState(s, c)
			p.Reason = foremost(p.Nodes)
			break
		}
	}
	return p
}
