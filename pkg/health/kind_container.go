package health

import (
	"fmt"
	"iter"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// containers yields the containers of a pod that have a status, init containers first.
func containers(p *corev1.Pod) iter.Seq[*corev1.ContainerStatus] {
	return func(yield func(*corev1.ContainerStatus) bool) {
		for i := range p.Status.InitContainerStatuses {
			if !yield(&p.Status.InitContainerStatuses[i]) {
				return
			}
		}
		for i := range p.Status.ContainerStatuses {
			if !yield(&p.Status.ContainerStatuses[i]) {
				return
			}
		}
	}
}

// containerTrouble evaluates the containers of a pod that cannot start, or have just failed. The
// first one gives the reason.
func containerTrouble(p *corev1.Pod) (Health, bool) {
	if done, total := completed(p); total > 0 && done == total {
		return Health{}, false // its sidecars are being stopped, which is normal
	}
	h := Health{Status: Degraded}
	var messages []string
	for c := range containers(p) {
		reason, message := trouble(c)
		if reason == "" {
			continue
		}
		if h.Reason == "" {
			h.Reason, h.Since = reason, troubleSince(p, c)
		}
		messages = append(messages, message)
	}
	h.Message = strings.Join(messages, "; ")
	return h, h.Reason != ""
}

// trouble returns why a container does not run, if that is trouble.
func trouble(c *corev1.ContainerStatus) (reason, message string) {
	if end := c.State.Terminated; end != nil && end.ExitCode != 0 {
		return or(end.Reason, "Error"), fmt.Sprintf("%s ended: %s%s", c.Name, ending(end), times(c))
	}
	wait := c.State.Waiting
	if wait == nil || !badWait(wait.Reason) {
		return "", ""
	}
	message = fmt.Sprintf("%s: %s%s", c.Name, wait.Reason, times(c))
	if end := c.LastTerminationState.Terminated; end != nil {
		return wait.Reason, message + ", last ended: " + ending(end)
	}
	if wait.Message != "" {
		message += ": " + wait.Message
	}
	return wait.Reason, message
}

// badWait reports whether a container waits for something that will not resolve by itself. The
// kubelet and the runtimes have many reasons, of a few shapes: CrashLoopBackOff, ErrImagePull,
// InvalidImageName, CreateContainerConfigError.
func badWait(reason string) bool {
	for _, end := range []string{"BackOff", "Error", "Failed", "Unavailable"} {
		if strings.HasSuffix(reason, end) {
			return true
		}
	}
	return strings.HasPrefix(reason, "Err") || strings.HasPrefix(reason, "Invalid")
}

// troubleSince returns since when a pod is not ready, if known: a container that crashes repeatedly
// has been in trouble for longer than since its last crash.
func troubleSince(p *corev1.Pod, c *corev1.ContainerStatus) time.Time {
	if ready := podSaid(p, corev1.PodReady); ready.no() && !ready.since.IsZero() {
		return ready.since
	}
	for _, end := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
		if end != nil {
			return end.FinishedAt.Time
		}
	}
	return podSaid(p, corev1.PodScheduled).since
}

// crashedContainer evaluates a pod that is not ready by a container that restarted after a failure,
// and is not ready since.
func crashedContainer(p *corev1.Pod) (Health, bool) {
	for c := range containers(p) {
		end := c.LastTerminationState.Terminated
		if c.Ready || c.State.Running == nil || end == nil || end.ExitCode == 0 {
			continue
		}
		return newHealth(Degraded, time.Time{}, or(end.Reason, "Error"), "%s%s, last ended: %s; it is not ready since", c.Name, times(c), ending(end)), true
	}
	return Health{}, false
}

// loop is the number of quick failures after which another one is expected.
const loop = 3

// restartLoop evaluates a ready pod by a container that failed repeatedly, and has not run longer
// since than the last time. A container that only crashed until its dependencies existed soon has.
func (s *subject) restartLoop(p *corev1.Pod) (Health, bool) {
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		end, run := c.LastTerminationState.Terminated, c.State.Running
		if end == nil || run == nil || end.ExitCode == 0 || c.RestartCount < loop || end.StartedAt.IsZero() || run.StartedAt.IsZero() {
			continue
		}
		if last := end.FinishedAt.Sub(end.StartedAt.Time); last < startTimeout && s.now.Sub(run.StartedAt.Time) <= last {
			return newHealth(Degraded, end.FinishedAt.Time, or(end.Reason, "Error"), "%s%s, last ended: %s after %s; it is ready, and has not run as long since", c.Name, times(c), ending(end), last), true
		}
	}
	return Health{}, false
}

