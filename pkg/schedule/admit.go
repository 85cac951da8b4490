package schedule

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The priorities of the two classes that every cluster has, as in
// k8s.io/kubernetes/pkg/apis/scheduling.
const (
	prioritySystemCluster = 2000000000
	prioritySystemNode    = 2000001000
)

// completed returns a new pod with the defaults of the API server that the scheduler reads, and
// which of them are unknown. It does not change fields that the API server has set.
func (c *Cluster) completed(given *corev1.Pod) (*corev1.Pod, []string) {
	pod := given.DeepCopy()
	var open []string
	fillContainers(&pod.Spec)
	fillTolerations(&pod.Spec)
	if !c.fillPriority(&pod.Spec) {
		open = append(open, fmt.Sprintf("its priority is unknown (class %q), and so are the pods that may be evicted for it", pod.Spec.PriorityClassName))
	}
	if !c.fillRuntime(&pod.Spec) {
		open = append(open, fmt.Sprintf("runtime class %s was not found: its overhead is unknown", *pod.Spec.RuntimeClassName))
	}
	mergeLabelKeys(pod)
	return pod, open
}

// fillContainers sets requests that are left out to the limits, and the ports of pods on
// the network of the node.
func fillContainers(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			r := &list[i].Resources
			for name, quantity := range r.Limits {
				if _, ok := r.Requests[name]; ok {
					continue
				}
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[name] = quantity
			}
			for j := range list[i].Ports {
				if p := &list[i].Ports[j]; spec.HostNetwork && p.HostPort == 0 {
					p.HostPort = p.ContainerPort
				}
			}
		}
	}
}

// fillTolerations adds the two tolerations that the API server gives to all pods.
func fillTolerations(spec *corev1.PodSpec) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		has := slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !has {
			seconds := int64(300)
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
		}
	}
}

// fillPriority resolves the priority class, and says whether it was found.
func (c *Cluster) fillPriority(spec *corev1.PodSpec) bool {
	if spec.Priority != nil {
		return true
	}
	var value int32
	found := spec.PriorityClassName == "" && !c.Unread.Priorities
	switch spec.PriorityClassName {
	case "system-cluster-critical":
		value, found = prioritySystemCluster, true
	case "system-node-critical":
		value, found = prioritySystemNode, true
	}
	// Of several global defaults the lowest is taken, as the API server does.
	var best *int32
	for _, class := range c.Priorities {
		named := spec.PriorityClassName != "" && class.Name == spec.PriorityClassName
		global := spec.PriorityClassName == "" && class.GlobalDefault
		if !named && !global || best != nil && *best <= class.Value {
			continue
		}
		best, found = &class.Value, true
		value = class.Value
		if spec.PreemptionPolicy == nil {
			spec.PreemptionPolicy = class.PreemptionPolicy
		}
	}
	if !found {
		// It could be any, so that it is taken to be able to evict all.
		value = prioritySystemNode
	}
	spec.Priority = &value
	return found
}

// fillRuntime adds the overhead and the selectors of the runtime class, and says whether it
// was found.
func (c *Cluster) fillRuntime(spec *corev1.PodSpec) bool {
	if spec.RuntimeClassName == nil || *spec.RuntimeClassName == "" {
		return true
	}
	for _, class := range c.Runtimes {
		if class.Name != *spec.RuntimeClassName {
			continue
		}
		if spec.Overhead == nil && class.Overhead != nil {
			spec.Overhead = class.Overhead.PodFixed
		}
		if class.Scheduling == nil {
			return true
		}
		for key, value := range class.Scheduling.NodeSelector {
			if spec.NodeSelector == nil {
				spec.NodeSelector = map[string]string{}
			}
			spec.NodeSelector[key] = value
		}
		for _, t := range class.Scheduling.Tolerations {
			if !slices.ContainsFunc(spec.Tolerations, func(o corev1.Toleration) bool { return o.MatchToleration(&t) }) {
				spec.Tolerations = append(spec.Tolerations, t)
			}
		}
		return true
	}
	return spec.Overhead != nil
}

// mergeLabelKeys adds matchLabelKeys and mismatchLabelKeys to the selectors of affinity, as
// is done once, when a pod is made. Those of spread constraints are read where they are
// used: the scheduler does so too.
func mergeLabelKeys(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		return
	}
	merge := func(terms []corev1.PodAffinityTerm) {
		for i := range terms {
			t := &terms[i]
			if t.LabelSelector == nil {
				continue
			}
			addLabelKeys(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
			addLabelKeys(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, pod.Labels)
		}
	}
	if a := pod.Spec.Affinity.PodAffinity; a != nil {
		merge(a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a := pod.Spec.Affinity.PodAntiAffinity; a != nil {
		merge(a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}

func addLabelKeys(selector *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, podLabels labels.Set) {
	for _, key := range keys {
		if value, ok := podLabels[key]; ok {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
}
