package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Place says whether pods find nodes, together and beside the pods that are pending already.
func (c *Cluster) Place(pods []Pod) Result {
	if len(pods) == 0 {
		return Result{Verdict: Fits}
	}
	if c.Unread.Nodes {
		return Result{Verdict: Unknown, Unknown: []string{"nodes could not be read"}}
	}
	if len(c.Nodes) == 0 {
		names := make([]string, 0, len(pods))
		for _, p := range pods {
			names = append(names, p.Name)
		}
		return Result{Verdict: DoesNotFit, Proofs: []Reason{{Pods: names, Reason: "NoNodes", Message: "the cluster has no nodes"}}}
	}
	q := &question{clusterState: newClusterState(c, pods)}
	for _, k := range q.classes() {
		if k.asked >= 0 {
			q.asked = append(q.asked, k)
			continue
		}
		if k.lost == nil {
			q.pending = append(q.pending, k)
		}
	}
	o := q.occupancy(true)
	q.findProofs(o)
	q.findUnknown()
	if len(q.proofs) > 0 {
		return Result{Verdict: DoesNotFit, Proofs: q.proofs, Unknown: q.unknown}
	}
	result := Result{Verdict: Fits, Placement: q.placeAll(), Unknown: q.unknown}
	if len(q.unknown) > 0 {
		result.Verdict = Unknown
	}
	return result
}

// question collects what leads to a result.
type question struct {
	*clusterState
	asked, pending []*class
	proofs         []Reason
	unknown        []string
}

func (q *question) leave(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(q.unknown, s) {
		q.unknown = append(q.unknown, s)
	}
}

// findUnknown records what is unknown about the candidates.
func (q *question) findUnknown() {
	for _, k := range q.asked {
		for _, s := range k.unknown {
			q.leave("%s: %s", object.ShortList(k.names()), s)
		}
		if q.Unread.Pods {
			q.leave("not all pods of the cluster could be read, so the free room is unknown")
		}
	}
}

// placeAll places the pods in addition to all existing and pending ones, and says which find
// no node. It returns nil unless all do.
func (q *question) placeAll() []Placed {
	order := q.queue()
	o := q.occupancy(false)
	rest := o.place(slices.Concat(q.pending, order))
	var unplaced []*class
	for _, k := range order {
		if rest[k] > 0 {
			unplaced = append(unplaced, k)
		}
	}
	if len(unplaced) == 0 {
		return q.placement()
	}
	if rivals := q.contenders(rest); rivals != "" {
		empty := q.occupancy(true)
		empty.certain = false
		after := empty.place(order)
		if !slices.ContainsFunc(order, func(k *class) bool { return after[k] > 0 }) {
			q.leave("%s: there is room only without %s", object.ShortList(q.leftNames(unplaced, rest)), rivals)
			return nil
		}
	}
	for _, k := range unplaced {
		reasons := o.explain(k.candidate, o.podFilter(k).rejections())
		q.leave("%s: no node is left after the others were placed (%s); the scheduler may find another placement", object.ShortList(q.leftNames([]*class{k}, rest)), reasons[0].Message)
	}
	return nil
}

// placement is nil where another scheduler places some of the pods.
func (q *question) placement() []Placed {
	var out []Placed
	for _, c := range q.candidates {
		if c.asked >= 0 && c.foreign {
			return nil
		}
		if c.asked >= 0 {
			out = append(out, Placed{Pod: c.name, Node: q.nodes[c.node].Name})
		}
	}
	return out
}

func (q *question) leftNames(classes []*class, unplaced map[*class]int) []string {
	var out []string
	for _, k := range classes {
		out = append(out, k.names()[len(k.members)-unplaced[k]:]...)
	}
	return out
}

// contenders are pods that take room for now: those that may leave, and those that are
// pending and were placed first.
func (q *question) contenders(unplaced map[*class]int) string {
	terminating, lower := false, false
	for i := range q.bound {
		terminating = terminating || q.bound[i].pod.DeletionTimestamp != nil
		lower = lower || q.bound[i].leaves && q.bound[i].pod.DeletionTimestamp == nil
	}
	var first, out []string
	for _, k := range q.pending {
		first = append(first, k.names()[:len(k.members)-unplaced[k]]...)
	}
	if terminating {
		out = append(out, "pods that are terminating")
	}
	if lower {
		out = append(out, "pods of a lower priority, which may be evicted")
	}
	if len(first) > 0 {
		out = append(out, "pending pods ("+object.ShortList(first)+")")
	}
	return strings.Join(out, ", and ")
}

// queue is the order in which classes are placed: by priority, the biggest first. Those of
// another scheduler are not in it.
func (q *question) queue() []*class {
	most := make([]int64, len(q.dims))
	for i, v := range q.alloc {
		most[i%len(q.dims)] = max(most[i%len(q.dims)], v)
	}
	size := func(k *class) (share float64) {
		for d, v := range k.want {
			share = max(share, float64(v)/float64(max(1, most[d])))
		}
		return share
	}
	order := slices.DeleteFunc(slices.Clone(q.asked), func(k *class) bool { return k.foreign })
	slices.SortStableFunc(order, func(a, b *class) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(size(b), size(a)))
	})
	return order
}

// place gives each pod a node, in the order of the classes, and returns how many of each
// class found none. It goes round again while pods find nodes: a pod can be what another
// one's affinity requires.
func (o *occupancy) place(order []*class) (unplaced map[*class]int) {
	unplaced = map[*class]int{}
	for _, k := range order {
		unplaced[k] = len(k.members)
	}
	for moved := true; moved; {
		moved = false
		for _, k := range order {
			for unplaced[k] > 0 && o.placeOne(k, k.members[len(k.members)-unplaced[k]]) {
				unplaced[k]--
				moved = true
			}
		}
	}
	return unplaced
}

// placeOne puts a pod on the node with the most room for pods like it: by default the scheduler
// prefers the emptiest nodes, too.
func (o *occupancy) placeOne(k *class, c *candidate) bool {
	f, best, most := o.podFilter(k), -1, int64(0)
	for _, n := range k.nodes {
		if room, _ := o.room(k.candidate, n); room > most && f.filter(n) == passes {
			best, most = n, room
		}
	}
	if best < 0 {
		return false
	}
	c.node = best
	o.bind(&boundPod{pod: c.pod, node: best, anti: c.anti, uses: c.want})
	return true
}
