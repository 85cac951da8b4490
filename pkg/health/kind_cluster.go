package health

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func clusterKinds() []kindRule {
	return []kindRule{
		typed("", "v1", "Node", nodeHealth),
		{"", "", "Namespace", namespaceHealth},
	}
}

// nodeProblems returns the conditions of nodes that are trouble if True: those of the kubelet, of
// cloud providers, and of the node problem detector (github.com/kubernetes/node-problem-detector,
// config/). Others may be good or bad, and are ignored.
func nodeProblems() []string {
	return []string{
		"NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure", "OutOfDisk",
		"KernelDeadlock", "ReadonlyFilesystem", "CorruptDockerOverlay2", "XfsShutdown", "CperHardwareErrorFatal",
		"KubeletUnhealthy", "ContainerRuntimeUnhealthy", "FrequentKubeletRestart", "FrequentContainerdRestart", "FrequentDockerRestart", "FrequentUnregisterNetDevice",
	}
}

func nodeHealth(s *subject, n *corev1.Node) Health {
	ready := find(n.Status.Conditions, corev1.NodeReady, saidOfNode)
	switch {
	case !ready.found():
		return newHealth(s.progressingUntil(s.createdAt(), startTimeout), s.createdAt(), "NodeNotReady", "its kubelet has not reported a status")
	case !ready.yes():
		h := ready.as(Degraded, "NodeNotReady", "it is not ready")
		if ready.no() && ready.reason == "KubeletNotReady" && !s.lasted(s.createdAt(), startTimeout) {
			h.Status = Progressing // a new node waits for its network
		}
		return h
	}
	var bad stated
	var words []string
	for i := range n.Status.Conditions {
		c := saidOfNode(&n.Status.Conditions[i])
		if !c.yes() || !slices.Contains(nodeProblems(), c.kind) {
			continue
		}
		if !bad.found() {
			bad = c
		}
		words = append(words, c.kind+": "+or(c.message, c.reason))
	}
	switch {
	case bad.found():
		return Health{Status: Degraded, Reason: bad.kind, Message: strings.Join(words, "; "), Since: bad.since}
	case n.Spec.Unschedulable:
		since := time.Time{}
		for _, taint := range n.Spec.Taints {
			if taint.Key == corev1.TaintNodeUnschedulable && taint.TimeAdded != nil {
				since = taint.TimeAdded.Time
			}
		}
		return newHealth(Suspended, since, "SchedulingDisabled", "it is ready, and cordoned: no new pods are scheduled on it")
	}
	return ready.as(Healthy, "Ready", "it is ready")
}

// namespaceHealth needs only the metadata: a namespace is Active until it is deleted, and deletion
// was evaluated before. If its status was read, it says what blocks the deletion.
func namespaceHealth(s *subject) (Health, bool) {
	body, ok := s.Body.(*corev1.Namespace)
	if !ok {
		body, ok = converted[corev1.Namespace](s, corev1.SchemeGroupVersion)
	}
	if !ok {
		if _, partial := s.Body.(*metav1.PartialObjectMetadata); !partial {
			return Health{}, false
		}
		body = &corev1.Namespace{}
	}
	if body.Status.Phase == corev1.NamespaceTerminating {
		words := []string{"it is being deleted"}
		since := time.Time{}
		for i := range body.Status.Conditions {
			if c := saidOfNamespace(&body.Status.Conditions[i]); c.yes() {
				words = append(words, or(c.message, c.kind))
				since = c.since
			}
		}
		return newHealth(Progressing, since, Deleting, "%s", strings.Join(words, "; ")), true
	}
	return newHealth(Healthy, s.createdAt(), "Active", "it is active"), true
}
