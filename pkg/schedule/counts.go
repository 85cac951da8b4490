package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// findProofs shows why classes of the pods to place do not fit, where that is certain: it
// counts no pod that may leave, and no rule that other pods may change.
func (q *question) findProofs(o *occupancy) {
	var rest []*count
	for _, k := range q.asked {
		if k.lost != nil {
			q.prove(Reason{Pods: k.names(), Reason: k.lost.Reason, Message: k.lost.Message})
			continue
		}
		if k.foreign {
			continue
		}
		c := o.count(k)
		if len(c.nodes) == 0 {
			q.prove(c.noNode())
		} else if p, ok := c.tooMany(); ok {
			q.prove(p)
		} else {
			rest = append(rest, c)
		}
	}
	slices.SortStableFunc(rest, func(a, b *count) int { return cmp.Compare(len(a.nodes), len(b.nodes)) })
	proven := map[*count]bool{}
	for _, c := range rest {
		if !proven[c] {
			q.tooMuch(c, rest, proven)
		}
	}
}

// prove adds a reason, and joins it to one of the same words about other pods.
func (q *question) prove(p Reason) {
	for i := range q.proofs {
		if o := &q.proofs[i]; o.Reason == p.Reason && o.Message == p.Message && slices.EqualFunc(o.Nodes, p.Nodes, func(a, b NodeReason) bool { return a.Message == b.Message && slices.Equal(a.Nodes, b.Nodes) }) {
			o.Pods = append(o.Pods, p.Pods...)
			return
		}
	}
	q.proofs = append(q.proofs, p)
}

// count is how many pods of a class its nodes take, each on its own.
type count struct {
	*class
	o      *occupancy
	filter *podFilter
	set    nodeSet
	// nodes are those that pass all filters, takes how many pods each of them has room for.
	nodes []int
	takes []int
	// ends is the dimension that ends on each of them.
	ends []int
}

func (o *occupancy) count(k *class) *count {
	c := &count{class: k, o: o, filter: o.podFilter(k), set: newNodeSet(len(o.nodes))}
	for _, n := range k.nodes {
		if c.filter.filter(n) != passes {
			continue
		}
		room, dim := o.room(k.candidate, n)
		c.set.add(n)
		c.nodes, c.takes, c.ends = append(c.nodes, n), append(c.takes, int(min(room, int64(len(k.members))))), append(c.ends, dim)
	}
	return c
}

// noNode says why no node takes a class: each node says why.
func (c *count) noNode() Reason {
	nodes := c.o.explain(c.candidate, c.filter.rejections())
	p := Reason{Pods: c.names(), Nodes: nodes, Reason: nodes[0].Reason, Message: "no node takes it: "}
	for i, n := range nodes {
		if i == 3 && len(nodes) > 4 {
			p.Message += fmt.Sprintf("; and %d reasons more", len(nodes)-3)
			break
		}
		if i > 0 {
			p.Message += "; "
		}
		p.Message += object.Count(len(n.Nodes), "node") + ": " + n.Message
	}
	p.Message += c.evenWithout()
	return p
}

// evenWithout says which pods a reason leaves out, if leaving them out makes a difference.
func (c *count) evenWithout() string {
	terminating, evicted := false, false
	for i := range c.o.bound {
		b := &c.o.bound[i]
		if !b.leaves || !c.o.filterNode(c.candidate, b.node).isIntended() {
			continue
		}
		terminating = terminating || b.pod.DeletionTimestamp != nil
		evicted = evicted || b.pod.DeletionTimestamp == nil
	}
	switch {
	case evicted:
		return ", even if all pods of a lower priority were evicted"
	case terminating:
		return ", even once the pods that are terminating are gone"
	}
	return ""
}

