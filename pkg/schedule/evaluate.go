package schedule

import (
	"slices"
)

// evaluateAlways asks whether what fits does so whatever the scheduler chooses: beside the
// pods that wait, which take part where they could have the same nodes.
func (q *question) evaluateAlways() {
	for _, part := range q.connected(slices.Concat(q.asked, q.waiting)) {
		if slices.ContainsFunc(part, func(c *class) bool { return c.asked }) {
			q.evaluatePart(part)
		}
	}
}

func (q *question) evaluatePart(classes []*class) {
	m := q.newModel(classes, now)
	sure := m.count()
	for c, k := range classes {
		if sure[c] != unshown || !k.asked && !q.mayEvict(m, c) || !m.local(c) {
			continue
		}
		way, known := m.blockable(c, &q.block)
		switch {
		case way == nil && known:
			sure[c] = always
		case way != nil && k.asked && q.real(m):
			q.leave("a placement exists, but the scheduler may choose another: with %s there is no node left for %s", way.describe(), k.members[len(k.members)-1].name)
			return
		}
	}
	must := make([]bool, len(classes))
	done, risk := true, -1
	for c, k := range classes {
		if sure[c] != always && q.mayEvict(m, c) {
			must[c] = true
			risk = c
		}
		done = done && (!k.asked || sure[c] != unshown)
	}
	if done && risk < 0 {
		return
	}
	q.evaluateAll(m, must, risk)
}

// count repeats the argument by counting until it shows no more: affinity rests on others.
func (m *model) count() []sureness {
	sure := make([]sureness, len(m.classes))
	for moved := true; moved; {
		moved = false
		for c := range m.classes {
			if sure[c] != unshown {
				continue
			}
			if sure[c] = m.shownByCounting(c, sure); sure[c] != unshown {
				moved = true
			}
		}
	}
	return sure
}

// real says that a way to close all nodes is one that the scheduler can take: nothing in it
// was left out.
func (q *question) real(m *model) bool {
	if !m.monotone() || q.ending(m) {
		return false
	}
	for _, c := range m.classes {
		if c.of.foreign || c.of.pod.Spec.NodeName != "" {
			return false
		}
	}
	for _, k := range m.clusters {
		if !k.part.single {
			return false
		}
	}
	return true
}

// ending says that pods which are ending hold room on nodes of a model.
func (q *question) ending(m *model) bool {
	nodes := newNodeSet(len(q.nodes))
	for _, n := range m.nodes {
		nodes.add(n)
	}
	for _, c := range m.classes {
		nodes.join(c.in[gone])
	}
	return slices.ContainsFunc(q.settled, func(s boundPod) bool { return s.stays == now && nodes.has(s.node) })
}

// mayEvict says that a class could have pods of a lower priority evicted: then nothing is
// sure, if it ever finds no node.
func (q *question) mayEvict(m *model, c int) bool {
	k := m.classes[c].of
	if !k.evicts {
		return false
	}
	for i, o := range m.classes {
		if i != c && o.of.priority < k.priority && o.in[gone].meets(m.classes[c].in[least]) {
			return true
		}
	}
	return slices.ContainsFunc(q.settled, func(s boundPod) bool {
		return s.stays > now && s.priority < k.priority && m.classes[c].in[least].has(s.node)
	})
}

// evaluateAll tries all that the scheduler may do, or says why that is not known.
func (q *question) evaluateAll(m *model, must []bool, risk int) {
	names := people(askedNames(m))
	if q.ending(m) {
		q.leave("%s: a placement exists, but pods that are ending hold room on its nodes, and the scheduler may choose another", names)
		return
	}
	a := &worstCase{m: m, s: m.start(), budget: &q.worstCase, seen: map[string]bool{}, must: must}
	found, sure := a.deadEnd()
	switch {
	case !sure:
		q.leave("%s: a placement exists, but the scheduler may choose another, and not all that it may choose could be tried", names)
	case found && len(a.stuck) == 1 && must[a.stuck[0]] && risk >= 0:
		k := m.classes[a.stuck[0]].members[0]
		q.leave("%s: a placement exists, but %s could find no node, and has a higher priority than pods that it could have evicted", names, k.name)
	case found:
		left := make([]string, 0, len(a.stuck))
		for _, c := range a.stuck {
			k := m.classes[c]
			left = append(left, k.names()[k.count()-a.s.left[c]:]...)
		}
		q.leave("a placement exists, but the scheduler may choose another: with %s there is no node left for %s", m.describe(m.nodes, a.s.at), people(left))
	}
}

func askedNames(m *model) []string {
	var out []string
	for _, c := range m.classes {
		if c.asked {
			out = append(out, c.names()...)
		}
	}
	return out
}
