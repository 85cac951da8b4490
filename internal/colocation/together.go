package colocation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SingleNode has the reasons for and against one node for all pods of a stack.
type SingleNode struct {
	// Nodes are those that each of its pods would go to by its selectors, affinity,
	// tolerations and volumes, in order. Free room does not count.
	Nodes []string `json:"nodes"`
	// Obstacles says what keeps its pods apart, one sentence each, without a full stop.
	Obstacles []string `json:"obstacles"`
	// Selectors are the settings by which pods choose nodes today.
	Selectors []PodSelector `json:"selectors"`
	// Settable are the fields of custom resources of the stack by which one could choose, in
	// order of the resources (PlacedBy). The caller fills it in, as it knows the
	// definitions.
	Settable []Settable `json:"configurable"`
}

// PodSelector is a setting by which the pods of a workload choose nodes or neighbours.
type PodSelector struct {
	Workload object.Ref `json:"workload"`
	// Field is the path in the workload or its pod.
	Field string `json:"field"`
	Value string `json:"value"`
}

// singleNode checks the pods that run until they are deleted.
func singleNode(w *check.ClusterState, groups []*check.ReplicaGroup, nodes map[string]*corev1.Node) SingleNode {
	var t SingleNode
	groups = slices.DeleteFunc(slices.Clone(groups), func(x *check.ReplicaGroup) bool {
		return !x.IsLongRunning() || x.Spec() == nil || x.Workloads[0].Ref.Kind == "DaemonSet"
	})
	for _, x := range groups {
		t.Selectors = append(t.Selectors, placementSettings(x)...)
		if reason := obstacle(x, groups); reason != "" {
			t.Obstacles = append(t.Obstacles, reason)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if len(groups) > 0 && !slices.ContainsFunc(groups, func(x *check.ReplicaGroup) bool { return !acceptsGroup(w, x, nodes[name]) }) {
			t.Nodes = append(t.Nodes, name)
		}
	}
	if len(t.Nodes) == 0 && len(nodes) > 0 && len(groups) > 0 && w.Read(check.NodeKind, "") {
		t.Obstacles = append(t.Obstacles, "selectors, taints and volumes leave no node that takes all of them")
	}
	return t
}

// acceptsGroup says whether a node takes every pod of a replica group, by all but room.
func acceptsGroup(w *check.ClusterState, x *check.ReplicaGroup, n *corev1.Node) bool {
	pods := x.Pods
	if len(pods) == 0 {
		pods = []*corev1.Pod{{Spec: *x.Spec()}}
	}
	return !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !w.NodeTakes(n, p) })
}

// placementSettings returns the settings of a replica group's pods, without those that the cluster
// gives to every pod.
func placementSettings(x *check.ReplicaGroup) []PodSelector {
	spec, at := x.Spec(), x.Workloads[0].SpecPath()
	var out []PodSelector
	say := func(field, value string) {
		out = append(out, PodSelector{Workload: x.Ref, Field: at + "." + field, Value: value})
	}
	for _, k := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		say("nodeSelector["+k+"]", spec.NodeSelector[k])
	}
	if a := spec.Affinity; a != nil {
		if n := a.NodeAffinity; n != nil && n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			say("affinity.nodeAffinity.required", object.Count(len(n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms), "term"))
		}
		if p := a.PodAffinity; p != nil {
			for _, term := range p.RequiredDuringSchedulingIgnoredDuringExecution {
				say("affinity.podAffinity.required["+term.TopologyKey+"]", metav1.FormatLabelSelector(term.LabelSelector))
			}
			for _, term := range p.PreferredDuringSchedulingIgnoredDuringExecution {
				say("affinity.podAffinity.preferred["+term.PodAffinityTerm.TopologyKey+"]", metav1.FormatLabelSelector(term.PodAffinityTerm.LabelSelector))
			}
		}
	}
	for _, t := range spec.TopologySpreadConstraints {
		say("topologySpreadConstraints["+t.TopologyKey+"]", fmt.Sprintf("maxSkew %d, %s", t.MaxSkew, t.WhenUnsatisfiable))
	}
	return out
}

// obstacle says what forbids that two pods of the stack share a node; empty where nothing
// does.
func obstacle(x *check.ReplicaGroup, groups []*check.ReplicaGroup) string {
	spec := x.Spec()
	if spec.Affinity != nil && spec.Affinity.PodAntiAffinity != nil {
		for _, term := range spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			for _, y := range groups {
				if (y != x || x.Replicas > 1) && len(term.Namespaces) == 0 && term.NamespaceSelector == nil && sameNamespace(x, y) && check.Selects(term.LabelSelector, y.Labels()) {
					return fmt.Sprintf("%s must run apart from %s: its podAntiAffinity over %s requires it", x.Ref, otherOrReplicas(y, x), term.TopologyKey)
				}
			}
		}
	}
	for _, t := range spec.TopologySpreadConstraints {
		if t.WhenUnsatisfiable == corev1.DoNotSchedule && x.Replicas > t.MaxSkew && check.Selects(t.LabelSelector, x.Labels()) {
			return fmt.Sprintf("%s must spread over %s, with a maxSkew of %d", x.Ref, t.TopologyKey, t.MaxSkew)
		}
	}
	return ""
}

func sameNamespace(a, b *check.ReplicaGroup) bool {
	return a.Workloads[0].Ref.Namespace == b.Workloads[0].Ref.Namespace
}

func otherOrReplicas(y, x *check.ReplicaGroup) string {
	if y == x {
		return "its own replicas"
	}
	return y.Ref.String()
}
