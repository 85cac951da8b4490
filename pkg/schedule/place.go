package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// The budgets of the searches, in nodes looked at: together about a second.
const (
	budgetArrange   = 1_000_000
	budgetWorstCase = 1_500_000
	budgetBlock     = 400_000
)

// Place foresees whether pods find nodes, together and beside the pods that wait already.
func (c *Cluster) Place(pods []Pod) Result {
	if len(pods) == 0 {
		return Result{Verdict: Fits}
	}
	if c.Unread.Nodes {
		return Result{Verdict: Unknown, Unknown: []string{"nodes could not be read"}}
	}
	g := newClusterState(c, pods)
	if len(g.nodes) == 0 {
		names := make([]string, 0, len(pods))
		for _, p := range pods {
			names = append(names, p.Name)
		}
		return Result{Verdict: DoesNotFit, Proofs: []Reason{{Pods: names, Reason: "NoNodes", Message: "the cluster has no nodes"}}}
	}
	q := &question{clusterState: g, arrange: budgetArrange, worstCase: budgetWorstCase, block: budgetBlock}
	return q.answer(g.classes())
}

// question is what is gathered on the way to an answer.
type question struct {
	*clusterState
	arrange, worstCase, block int

	asked, waiting []*class
	proofs         []Reason
	open           []string
	placed         []placement
	// evicted says that some only found a node without pods that could be evicted or end.
	unplaced bool
}

type placement struct {
	c    *candidate
	node int
}

func (q *question) answer(classes []*class) Result {
	for _, c := range classes {
		switch {
		case !c.asked:
			c.dead = c.of.lost != nil || c.in[least].empty()
			if !c.dead {
				q.waiting = append(q.waiting, c)
			}
		case q.evaluateSingle(c):
			q.asked = append(q.asked, c)
		}
	}
	for _, part := range q.connected(q.asked) {
		q.evaluateJointly(part)
	}
	a := Result{Proofs: q.proofs, Unknown: q.open}
	if len(q.proofs) > 0 {
		a.Verdict = DoesNotFit
		return a
	}
	if !q.unplaced && len(q.open) == 0 {
		q.evaluateAlways()
		a.Unknown = q.open
	}
	if !q.unplaced {
		a.Placement = q.placements()
	}
	a.Verdict = Fits
	if len(q.open) > 0 {
		a.Verdict = Unknown
	}
	return a
}

func (q *question) placements() []Placed {
	slices.SortFunc(q.placed, func(a, b placement) int { return cmp.Compare(a.c.asked, b.c.asked) })
	out := make([]Placed, 0, len(q.placed))
	for _, p := range q.placed {
		out = append(out, Placed{Pod: p.c.name, Node: q.nodes[p.node].Name})
	}
	return out
}

func (q *question) leave(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(q.open, s) {
		q.open = append(q.open, s)
	}
}

// evaluateSingle notes what is lost or open of a class on its own, and says whether it is to be
// placed with others.
func (q *question) evaluateSingle(c *class) bool {
	switch {
	case c.of.lost != nil:
		q.prove(Reason{Pods: c.names(), Reason: c.of.lost.Reason, Message: c.of.lost.Message})
		return false
	case c.of.foreign:
		q.unplaced = true
	case c.in[least].empty():
		q.prove(q.singleReason(c))
		return false
	}
	for _, o := range c.of.open {
		q.leave("%s: %s", people(c.names()), o)
	}
	if q.Unread.Pods {
		q.leave("not all pods of the cluster could be read, so the free room is unknown")
	}
	return !c.of.foreign
}

// prove adds a proof, and joins it to one of the same words about other pods.
func (q *question) prove(p Reason) {
	for i := range q.proofs {
		if o := &q.proofs[i]; o.Reason == p.Reason && o.Message == p.Message && slices.EqualFunc(o.Nodes, p.Nodes, func(a, b NodeReason) bool { return a.Message == b.Message && slices.Equal(a.Nodes, b.Nodes) }) {
			o.Pods = append(o.Pods, p.Pods...)
			return
		}
	}
	q.proofs = append(q.proofs, p)
}

// evaluateJointly looks for a proof against classes that share nodes, and for a placement.
func (q *question) evaluateJointly(classes []*class) {
	model := q.newModel(classes, least)
	if p, ok := q.counted(model); ok {
		q.prove(p)
		return
	}
	beside := q.newModel(classes, now)
	found := beside.arrange(&q.arrange)
	if found.done {
		for i, nodes := range found.nodes {
			for k, n := range nodes {
				q.placed = append(q.placed, placement{classes[i].members[k], n})
			}
		}
		return
	}
	q.unplaced = true
	without := model.arrange(&q.arrange)
	switch {
	case without.done:
		q.leave("%s: there is room only once terminating pods are gone, pods of a lower priority are evicted, or pending pods are placed", people(namesOf(classes)))
	case without.tried:
		q.prove(q.together(model))
	default:
		q.leave("%s: no placement was found, and not all could be tried", people(namesOf(classes)))
	}
}

func namesOf(classes []*class) []string {
	var out []string
	for _, c := range classes {
		out = append(out, c.names()...)
	}
	return out
}