// ending describes how a container ended.
func ending(end *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", end.ExitCode)
	if end.Signal != 0 {
		text = fmt.Sprintf("signal %d", end.Signal)
	}
	if end.Reason != "" {
		text = end.Reason + ", " + text
	}
	return text
}

func times(c *corev1.ContainerStatus) string {
	switch c.RestartCount {
	case 0:
		return ""
	case 1:
		return ", restarted once"
	}
	return fmt.Sprintf(", restarted %d times", c.RestartCount)
}

// restarts describes the restarted containers, and returns when the last of them ended.
func restarts(p *corev1.Pod) (string, time.Time) {
	var texts []string
	var last time.Time
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		if c.RestartCount == 0 {
			continue
		}
		text := c.Name + times(c)
		if end := c.LastTerminationState.Terminated; end != nil {
			text += ", last ended: " + ending(end)
			if end.FinishedAt.After(last) {
				last = end.FinishedAt.Time
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; "), last
}

// initProgress counts the completed init containers, and returns the running one and when the last
// of them ended. Sidecars continue, and do not count.
func initProgress(p *corev1.Pod) (done int, running string, last time.Time) {
	sidecars := map[string]bool{}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; sidecar(c) {
			sidecars[c.Name] = true
		}
	}
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		switch {
		case sidecars[c.Name]: // it runs as long as the pod
		case c.State.Running != nil:
			running = or(running, c.Name)
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			done++
			if c.State.Terminated.FinishedAt.After(last) {
				last = c.State.Terminated.FinishedAt.Time
			}
		}
	}
	return done, running, last
}

func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// waitingReason returns the reason of the first waiting container.
func waitingReason(p *corev1.Pod) string {
	for c := range containers(p) {
		if c.State.Waiting != nil && c.State.Waiting.Reason != "" {
			return c.State.Waiting.Reason
		}
	}
	return ""
}

// completed counts the containers that have succeeded, of all.
func completed(p *corev1.Pod) (done, total int) {
	for i := range p.Status.ContainerStatuses {
		if end := p.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode == 0 {
			done++
		}
	}
	return done, len(p.Status.ContainerStatuses)
}

func readyContainers(p *corev1.Pod) int {
	n := 0
	for i := range p.Status.ContainerStatuses {
		if p.Status.ContainerStatuses[i].Ready {
			n++
		}
	}
	return n
}

// lastStart returns when the last of the running containers that are not ready was started, or
// zero.
func lastStart(p *corev1.Pod) time.Time {
	var last time.Time
	for c := range containers(p) {
		if run := c.State.Running; !c.Ready && run != nil && run.StartedAt.After(last) {
			last = run.StartedAt.Time
		}
	}
	return last
}

// lastEnd returns when the last container of a pod ended.
func lastEnd(p *corev1.Pod) time.Time {
	var last time.Time
	for i := range p.Status.ContainerStatuses {
		if end := p.Status.ContainerStatuses[i].State.Terminated; end != nil && end.FinishedAt.After(last) {
			last = end.FinishedAt.Time
		}
	}
	return last
}

// startTime returns how long the containers of a pod may take to be ready: what their probes allow,
// and at least startTimeout.
func startTime(p *corev1.Pod) time.Duration {
	allowed := startTimeout
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		allowed = max(allowed, probing(c.StartupProbe)+probing(c.ReadinessProbe))
	}
	return allowed
}

// probing returns how long a probe takes to fail; zero without a probe. The API server writes the
// defaults, 10 s and 3 times, into the fields.
func probing(p *corev1.Probe) time.Duration {
	if p == nil {
		return 0
	}
	return time.Duration(int64(p.InitialDelaySeconds)+int64(p.PeriodSeconds)*int64(p.FailureThreshold)) * time.Second
}