// tooMany proves that a class has more pods than its nodes take.
func (c *count) tooMany() (Reason, bool) {
	total, reasons := 0, map[string]int{}
	for i, n := range c.takes {
		total += n
		if n < len(c.members) {
			reasons[c.o.dims[c.ends[i]].reason]++
		}
	}
	common := mostly(reasons)
	fewer := func(n int, reason string) {
		if n < total {
			total, common = n, reason
		}
	}
	if len(c.single) > 0 {
		fewer(1, reasonClaim)
	}
	if portsClash(c.ports, c.ports) {
		fewer(c.onePerDomain(byNode), reasonPort)
	}
	if disksClash(c.disks, c.disks) {
		fewer(c.onePerDomain(byNode), reasonDisk)
	}
	if !c.bypasses() {
		for _, t := range c.anti {
			if c.o.matches(t, c.pod) {
				fewer(c.onePerDomain(t.key), reasonAnti)
			}
		}
		for _, s := range c.o.spreadCounts(c.class) {
			if n, ok := c.spreadOut(&s); ok {
				fewer(n, reasonSpread)
			}
		}
	}
	if total >= len(c.members) {
		return Reason{}, false
	}
	nodes := c.o.explain(c.candidate, c.filter.rejections())
	for i, n := range c.nodes {
		takes, limit := c.takes[i], common
		if slices.Contains([]string{reasonPort, reasonDisk, reasonAnti}, common) {
			takes = min(takes, 1)
		} else if takes < len(c.members) {
			limit = c.o.dims[c.ends[i]].reason
		}
		nodes = addNode(nodes, c.o.nodes[n].Name, limit, fmt.Sprintf("takes at most %d (%s)", takes, limit))
	}
	return Reason{Pods: c.names(), Reason: common, Message: fmt.Sprintf("at most %d of %d fit: %s", total, len(c.members), c.o.boundWords(common, c.candidate)) + c.evenWithout(), Nodes: sortNodes(nodes)}, true
}

// onePerDomain counts what fits with one pod in each domain of a topology.
func (c *count) onePerDomain(key string) int {
	t, sum := c.o.topology(key), 0
	seen := make([]bool, t.count)
	for i, n := range c.nodes {
		switch d := t.domain[n]; {
		case d < 0:
			sum += c.takes[i]
		case c.takes[i] > 0 && !seen[d]:
			seen[d] = true
			sum++
		}
	}
	return sum
}

// spreadOut counts what fits with a spread constraint: when all are placed, no domain has
// more than the skew above the least, and the least has no more than it takes. It is not
// certain where other pods count, and may change.
func (c *count) spreadOut(s *spreadCounts) (int, bool) {
	if s.self == 0 || !s.spread.counts(c.pod) || c.o.mayChange(c.class, s.spread.counts) {
		return 0, false
	}
	fits := make([]int, s.topology.count)
	for i, n := range c.nodes {
		if d := s.topology.domain[n]; d >= 0 {
			fits[d] += c.takes[i]
		}
	}
	full, sum := slices.Clone(s.counts), 0
	for d := range full {
		full[d] += fits[d]
	}
	least := s.least(full)
	for d, n := range fits {
		sum += max(0, min(n, least+s.skew-s.counts[d]))
	}
	return sum, true
}

// tooMuch proves that all classes whose nodes are among those of one class want more of
// something than these nodes have.
func (q *question) tooMuch(c *count, all []*count, proven map[*count]bool) {
	for d, dim := range q.dims {
		wanted, supply := int64(0), int64(0)
		var names []string
		var part []*count
		for _, k := range all {
			if v := k.want[d]; v > 0 && k.set.isSubset(c.set) {
				wanted += v * int64(len(k.members))
				names = append(names, k.names()...)
				part = append(part, k)
			}
		}
		for _, n := range c.nodes {
			supply += max(0, c.o.free[n*len(q.dims)+d])
		}
		if wanted <= supply {
			continue
		}
		for _, k := range part {
			proven[k] = true
		}
		x, y := dim.pair(wanted, supply)
		q.prove(Reason{
			Pods: names, Reason: dim.reason,
			Message: fmt.Sprintf("together they want %s of %s, and the %s that take them %s %s free", x, dim.words(), object.Count(len(c.nodes), "node"), plural(len(c.nodes), "has", "have"), y) + c.evenWithout(),
			Nodes:   c.o.explain(c.candidate, c.filter.rejections()),
		})
		return
	}
}
