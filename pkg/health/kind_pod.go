package health

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func podKinds() []kindRule {
	return []kindRule{typed("", "v1", "Pod", podHealth)}
}

// nodeLost is the reason for a pod whose kubelet does not report.
const nodeLost = "NodeLost"

// podHealth evaluates a pod by its phase, its containers and its conditions. A failed pod is
// Degraded even if its Job or ReplicaSet has created a new one: its owner decides whether that
// matters.
func podHealth(s *subject, p *corev1.Pod) Health {
	h := podPhase(s, p)
	// Older kubelets do not write observedGeneration, and trouble is trouble in any generation.
	if h.Status == Healthy && p.Status.ObservedGeneration > 0 {
		if old, stale := s.stale(p.Status.ObservedGeneration); stale {
			return old
		}
	}
	return h
}

func podPhase(s *subject, p *corev1.Pod) Health {
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		return ended(newHealth(Healthy, lastEnd(p), "Completed", "its containers have completed"))
	case corev1.PodFailed:
		return ended(failedPod(p))
	case corev1.PodUnknown:
		return newHealth(Degraded, podSaid(p, corev1.PodReady).since, or(p.Status.Reason, nodeLost), "%s", or(p.Status.Message, "its node reports no status"))
	}
	if trouble, ok := containerTrouble(p); ok {
		return trouble
	}
	if end := podSaid(p, corev1.DisruptionTarget); end.yes() {
		// The condition is removed if the eviction did not happen.
		return end.as(Progressing, string(corev1.DisruptionTarget), "it is about to be evicted")
	}
	switch p.Status.Phase {
	case corev1.PodPending, "":
		return pendingPod(s, p)
	case corev1.PodRunning:
		return runningPod(s, p)
	}
	return newHealth(Unknown, time.Time{}, NotUnderstood, "its phase %s is unknown", p.Status.Phase)
}

// pendingPod evaluates a pod that has not started.
func pendingPod(s *subject, p *corev1.Pod) Health {
	placed := podSaid(p, corev1.PodScheduled)
	if p.Spec.NodeName == "" || placed.no() {
		return unplacedPod(s, p, placed)
	}
	since := placed.since
	if since.IsZero() {
		since = s.createdAt()
	}
	total := 0
	for _, c := range p.Spec.InitContainers {
		if !sidecar(&c) {
			total++
		}
	}
	if crashed, ok := crashedContainer(p); ok {
		crashed.Since = podSaid(p, corev1.PodReady).since
		return crashed
	}
	done, running, last := initProgress(p)
	if running != "" {
		// An init container has no time limit: it may restore a backup.
		return newHealth(Progressing, since, "PodInitializing", "%d/%d init containers done; %s runs", done, total, running)
	}
	if last.After(since) {
		since = last
	}
	message := "its containers are not started yet"
	if podSaid(p, corev1.PodReadyToStartContainers).no() {
		message = "its volumes or its network are not set up yet"
	}
	reason := or(waitingReason(p), "ContainerCreating")
	if p.Status.StartTime == nil {
		reason, message = "NotAccepted", "the kubelet of "+p.Spec.NodeName+" has not accepted it yet"
	}
	// Only the events say what a container waits for, an image or a volume.
	return newHealth(s.progressingUntil(since, startTimeout), since, reason, "%s", message)
}

// unplacedPod evaluates a pod without a node.
func unplacedPod(s *subject, p *corev1.Pod, placed stated) Health {
	switch {
	case placed.reason == corev1.PodReasonSchedulingGated || len(p.Spec.SchedulingGates) > 0:
		// A scheduling gate holds it, as a queue does with a suspended Job, until the gate is
		// removed.
		return newHealth(Suspended, placed.since, corev1.PodReasonSchedulingGated, "held back by scheduling gates: %s", gates(p))
	case p.Status.NominatedNodeName != "":
		return newHealth(Progressing, placed.since, or(placed.reason, "Nominated"), "pods are being evicted from %s for it", p.Status.NominatedNodeName)
	case placed.no():
		since := placed.since
		if since.IsZero() {
			since = s.createdAt()
		}
		return newHealth(s.progressingUntil(since, decisionGrace), since, or(placed.reason, corev1.PodReasonUnschedulable), "%s", or(placed.message, "no node takes it"))
	}
	message := "no scheduler has processed it yet"
	if name := p.Spec.SchedulerName; name != "" {
		message = "the scheduler " + name + " has not processed it yet"
	}
	return newHealth(s.progressingUntil(s.createdAt(), startTimeout), s.createdAt(), "NotScheduled", "%s", message)
}

