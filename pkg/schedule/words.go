package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func nodesOf(n int) string { return fmt.Sprintf("%d %s", n, plural(n, "node", "nodes")) }

func mostly(counts map[string]int) string {
	best, most := "", 0
	for reason, n := range counts {
		if reason != "" && (n > most || n == most && reason < best) {
			best, most = reason, n
		}
	}
	return best
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
	slices.SortStableFunc(list, func(a, b NodeReason) int {
		return cmp.Or(cmp.Compare(reached(b.Reason), reached(a.Reason)), cmp.Compare(len(b.Nodes), len(a.Nodes)), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return list
}

// explain groups the nodes that are out by why. Nodes that lack different amounts of one
// thing are one group.
func (g *clusterState) explain(c *class, codes []code, free []int64) []NodeReason {
	byRoomOf := map[int][]int{}
	words := map[code]string{}
	var out []NodeReason
	for n, why := range codes {
		switch {
		case why == suits:
		case why >= byRoom && why < byDisk:
			byRoomOf[int(why-byRoom)] = append(byRoomOf[int(why-byRoom)], n)
		default:
			if words[why] == "" || why == byTaint || why == bySpreadKey {
				words[why] = g.nodeWords(c, n, why)
			}
			out = addNode(out, g.nodes[n].Name, g.reason(why), words[why])
		}
	}
	for k, nodes := range byRoomOf {
		names := make([]string, 0, len(nodes))
		for _, n := range nodes {
			names = append(names, g.nodes[n].Name)
		}
		out = append(out, NodeReason{Nodes: names, Reason: g.dims[k].reason, Message: g.roomWords(c, k, nodes, free)})
	}
	return sortNodes(out)
}

// roomWords says what nodes lack: cpu: wants 8, 3.5 is free of 4.
func (g *clusterState) roomWords(c *class, k int, nodes []int, free []int64) string {
	d := len(g.dims)
	want, most, alloc, same := c.of.want[k], int64(-1<<62), int64(0), true
	for i, n := range nodes {
		f := max(0, free[n*d+k])
		same = same && (i == 0 || f == most && g.alloc[n*d+k] == alloc)
		if f > most {
			most = f
		}
		alloc = max(alloc, g.alloc[n*d+k])
	}
	dim := g.dims[k]
	x, y := dim.pair(want, most)
	switch {
	case dim.name == dimPods:
		return fmt.Sprintf("pods: at most %d run there", alloc)
	case alloc == 0:
		return fmt.Sprintf("%s: wants %s, there is none", dim.words(), x)
	case same:
		return fmt.Sprintf("%s: wants %s, %s is free of %s", dim.words(), x, y, dim.round(alloc))
	}
	return fmt.Sprintf("%s: wants %s, at most %s is free", dim.words(), x, y)
}

// nodeWords says why a node is out, in words close to those of the scheduler's events.
func (g *clusterState) nodeWords(c *class, n int, why code) string {
	pod := c.of.pod
	switch why {
	case byCordon:
		return "the node is cordoned"
	case byName:
		return "the pod is for node " + pod.Spec.NodeName
	case byTaint:
		taint, _ := untolerated(pod, g.nodes[n])
		return fmt.Sprintf("taint %s is not tolerated", taint.ToString())
	case bySelector:
		return "labels do not match the pod's node affinity or selector" + selectorWords(c)
	case byPort:
		return "a port of the node is taken: " + portWords(c.of.ports)
	case byDisk:
		return "a disk that it uses is in use there"
	case byClaimUse:
		return fmt.Sprintf("claim %s is for one pod only (ReadWriteOncePod), and another has it", strings.Join(c.of.once, ", "))
	case byVolume:
		return "there is no free volume that a pod on this node could use"
	case byVolumeNode:
		return "its volume cannot be used there (node affinity of the volume)"
	case byVolumeTopology:
		return "no volume is made for this node (allowed topologies of the storage class)"
	case byCapacity:
		return "not enough storage is left for a volume"
	case byZone:
		return "its volume is in another zone"
	case bySpreadKey:
		return "lacks label " + g.missingKey(c.of.spread, n) + " of its topology spread constraint"
	case byAffinityKey:
		return "lacks the topology label of its pod affinity"
	case byAnti:
		return "its anti-affinity keeps away from pods on it"
	case byTheirAnti:
		return "the anti-affinity of pods on it keeps it away"
	}
	return ""
}

func selectorWords(c *class) string {
	selector := c.of.pod.Spec.NodeSelector
	if len(selector) == 0 {
		return ""
	}
	keys := make([]string, 0, len(selector))
	for k, v := range selector {
		keys = append(keys, k+"="+v)
	}
	slices.Sort(keys)
	return " (" + strings.Join(keys, ",") + ")"
}

func portWords(ports []hostPort) string {
	out := make([]string, 0, len(ports))
	for _, p := range ports {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// holdWords says how many of a class a node takes, and why not more.
func holdWords(holds int, by string) string {
	return fmt.Sprintf("takes %d (%s)", holds, by)
}

// boundWords says why no more of a class fit.
func (g *clusterState) boundWords(why string, c *class) string {
	switch why {
	case "Port":
		return fmt.Sprintf("each takes the node's port %s, so that a node takes one", portWords(c.of.ports))
	case "AntiAffinity":
		return "anti-affinity keeps them apart"
	case "ClaimInUse":
		return fmt.Sprintf("claim %s is for one pod only (ReadWriteOncePod)", strings.Join(c.of.once, ", "))
	case "DiskConflict":
		return "a disk is for one pod of a node"
	case "Spread":
		return "the topology spread constraint is full, as one domain takes too few"
	}
	for k, want := range c.of.want {
		if g.dims[k].reason == why && want > 0 {
			if g.dims[k].name == dimPods {
				return "the nodes that take them have no free pod slots"
			}
			return fmt.Sprintf("each wants %s of %s, and the nodes that take them have none left", g.dims[k].show(want), g.dims[k].words())
		}
	}
	return "the nodes that take them are full"
}

// explainState says why no node takes one more of a class beside what was placed.
func (q *question) explainState(s *state, c int) []NodeReason {
	k := s.m.classes[c]
	codes := slices.Clone(k.code[least])
	var dynamic []NodeReason
	for _, n := range s.m.nodes {
		if codes[n] != suits {
			continue
		}
		for d, want := range k.of.want {
			if want > 0 && want > s.free[n*s.m.dims+d] {
				codes[n] = room(d)
				break
			}
		}
		if codes[n] == suits {
			reason, words := s.dynamic(c, n)
			dynamic = addNode(dynamic, q.nodes[n].Name, reason, words)
		}
	}
	return sortNodes(append(q.explain(k, codes, s.free), dynamic...))
}

// dynamic says which rule between pods that are to be placed keeps a class off a node.
func (s *state) dynamic(c, n int) (reason, words string) {
	for _, k := range s.m.conflicts[c] {
		if d := k.part.of[n]; d >= 0 && s.presentIn(k, d) {
			reason := conflictReason(s.m.classes[c], k.part)
			return reason, "other replicas are on it (" + reason + ")"
		}
	}
	for _, r := range s.m.spread[c] {
		if !s.spreadSuits(r, n) {
			return "Spread", "the topology spread constraint would not hold"
		}
	}
	return "Affinity", "no pod that its affinity requires runs there"
}
