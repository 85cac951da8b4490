package logs

import (
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Role is the purpose of a container in its pod.
type Role uint8

// Roles.
const (
	// Main containers do the work, including sidecars that are written as init containers.
	Main Role = iota
	// Init containers run to completion before the main ones.
	Init
	// Ephemeral containers were added to a running pod for debugging.
	Ephemeral
)

// Default reasons why a container waits.
const (
	noWord       = "no report yet from its node"
	notScheduled = "not scheduled"
)

// Container is a container of a pod, with the state of its log.
type Container struct {
	Namespace, Pod, Name string
	UID                  types.UID // of the pod
	Node                 string    // empty if the pod has none yet
	Role                 Role
	// Instance identifies a run of the container; it is empty, and Waiting has the reason, if there
	// was none. Running is set while it runs.
	Instance string
	Running  bool
	Waiting  string
	// Started is when the instance started, by the node's clock; zero if unknown.
	Started time.Time
	// Restarted is set if the log of a previous instance exists.
	Restarted bool
	// Ended says how the pod has ended (Succeeded, or Failed with its reason), or is empty.
	Ended string
	// Lost says why the node may send nothing; it is empty if the node is ready or unknown.
	Lost string
}

// Collector extracts the containers of pods and the readiness of nodes as objects stream by, and
// stores neither. An object that comes again replaces its data. Objects with metadata only are
// ignored.
//
// The zero value is ready, and safe for concurrent use.
type Collector struct {
	mu   sync.Mutex
	pods map[object.Ref][]Container
	lost map[string]string // the reason, by node
}

// Add reads an object.
func (c *Collector) Add(o object.Object) {
	if o.Group != "" {
		return
	}
	switch o.Kind {
	case "Pod":
		if pod := bodyOf[corev1.Pod](o); pod != nil {
			c.addPod(o.Ref, containersOf(pod))
		}
	case "Node":
		if node := bodyOf[corev1.Node](o); node != nil {
			c.addNode(node)
		}
	}
}

// bodyOf returns the content of an object as its type; nil if only its metadata was read.
func bodyOf[T any](o object.Object) *T {
	if body, ok := any(o.Body).(*T); ok {
		return body
	}
	fields, body := o.Fields(), new(T)
	if fields == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(fields, body) != nil {
		return nil
	}
	return body
}

func (c *Collector) addPod(ref object.Ref, containers []Container) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pods == nil {
		c.pods = map[object.Ref][]Container{}
	}
	c.pods[ref] = containers
}

// addNode records a node that is not ready.
func (c *Collector) addNode(node *corev1.Node) {
	reason := ""
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			reason = "node " + node.Name + " is not ready"
			if condition.Reason != "" {
				reason += ": " + condition.Reason
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = map[string]string{}
	}
	c.lost[node.Name] = reason
}

// Of returns the containers of a pod: first the init containers, then the main ones, then the
// ephemeral ones, each in the order of the pod.
func (c *Collector) Of(pod object.Ref) []Container {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.pods[pod])
	for i := range all {
		all[i].Lost = c.lost[all[i].Node]
	}
	return all
}

func containersOf(pod *corev1.Pod) []Container {
	all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses)
	status := make(map[string]*corev1.ContainerStatus, len(all))
	for i := range all {
		status[all[i].Name] = &all[i]
	}
	var out []Container
	add := func(name string, role Role) {
		c := Container{Namespace: pod.Namespace, Pod: pod.Name, Name: name, UID: pod.UID, Node: pod.Spec.NodeName, Role: role, Ended: endOf(pod)}
		if s := status[name]; s != nil {
			c.run(s)
		} else {
			c.unknown(pod)
		}
		out = append(out, c)
	}
	for i := range pod.Spec.InitContainers {
		role := Init
		if p := pod.Spec.InitContainers[i].RestartPolicy; p != nil && *p == corev1.ContainerRestartPolicyAlways {
			role = Main
		}
		add(pod.Spec.InitContainers[i].Name, role)
	}
	for i := range pod.Spec.Containers {
		add(pod.Spec.Containers[i].Name, Main)
	}
	for i := range pod.Spec.EphemeralContainers {
		add(pod.Spec.EphemeralContainers[i].Name, Ephemeral)
	}
	return out
}

// run reads the current run from the status, as the kubelet does for a log request: for a waiting
// container that is the previous run, if there was one.
func (c *Container) run(s *corev1.ContainerStatus) {
	last := s.LastTerminationState.Terminated
	c.Restarted = last != nil
	instance := func(id string) string {
		if id == "" {
			id = s.ContainerID
		}
		if id == "" {
			id = "run " + strconv.Itoa(int(s.RestartCount))
		}
		return id
	}
	switch {
	case s.State.Running != nil:
		c.Instance, c.Running, c.Started = instance(""), true, s.State.Running.StartedAt.Time
	case s.State.Terminated != nil:
		c.Instance, c.Started = instance(s.State.Terminated.ContainerID), s.State.Terminated.StartedAt.Time
	case last != nil:
		c.Instance, c.Started = instance(last.ContainerID), last.StartedAt.Time
	case s.State.Waiting != nil && s.State.Waiting.Reason != "":
		c.Waiting = s.State.Waiting.Reason
	default:
		c.Waiting = noWord
	}
}

// unknown sets the state of a container without a status.
func (c *Container) unknown(pod *corev1.Pod) {
	switch {
	case c.Ended != "":
		c.Waiting = "the pod has ended: " + c.Ended
	case c.Node == "":
		c.Waiting = notScheduled
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason != "" {
				c.Waiting = condition.Reason
			}
		}
	case pod.Status.Phase == corev1.PodRunning:
		// A kubelet simulator may omit the statuses, although its server has logs.
		c.Instance, c.Running = "run", true
	default:
		c.Waiting = noWord
	}
}

func endOf(pod *corev1.Pod) string {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed:
		if pod.Status.Reason != "" {
			return string(pod.Status.Phase) + ": " + pod.Status.Reason
		}
		return string(pod.Status.Phase)
	}
	return ""
}
