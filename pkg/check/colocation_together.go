package check

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SingleNode says what speaks for and against keeping the pods of a stack on one node.
type SingleNode struct {
	// Nodes are those that each of its pods would go to by its selectors, affinity,
	// tolerations and volumes, in order. Room is not asked for.
	Nodes []string
	// Obstacles says what keeps its pods apart, one sentence each, without a full stop.
	Obstacles []string
	// Selectors are the settings by which pods choose nodes today.
	Selectors []PodSelector
	// Settable are the fields of custom resources of the stack by which one could choose,
	// in order of the resources (World.PlacedBy). Who knows the definitions fills it in.
	Settable []SettablePlaces
}

// PodSelector is a setting by which the pods of a workload choose nodes or neighbours.
type PodSelector struct {
	Workload object.Ref `json:"workload"`
	// Field is the path in the workload or its pod.
	Field string `json:"field"`
	Value string `json:"value"`
}

// together looks at the pods that last.
func (w *ClusterState) together(crews []*replicaGroup, nodes map[string]*corev1.Node) SingleNode {
	var t SingleNode
	crews = slices.DeleteFunc(slices.Clone(crews), func(x *replicaGroup) bool {
		return !x.Lasting() || x.spec() == nil || x.Workloads[0].Ref.Kind == "DaemonSet"
	})
	for _, x := range crews {
		t.Selectors = append(t.Selectors, togetherSelectors(x)...)
		if why := togetherNot(x, crews); why != "" {
			t.Obstacles = append(t.Obstacles, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if len(crews) > 0 && !slices.ContainsFunc(crews, func(x *replicaGroup) bool { return !w.acceptsGroup(x, nodes[name]) }) {
			t.Nodes = append(t.Nodes, name)
		}
	}
	if len(t.Nodes) == 0 && len(nodes) > 0 && len(crews) > 0 && w.Read(robustNodeKind, "") {
		t.Obstacles = append(t.Obstacles, "selectors, taints and volumes leave no node that takes all of them")
	}
	return t
}

// acceptsGroup says whether a node takes every pod of a crew, by all but room.
func (w *ClusterState) acceptsGroup(x *replicaGroup, n *corev1.Node) bool {
	pods := x.Pods
	if len(pods) == 0 {
		pods = []*corev1.Pod{{Spec: *x.spec()}}
	}
	return !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !w.nodeTakes(n, p) })
}

// nodeTakes says whether a node takes a pod by its labels and taints, and whether the
// pod's volumes can be mounted there.
func (w *ClusterState) nodeTakes(n *corev1.Node, p *corev1.Pod) bool {
	if !robustTakes(n, p) {
		return false
	}
	for _, ref := range robustClaimsOf(&p.Spec, p.Namespace, p.Name) {
		claim, ok := Of[*corev1.PersistentVolumeClaim](w.Facts, ref)
		if !ok {
			continue
		}
		pv, ok := Of[*corev1.PersistentVolume](w.Facts, object.Ref{Kind: "PersistentVolume", Name: claim.Spec.VolumeName})
		if ok && volumehelpers.CheckNodeAffinity(pv, n.Labels) != nil {
			return false
		}
	}
	return true
}

// togetherSelectors returns the settings of a crew's pods, without those that the cluster
// gives to every pod.
func togetherSelectors(x *replicaGroup) []PodSelector {
	spec, at := x.spec(), templatePath(x.Workloads[0])
	var out []PodSelector
	say := func(field, value string) {
		out = append(out, PodSelector{Workload: x.Ref, Field: at + "." + field, Value: value})
	}
	for _, k := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		say("nodeSelector["+k+"]", spec.NodeSelector[k])
	}
	if a := spec.Affinity; a != nil {
		if n := a.NodeAffinity; n != nil && n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			say("affinity.nodeAffinity.required", robustCount(len(n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms), "term"))
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

// togetherNot says what forbids that two pods of the stack share a node; empty where nothing
// does.
func togetherNot(x *replicaGroup, crews []*replicaGroup) string {
	spec := x.spec()
	selects := func(s *metav1.LabelSelector, y *replicaGroup) bool {
		sel, err := metav1.LabelSelectorAsSelector(s)
		return err == nil && sel.Matches(labels.Set(y.labels()))
	}
	if spec.Affinity != nil && spec.Affinity.PodAntiAffinity != nil {
		for _, term := range spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			for _, y := range crews {
				if (y != x || x.Replicas > 1) && len(term.Namespaces) == 0 && term.NamespaceSelector == nil && togetherNamespace(x, y) && selects(term.LabelSelector, y) {
					return fmt.Sprintf("%s must run apart from %s: its podAntiAffinity over %s requires it", x.Ref, togetherWith(y, x), term.TopologyKey)
				}
			}
		}
	}
	for _, t := range spec.TopologySpreadConstraints {
		if t.WhenUnsatisfiable == corev1.DoNotSchedule && x.Replicas > t.MaxSkew && selects(t.LabelSelector, x) {
			return fmt.Sprintf("%s must spread over %s, with a maxSkew of %d", x.Ref, t.TopologyKey, t.MaxSkew)
		}
	}
	return ""
}

func togetherNamespace(a, b *replicaGroup) bool {
	return a.Workloads[0].Ref.Namespace == b.Workloads[0].Ref.Namespace
}

func togetherWith(y, x *replicaGroup) string {
	if y == x {
		return "its own replicas"
	}
	return y.Ref.String()
}
