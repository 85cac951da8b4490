package health

import (
	"fmt"
	"iter"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// containers goes through the containers of a pod that have a status, those that
// initialize it first.
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

// containerTrouble judges a pod by its containers that cannot start, or have just
// ended badly. The first one gives the reason.
func containerTrouble(p *corev1.Pod) (Health, bool) {
	if done, of := completed(p); of > 0 && done == of {
		return Health{}, false // Its sidecars are being ended, which is no trouble.
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

// trouble tells why a container does not run, where that is trouble.
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

// badWait says that what a container waits for will not come by itself. The kubelet
// and the runtimes have many words for it, of a few shapes: CrashLoopBackOff,
// ErrImagePull, InvalidImageName, CreateContainerConfigError.
func badWait(reason string) bool {
	for _, end := range []string{"BackOff", "Error", "Failed", "Unavailable"} {
		if strings.HasSuffix(reason, end) {
			return true
		}
	}
	return strings.HasPrefix(reason, "Err") || strings.HasPrefix(reason, "Invalid")
}

// troubleSince is since when a pod is not ready, if it tells: a container that crashes
// again and again is in trouble for longer than since its last crash.
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

// crashedContainer judges a pod that is not ready by a container that runs again after
// it ended badly, and is not ready since.
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

// loop is after how many restarts a container that ends badly soon after each is taken to
// do so again.
const loop = 3

// restartLoop judges a pod that is ready just now by a container that ended badly time
// after time, and has not run longer since than the last time. One that crashed until
// what it needs was there soon has.
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

// ending tells how a container ended.
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

// restarts tells of the containers that were restarted, and when the last of them
// ended.
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

// initProgress counts the init containers that are done, names the one that runs, and
// says when the last of them ended. Sidecars go on, and do not count.
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
		case sidecars[c.Name]: // It runs as long as the pod.
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

// waitingReason is what the first container that waits says it waits for.
func waitingReason(p *corev1.Pod) string {
	for c := range containers(p) {
		if c.State.Waiting != nil && c.State.Waiting.Reason != "" {
			return c.State.Waiting.Reason
		}
	}
	return ""
}

// completed counts the containers that have ended well, of all.
func completed(p *corev1.Pod) (done, of int) {
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

// lastStart is when the last of the containers that run and are not ready was started;
// zero where there is none.
func lastStart(p *corev1.Pod) time.Time {
	var last time.Time
	for c := range containers(p) {
		if run := c.State.Running; !c.Ready && run != nil && run.StartedAt.After(last) {
			last = run.StartedAt.Time
		}
	}
	return last
}

// lastEnd is when the last container of a pod ended.
func lastEnd(p *corev1.Pod) time.Time {
	var last time.Time
	for i := range p.Status.ContainerStatuses {
		if end := p.Status.ContainerStatuses[i].State.Terminated; end != nil && end.FinishedAt.After(last) {
			last = end.FinishedAt.Time
		}
	}
	return last
}

// startTime is how long the containers of a pod may take to be ready: what their probes
// allow, where that is more than patience.
func startTime(p *corev1.Pod) time.Duration {
	allowed := startTimeout
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		allowed = max(allowed, probing(c.StartupProbe)+probing(c.ReadinessProbe))
	}
	return allowed
}

// probing is how long a probe takes to give up; zero where there is none. The API
// server writes the defaults, 10 s and 3 times, into the fields.
func probing(p *corev1.Probe) time.Duration {
	if p == nil {
		return 0
	}
	return time.Duration(int64(p.InitialDelaySeconds)+int64(p.PeriodSeconds)*int64(p.FailureThreshold)) * time.Second
}
