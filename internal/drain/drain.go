// Package drain predicts what the drain of a node does: the pods that it evicts, the budgets
// that block it, and the stacks that it breaks.
package drain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Outcome is what the drain of a node would do: kubectl drain evicts its pods by the API,
// which asks their disruption budgets.
type Outcome struct {
	// Node is the one that is drained; Read says that it was read, Cordoned that it takes no
	// new pods already.
	Node     object.Ref `json:"node"`
	Read     bool       `json:"-"`
	Zone     string     `json:"zone,omitempty"`
	Cordoned bool       `json:"cordoned"`
	// Stacks are those with pods there, those that break first, and in order.
	Stacks []Stack `json:"stacks"`
	// Evicted are all pods that it evicts, in order, in whatever stack they are; NoStack
	// those that are in none of the stacks.
	Evicted []Pod `json:"-"`
	NoStack []Pod `json:"noStack"`
	// LeftAlone are the pods that a drain ignores: of DaemonSets, and static ones.
	LeftAlone []Pod `json:"ignored"`
	// Budgets are those of pods there, those that block first, and in order.
	Budgets []Budget `json:"budgets"`
	// Flags are those that kubectl drain requires: --force.
	Flags []string `json:"flags"`
	// Elsewhere says whether the evicted pods would find other nodes (ClusterState.Elsewhere);
	// nil where that was not checked.
	Elsewhere *schedule.Result `json:"rescheduling,omitempty"`
	// Open says what is unknown, a sentence each, without a full stop.
	Open []string `json:"unknown"`
}

// Stack is a stack with pods on the node.
type Stack struct {
	Ref object.Ref `json:"id"`
	// Breaks says that one of its workloads has no ready pod left; Blocked that a pod of it
	// cannot be evicted.
	Breaks  bool `json:"breaks"`
	Blocked bool `json:"blocked"`
	// Workloads are those with pods there, in order.
	Workloads []Workload `json:"workloads"`
}

// Workload is a workload with pods on the node. Pods that operators create
// themselves are together under their owner.
type Workload struct {
	Ref object.Ref `json:"id"`
	// Replicas are those that are wanted; Left the pods elsewhere that are ready, Waiting those
	// elsewhere that are not.
	Replicas int32 `json:"replicas"`
	Left     int   `json:"remaining"`
	Waiting  int   `json:"waiting"`
	// Breaks says that no ready pod is left, until one is created elsewhere.
	Breaks bool `json:"breaks"`
	// Here are its pods on the node.
	Here []Pod `json:"pods"`
}

// Pod is a pod on the node.
type Pod struct {
	Pod object.Ref `json:"id"`
	// Ready says that it is ready today.
	Ready bool `json:"ready"`
	// Why says why a drain ignores it: DaemonSet, static.
	Why string `json:"ignored,omitempty"`
	// Lost says that nothing recreates it, since it has no controller.
	Lost bool `json:"lost"`
	// Refused says why its eviction is refused, in one sentence; empty where it is not.
	Refused string `json:"refused,omitempty"`
	// Waits says that it is evicted only after others are up elsewhere, as its budget does
	// not let all go at once.
	Waits bool `json:"waits"`
	// Volatile are its emptyDir volumes, whose data is lost. Memory ones are not among them.
	Volatile []string `json:"volatile"`
	// Pinned are its claims with a volume that only this node can mount: the pod that
	// takes its place waits until the node is back.
	Pinned []object.Ref `json:"pinned"`
	// Budgets are those that select it.
	Budgets []object.Ref `json:"budgets"`
}

// Budget is a disruption budget with pods on the node.
type Budget struct {
	Ref object.Ref `json:"id"`
	// Pods counts those on the node that must be evicted, Allowed how many may be today.
	Pods    int   `json:"pods"`
	Allowed int32 `json:"allowed"`
	// Blocks says that none may be evicted; Never that waiting does not help, since all of its
	// pods are healthy.
	Blocks bool `json:"blocks"`
	Never  bool `json:"-"`
	// Message says so in one sentence.
	Message string `json:"message"`
}

