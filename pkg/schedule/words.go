package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

func mostly(counts map[string]int) string {
	best, most := "", 0
	for reason, n := range counts {
		if n > most || n == most && reason < best {
			best, most = reason, n
		}
	}
	return best
}

// reached ranks reasons: a node that is not meant for a pod says less of why it has none
// than one that is tainted, and that less than one that is full.
func reached(reason string) int {
	switch reason {
	case reasonName, reasonSelector:
		return 0
	case reasonCordon, reasonTaint:
		return 1
	}
	return 2
}

// addNode adds a node to those of the same reason and words.
func addNode(list []NodeReason, node, reason, message string) []NodeReason {
	for i := range list {
		if list[i].Reason == reason && list[i].Message == message {
			list[i].Nodes = append(list[i].Nodes, node)
			return list
		}
	}
	return append(list, NodeReason{Nodes: []string{node}, Reason: reason, Message: message})
}

// sortNodes puts first what the pod came furthest with, and of that what is true of the most
// nodes.
func sortNodes(list []NodeReason) []NodeReason {
	count := map[string]int{}
	for _, n := range list {
		count[n.Reason] += len(n.Nodes)
	}
	slices.SortStableFunc(list, func(a, b NodeReason) int {
		return cmp.Or(
			cmp.Compare(reached(b.Reason), reached(a.Reason)), cmp.Compare(count[b.Reason], count[a.Reason]), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(len(b.Nodes), len(a.Nodes)), cmp.Compare(a.Message, b.Message),
		)
	})
	return list
}

// explain groups the rejected nodes by reason. Nodes that lack different amounts of one resource
// are one group.
func (o *occupancy) explain(c *candidate, rejections []rejection) []NodeReason {
	short := make([][]int, len(o.dims))
	words := map[rejection]string{}
	var out []NodeReason
	for n, r := range rejections {
		switch {
		case r == passes:
		case r.dim > 0:
			short[r.dim-1] = append(short[r.dim-1], n)
		default:
			if words[r] == "" || r.reason == reasonTaint {
				words[r] = o.nodeWords(c, n, r)
			}
			out = addNode(out, o.nodes[n].Name, r.reason, words[r])
		}
	}
	for k, nodes := range short {
		if len(nodes) == 0 {
			continue
		}
		names := make([]string, 0, len(nodes))
		for _, n := range nodes {
			names = append(names, o.nodes[n].Name)
		}
		out = append(out, NodeReason{Nodes: names, Reason: o.dims[k].reason, Message: o.roomWords(c, k, nodes)})
	}
	return sortNodes(out)
}

// roomWords says what nodes lack: cpu: wants 8, 3.5 is free of 4.
func (o *occupancy) roomWords(c *candidate, k int, nodes []int) string {
	d, dim := len(o.dims), o.dims[k]
	first, most, alloc, same := nodes[0]*d+k, int64(0), int64(0), true
	for _, n := range nodes {
		same = same && o.free[n*d+k] == o.free[first] && o.alloc[n*d+k] == o.alloc[first]
		most, alloc = max(most, o.free[n*d+k]), max(alloc, o.alloc[n*d+k])
	}
	x, y := dim.pair(c.want[k], most)
	switch {
	case dim.name == dimPods:
		return fmt.Sprintf("pods: at most %d run there", alloc)
	case alloc == 0:
		return fmt.Sprintf("%s: wants %s, there is none", dim.words(), x)
	case c.want[k] > alloc:
		x, y = dim.pair(c.want[k], alloc)
		return fmt.Sprintf("%s: wants %s, more than %s even empty (%s)", dim.words(), x, plural(len(nodes), "the node has", "any of them has"), y)
	case same:
		return fmt.Sprintf("%s: wants %s, %s is free of %s", dim.words(), x, y, dim.round(alloc))
	}
	return fmt.Sprintf("%s: wants %s, at most %s is free", dim.words(), x, y)
}

// nodeWords says why a node is out, in words close to those of the scheduler's events.
func (g *clusterState) nodeWords(c *candidate, n int, r rejection) string {
	switch r.reason {
	case reasonTaint:
		taint, _ := Untolerated(c.pod, g.nodes[n])
		return fmt.Sprintf("taint %s is not tolerated", taint.ToString())
	case reasonSelector:
		keys := make([]string, 0, len(c.pod.Spec.NodeSelector))
		for k, v := range c.pod.Spec.NodeSelector {
			keys = append(keys, k+"="+v)
		}
		words := "labels do not match the pod's node affinity or selector"
		if slices.Sort(keys); len(keys) > 0 {
			words += " (" + strings.Join(keys, ",") + ")"
		}
		return words
	case reasonClaim:
		return fmt.Sprintf("claim %s is for one pod only (ReadWriteOncePod), and another has it", strings.Join(c.single, ", "))
	}
	return r.message
}

func portWords(ports []hostPort) string {
	out := make([]string, 0, len(ports))
	for _, p := range ports {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// boundWords says why no more of a class fit.
func (g *clusterState) boundWords(reason string, c *candidate) string {
	switch reason {
	case reasonPort:
		return fmt.Sprintf("each takes the node's port %s, so that a node takes one", portWords(c.ports))
	case reasonAnti:
		return "anti-affinity keeps them apart"
	case reasonClaim:
		return fmt.Sprintf("claim %s is for one pod only (ReadWriteOncePod)", strings.Join(c.single, ", "))
	case reasonDisk:
		return "a disk is for one pod of a node"
	case reasonSpread:
		return "the topology spread constraint is full, as one domain takes too few"
	}
	for k, want := range c.want {
		if dim := g.dims[k]; dim.reason == reason && want > 0 && dim.name != dimPods {
			return fmt.Sprintf("each wants %s of %s, and the nodes that take them have none left", dim.show(want), dim.words())
		}
	}
	return "the nodes that take them have no free pod slots"
}