func gates(p *corev1.Pod) string {
	var names []string
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

// runningPod evaluates a started pod without a container in trouble at present.
func runningPod(s *subject, p *corev1.Pod) Health {
	ready := podSaid(p, corev1.PodReady)
	switch {
	case ready.yes():
		return readyPod(s, p, ready)
	case !ready.found():
		status := Progressing
		if s.lasted(s.createdAt(), startTimeout) {
			status = Unknown // its runtime does not report readiness
		}
		return newHealth(status, s.createdAt(), "NotReady", "it runs, and does not report whether it is ready")
	case !ready.no(), p.Status.Reason == nodeLost, ready.reason == nodeLost, ready.reason == "NodeNotReady", ready.reason == "NodeStatusUnknown":
		return ready.as(Degraded, nodeLost, or(p.Status.Message, "its node reports no status"))
	}
	if crashed, ok := crashedContainer(p); ok {
		crashed.Since = ready.since
		return crashed
	}
	if done, total := completed(p); done > 0 && p.Spec.RestartPolicy != corev1.RestartPolicyAlways && done+readyContainers(p) == total {
		return newHealth(Progressing, ready.since, "Completing", "%d/%d containers have completed", done, total)
	}
	return unreadyPod(s, p, ready)
}

// unreadyPod evaluates a pod that runs, has not crashed, and is not ready. One that was ready
// before is Degraded: no restart will fix it. One that never was is Progressing for as long as its
// probes allow, and at least for startTimeout.
func unreadyPod(s *subject, p *corev1.Pod, ready stated) Health {
	count := fmt.Sprintf("%d/%d containers ready", readyContainers(p), len(p.Spec.Containers))
	started, allowed := lastStart(p), startTime(p)
	reason, message := "NotReady", count
	if containers := podSaid(p, corev1.ContainersReady); containers.yes() {
		started = containers.since
		if closed := closedGates(p); closed != "" {
			reason, message = "ReadinessGatesNotReady", count+"; waits for "+closed
		}
	}
	// The kubelet writes the condition before it starts the containers, and again on a change.
	// Times are rounded to seconds.
	if !started.IsZero() && ready.since.After(started.Add(time.Second)) {
		return newHealth(Degraded, ready.since, reason, "%s; it was ready before", message)
	}
	if started.IsZero() {
		started = ready.since
	}
	return newHealth(s.progressingUntil(started, allowed), ready.since, reason, "%s", message)
}

// readyPod evaluates a ready pod. Its restarts are mentioned, and do not count unless they form a
// loop.
func readyPod(s *subject, p *corev1.Pod, ready stated) Health {
	if loop, ok := s.restartLoop(p); ok {
		return loop
	}
	h := newHealth(Healthy, ready.since, "Ready", "%d/%d containers ready", readyContainers(p), len(p.Spec.Containers))
	if text, end := restarts(p); text != "" {
		h.Message += "; " + text
		if !end.IsZero() && !s.lasted(end, startTimeout) {
			h.Reason = "Restarted"
		}
	}
	if pending := podSaid(p, corev1.PodResizePending); pending.yes() {
		h.Message += "; its resize is " + strings.ToLower(or(pending.reason, "pending"))
	}
	return h
}

// failedPod evaluates a pod that has failed.
func failedPod(p *corev1.Pod) Health {
	h := newHealth(Degraded, lastEnd(p), p.Status.Reason, "%s", p.Status.Message)
	for c := range containers(p) {
		if end := c.State.Terminated; end != nil && (end.ExitCode != 0 || end.Signal != 0) {
			h.Reason = or(h.Reason, end.Reason)
			h.Message = or(h.Message, c.Name+" ended: "+ending(end))
			break
		}
	}
	if end := podSaid(p, corev1.DisruptionTarget); end.yes() {
		h.Reason, h.Message = or(h.Reason, end.reason), or(h.Message, end.message)
		if h.Since.IsZero() {
			h.Since = end.since
		}
	}
	h.Reason, h.Message = or(h.Reason, "Failed"), or(h.Message, "it has failed")
	if h.Since.IsZero() {
		h.Since = podSaid(p, corev1.PodReady).since
	}
	return h
}

func podSaid(p *corev1.Pod, kind corev1.PodConditionType) stated {
	return find(p.Status.Conditions, kind, saidOfPod)
}

// closedGates names the readiness gates of a pod that are not true.
func closedGates(p *corev1.Pod) string {
	var closed []string
	for _, gate := range p.Spec.ReadinessGates {
		if !podSaid(p, gate.ConditionType).yes() {
			closed = append(closed, string(gate.ConditionType))
		}
	}
	return strings.Join(closed, ", ")
}