// Predict says what the drain of a node would do, by its name, and which stacks it hits.
func Predict(w *check.ClusterState, node string, stacks []*check.Stack) *Outcome {
	d := &Outcome{Node: object.Ref{Kind: "Node", Name: node}}
	if n, ok := check.Of[*corev1.Node](w.Facts, d.Node); ok {
		d.Read, d.Cordoned, d.Zone = true, n.Spec.Unschedulable, n.Labels[corev1.LabelTopologyZone]
	}
	b := newDrainBudgets(w)
	pods := map[object.Ref]Pod{}
	for _, p := range check.All[*corev1.Pod](w.Facts, "", "Pod") {
		if p.Spec.NodeName != node || check.HasEnded(p) {
			continue
		}
		x := podOnNode(w, p, node)
		if x.Why == "" {
			b.ask(p, &x)
			d.Evicted = append(d.Evicted, x)
		} else {
			d.LeftAlone = append(d.LeftAlone, x)
		}
	}
	d.Budgets = b.evaluate(d.Evicted)
	for _, x := range d.Evicted {
		pods[x.Pod] = x
	}
	in := map[object.Ref]bool{}
	for _, s := range stacks {
		d.hit(w, s, pods, in)
	}
	slices.SortFunc(d.Stacks, func(a, b Stack) int {
		if a.Breaks != b.Breaks {
			return trueFirst(a.Breaks)
		}
		return object.Compare(a.Ref, b.Ref)
	})
	d.NoStack = slices.DeleteFunc(slices.Clone(d.Evicted), func(x Pod) bool { return in[x.Pod] })
	d.Flags = flags(d)
	d.open(w)
	return d
}

func trueFirst(value bool) int {
	if value {
		return -1
	}
	return 1
}

// podOnNode returns what a drain does to a pod, except for budgets.
func podOnNode(w *check.ClusterState, p *corev1.Pod, node string) Pod {
	x := Pod{Pod: check.PodRef(p), Ready: check.PodReady(p)}
	controller := metav1.GetControllerOfNoCopy(p)
	switch {
	case check.IsMirrorPod(&p.ObjectMeta):
		x.Why = "static"
		return x
	case controller != nil && controller.Kind == "DaemonSet" && controller.APIVersion == "apps/v1":
		x.Why = "DaemonSet"
		return x
	}
	x.Lost = controller == nil
	for i := range p.Spec.Volumes {
		if e := p.Spec.Volumes[i].EmptyDir; e != nil && e.Medium != corev1.StorageMediumMemory {
			x.Volatile = append(x.Volatile, p.Spec.Volumes[i].Name)
		}
	}
	for _, ref := range check.ClaimRefs(&p.Spec, p.Namespace, p.Name) {
		if claim, ok := check.Of[*corev1.PersistentVolumeClaim](w.Facts, ref); ok && w.OnlyNode(claim) == node {
			x.Pinned = append(x.Pinned, ref)
		}
	}
	return x
}

// hit adds a stack, if it has pods among those that are evicted.
func (d *Outcome) hit(w *check.ClusterState, s *check.Stack, pods map[object.Ref]Pod, in map[object.Ref]bool) {
	out := Stack{Ref: s.Ref}
	for _, c := range w.ReplicaGroups(s.Workloads()) {
		wl := Workload{Ref: c.Ref, Replicas: c.Replicas}
		for _, p := range c.Pods {
			x, found := pods[check.PodRef(p)]
			switch {
			case found:
				in[x.Pod] = true
				wl.Here = append(wl.Here, x)
				out.Blocked = out.Blocked || x.Refused != ""
			case p.Spec.NodeName == d.Node.Name:
			case check.PodReady(p):
				wl.Left++
			default:
				wl.Waiting++
			}
		}
		if len(wl.Here) == 0 {
			continue
		}
		wl.Breaks = c.IsLongRunning() && wl.Left == 0
		out.Breaks = out.Breaks || wl.Breaks
		out.Workloads = append(out.Workloads, wl)
	}
	if len(out.Workloads) > 0 {
		d.Stacks = append(d.Stacks, out)
	}
}

// flags are the flags without which kubectl drain refuses to begin.
func flags(d *Outcome) []string {
	var out []string
	if slices.ContainsFunc(d.Evicted, func(x Pod) bool { return len(x.Volatile) > 0 }) {
		out = append(out, "--delete-emptydir-data")
	}
	if slices.ContainsFunc(d.Evicted, func(x Pod) bool { return x.Lost }) {
		out = append(out, "--force")
	}
	if slices.ContainsFunc(d.LeftAlone, func(x Pod) bool { return x.Why == "DaemonSet" }) {
		out = append(out, "--ignore-daemonsets")
	}
	return out
}

// open lists what is unknown.
func (d *Outcome) open(w *check.ClusterState) {
	if !w.Read(check.PodKind, "") {
		d.Open = append(d.Open, "cannot list pods in all namespaces: the node may run more")
	}
	namespaces := map[string]bool{}
	for _, x := range d.Evicted {
		if ns := x.Pod.Namespace; !namespaces[ns] {
			namespaces[ns] = true
			if !w.Read(check.BudgetKind, ns) {
				d.Open = append(d.Open, "disruption budgets of "+ns+" could not be read: they may block")
			}
		}
	}
}
