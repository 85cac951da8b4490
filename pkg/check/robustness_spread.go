package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

func robustSpreadRules() []Rule {
	return []Rule{
		{
			ID: "pod-spread", Category: Robustness, Severity: Info, Guidelines: []Guideline{maturity(17)},
			Title: "Replicas have anti-affinity or spread constraints",
			Why:   "Without them the scheduler may put all replicas on one node; it has only a weak preference to spread them.",
			Fix:   "Add a topologySpreadConstraint or a podAntiAffinity that selects the pods' own labels, over kubernetes.io/hostname or topology.kubernetes.io/zone.",
			Stack: robustSpread,
		},
		{
			ID: "pod-nodes", Category: Robustness, Severity: Warning, Guidelines: []Guideline{maturity(17)},
			Title: "Replicas run on more than one node, and in more than one zone",
			Why:   "If all replicas are on one node, all are lost with it.",
			Fix:   "Spread the pods (pod-spread), and delete one of them, so that it is scheduled again.",
			Stack: robustNodes,
		},
	}
}

var robustNodeKind = schema.GroupKind{Kind: "Node"}

// The well-known labels of nodes.
const (
	zoneLabel   = corev1.LabelTopologyZone
	regionLabel = corev1.LabelTopologyRegion
)

// replicated says whether there are to be several of a replica group's pods, on nodes that the
// scheduler chooses.
func (c *replicaGroup) replicated() bool {
	kind := c.Workloads[0].Ref.Kind
	return c.Lasting() && c.Replicas > 1 && kind != "DaemonSet"
}

func robustSpread(s *Stack, r *Result) {
	for _, c := range s.World.replicaGroups(s.ManagedWorkloads()) {
		spec := c.spec()
		if !c.replicated() || spec == nil {
			continue
		}
		if robustApart(spec, c.labels()) {
			r.Pass(c.Ref)
			continue
		}
		path, what := c.Workloads[0].specPath(), "neither anti-affinity nor spread constraints"
		if robustKeepsApart(spec) {
			what = "anti-affinity or spread constraints, but none that selects its own pods"
		}
		if c.Ref != c.Workloads[0].Ref {
			path = ""
		} else {
			path += ".topologySpreadConstraints"
		}
		r.AddFinding(Finding{
			Object: c.Ref, Field: path,
			Message: fmt.Sprintf("has %d replicas and %s: all may run on one node", c.Replicas, what),
		})
	}
}

// robustKeepsApart says whether the pods are to keep away from any.
func robustKeepsApart(spec *corev1.PodSpec) bool {
	a := spec.Affinity
	return len(spec.TopologySpreadConstraints) > 0 || a != nil && a.PodAntiAffinity != nil
}

// robustApart says whether pods are told, or would like, to keep away from those with
// labels like their own.
func robustApart(spec *corev1.PodSpec, own map[string]string) bool {
	for i := range spec.TopologySpreadConstraints {
		if selects(spec.TopologySpreadConstraints[i].LabelSelector, own) {
			return true
		}
	}
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	anti := spec.Affinity.PodAntiAffinity
	for i := range anti.RequiredDuringSchedulingIgnoredDuringExecution {
		if selects(anti.RequiredDuringSchedulingIgnoredDuringExecution[i].LabelSelector, own) {
			return true
		}
	}
	for i := range anti.PreferredDuringSchedulingIgnoredDuringExecution {
		if selects(anti.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.LabelSelector, own) {
			return true
		}
	}
	return false
}

// robustNodes looks at where pods really are.
func robustNodes(s *Stack, r *Result) {
	nodes := All[*corev1.Node](s.World.Facts, "", "Node")
	zone := map[string]string{}
	for _, n := range nodes {
		zone[n.Name] = n.Labels[zoneLabel]
	}
	for _, c := range s.World.replicaGroups(s.ManagedWorkloads()) {
		placed := c.placed()
		if !c.replicated() || len(placed) < 2 {
			continue
		}
		on := distinct(placed, func(p *corev1.Pod) string { return p.Spec.NodeName })
		in := distinct(placed, func(p *corev1.Pod) string { return zone[p.Spec.NodeName] })
		if len(on) > 1 && (len(in) > 1 || in[0] == "") {
			r.Pass(c.Ref)
			continue
		}
		open := slices.DeleteFunc(slices.Clone(nodes), func(n *corev1.Node) bool {
			return !slices.ContainsFunc(placed, func(p *corev1.Pod) bool { return s.World.nodeTakes(n, p) })
		})
		switch {
		case len(on) == 1 && len(open) > 1:
			r.AddFinding(Finding{
				Object: c.Ref, Field: "spec.nodeName", Value: on[0], Related: []object.Ref{{Kind: "Node", Name: on[0]}},
				Message: fmt.Sprintf("all %d pods are on %s, and %d nodes would take them: if that node is lost, all are lost", len(placed), on[0], len(open)),
			})
		case len(on) == 1 && !s.World.Read(robustNodeKind, ""):
			r.AddUnread(c.Ref, "Nodes")
		case len(on) == 1:
			// There is one node for them: nothing can be better.
		default:
			robustZone(c, len(placed), in[0], open, r)
		}
	}
}

// robustZone looks at pods that are on several nodes of one zone.
func robustZone(c *replicaGroup, pods int, in string, open []*corev1.Node, r *Result) {
	zones := distinct(open, func(n *corev1.Node) string { return n.Labels[zoneLabel] })
	if zones = slices.DeleteFunc(zones, func(z string) bool { return z == "" }); len(zones) < 2 {
		r.Pass(c.Ref)
		return
	}
	r.AddFinding(Finding{
		Severity: Info, Object: c.Ref, Field: "metadata.labels[" + zoneLabel + "]", Value: in,
		Message: fmt.Sprintf("all %d pods are in zone %s, and nodes of %d zones would take them: if that zone is lost, all are lost", pods, in, len(zones)),
	})
}

// distinct returns a name of each of a list, each once and in order.
func distinct[T any](list []T, name func(T) string) []string {
	var out []string
	for _, x := range list {
		out = append(out, name(x))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// robustTakes says whether a node is ready, and takes a pod by its labels and taints.
// Whether there is room is not asked.
func robustTakes(n *corev1.Node, p *corev1.Pod) bool {
	if n.Spec.Unschedulable || n.DeletionTimestamp != nil || !robustReadyNode(n) {
		return false
	}
	if _, tainted := schedule.Untolerated(p, n); tainted {
		return false
	}
	ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
	return ok && err == nil
}

func robustReadyNode(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
