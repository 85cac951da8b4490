package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// placed returns the pods that are on a node and not terminating.
func placed(c *check.ReplicaGroup) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(c.Pods), func(p *corev1.Pod) bool { return p.Spec.NodeName == "" || p.DeletionTimestamp != nil })
}

func spreadRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-spread", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(17)},
			Title: "Replicas have anti-affinity or spread constraints",
			Why:   "Without them the scheduler may put all replicas on one node; it has only a weak preference to spread them.",
			Fix:   "Add a topologySpreadConstraint or a podAntiAffinity that selects the pods' own labels, over kubernetes.io/hostname or topology.kubernetes.io/zone.",
			Stack: spread,
		},
		{
			ID: "pod-nodes", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(17)},
			Title: "Replicas run on more than one node, and in more than one zone",
			Why:   "If all replicas are on one node, all are lost with it.",
			Fix:   "Spread the pods (pod-spread), and delete one of them, so that it is scheduled again.",
			Stack: nodes,
		},
	}
}

func spread(s *check.Stack, r *check.Result) {
	for _, c := range s.World.ReplicaGroups(s.ManagedWorkloads()) {
		spec := c.Spec()
		if !c.Replicated() || spec == nil {
			continue
		}
		if keepsReplicasApart(spec, c.Labels()) {
			r.Pass(c.Ref)
			continue
		}
		path, rules := c.Workloads[0].SpecPath(), "neither anti-affinity nor spread constraints"
		if keepsApart(spec) {
			rules = "anti-affinity or spread constraints, but none that selects its own pods"
		}
		if c.Ref != c.Workloads[0].Ref {
			path = ""
		} else {
			path += ".topologySpreadConstraints"
		}
		r.AddFinding(check.Finding{
			Object: c.Ref, Field: path,
			Message: fmt.Sprintf("has %d replicas and %s: all may run on one node", c.Replicas, rules),
		})
	}
}

// keepsApart reports whether the pods have any anti-affinity or spread constraint.
func keepsApart(spec *corev1.PodSpec) bool {
	a := spec.Affinity
	return len(spec.TopologySpreadConstraints) > 0 || a != nil && a.PodAntiAffinity != nil
}

// keepsReplicasApart reports whether pods must, or should, keep away from pods with their own
// labels.
func keepsReplicasApart(spec *corev1.PodSpec, own map[string]string) bool {
	for i := range spec.TopologySpreadConstraints {
		if check.Selects(spec.TopologySpreadConstraints[i].LabelSelector, own) {
			return true
		}
	}
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	anti := spec.Affinity.PodAntiAffinity
	for i := range anti.RequiredDuringSchedulingIgnoredDuringExecution {
		if check.Selects(anti.RequiredDuringSchedulingIgnoredDuringExecution[i].LabelSelector, own) {
			return true
		}
	}
	for i := range anti.PreferredDuringSchedulingIgnoredDuringExecution {
		if check.Selects(anti.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.LabelSelector, own) {
			return true
		}
	}
	return false
}

// nodes checks the actual nodes of pods.
func nodes(s *check.Stack, r *check.Result) {
	zone := func(p *corev1.Pod) string {
		n, ok := check.Of[*corev1.Node](s.World.Facts, object.Ref{Kind: "Node", Name: p.Spec.NodeName})
		if !ok {
			return ""
		}
		return n.Labels[corev1.LabelTopologyZone]
	}
	for _, c := range s.World.ReplicaGroups(s.ManagedWorkloads()) {
		placed := placed(c)
		if !c.Replicated() || len(placed) < 2 {
			continue
		}
		on := distinct(placed, func(p *corev1.Pod) string { return p.Spec.NodeName })
		in := distinct(placed, zone)
		if len(on) > 1 && (len(in) > 1 || in[0] == "") {
			r.Pass(c.Ref)
			continue
		}
		open := slices.DeleteFunc(slices.Clone(check.All[*corev1.Node](s.World.Facts, "", "Node")), func(n *corev1.Node) bool {
			return !slices.ContainsFunc(placed, func(p *corev1.Pod) bool { return s.World.NodeTakes(n, p) })
		})
		switch {
		case len(on) == 1 && len(open) > 1:
			r.AddFinding(check.Finding{
				Object: c.Ref, Field: "spec.nodeName", Value: on[0], Related: []object.Ref{{Kind: "Node", Name: on[0]}},
				Message: fmt.Sprintf("all %d pods are on %s, and %d nodes would take them: if that node is lost, all are lost", len(placed), on[0], len(open)),
			})
		case len(on) == 1 && !s.World.Read(check.NodeKind, ""):
			r.AddUnread(c.Ref, "Nodes")
		case len(on) == 1:
			// Only one node fits them.
		default:
			sameZone(c, len(placed), in[0], open, r)
		}
	}
}

// sameZone checks pods that are on several nodes of one zone.
func sameZone(c *check.ReplicaGroup, pods int, in string, open []*corev1.Node, r *check.Result) {
	zones := distinct(open, func(n *corev1.Node) string { return n.Labels[corev1.LabelTopologyZone] })
	if zones = slices.DeleteFunc(zones, func(z string) bool { return z == "" }); len(zones) < 2 {
		r.Pass(c.Ref)
		return
	}
	r.AddFinding(check.Finding{
		Severity: check.Info, Object: c.Ref, Field: "metadata.labels[" + corev1.LabelTopologyZone + "]", Value: in,
		Message: fmt.Sprintf("all %d pods are in zone %s, and nodes of %d zones would take them: if that zone is lost, all are lost", pods, in, len(zones)),
	})
}

// distinct returns the names of a list, each once and in order.
func distinct[T any](list []T, name func(T) string) []string {
	var out []string
	for _, x := range list {
		out = append(out, name(x))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
