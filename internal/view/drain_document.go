package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// DrainDocument is what a drain of a node would do (docs/schema/drain.json).
type DrainDocument struct {
	Head `json:",inline"`
	// Node is the one that is drained, Cordoned says that it takes no new pods already.
	Node     string `json:"node"`
	Zone     string `json:"zone,omitempty"`
	Cordoned bool   `json:"cordoned"`
	// Stacks are those with pods there, those that break first.
	Stacks []DrainStackDocument `json:"stacks"`
	// NoStack are the evicted pods that are in none of them, Ignored those that a drain
	// does not touch.
	NoStack []DrainPodDocument    `json:"noStack"`
	Ignored []DrainPodDocument    `json:"ignored"`
	Budgets []DrainBudgetDocument `json:"budgets"`
	// Flags are what kubectl drain has to be told.
	Flags []string `json:"flags"`
	// Rescheduling says whether the evicted pods would find other nodes.
	Rescheduling *ReschedulingDocument `json:"rescheduling,omitempty"`
	// Unknown says what is unknown, each a sentence.
	Unknown []string     `json:"unknown"`
	Gaps    []object.Gap `json:"gaps"`
}

// DrainStackDocument is a stack with pods on the node.
type DrainStackDocument struct {
	ID string `json:"id"`
	// Breaks says that a workload has no ready pod left, Blocked that an eviction is refused.
	Breaks    bool                    `json:"breaks"`
	Blocked   bool                    `json:"blocked"`
	Workloads []DrainWorkloadDocument `json:"workloads"`
}

// DrainWorkloadDocument is a workload with pods on the node.
type DrainWorkloadDocument struct {
	ID string `json:"id"`
	// Replicas are those that are wanted, Remaining the ready ones on other nodes, Waiting the
	// others on other nodes.
	Replicas  int32              `json:"replicas"`
	Remaining int                `json:"remaining"`
	Waiting   int                `json:"waiting"`
	Breaks    bool               `json:"breaks"`
	Pods      []DrainPodDocument `json:"pods"`
}

// DrainPodDocument is a pod on the node.
type DrainPodDocument struct {
	ID    string `json:"id"`
	Ready bool   `json:"ready"`
	// Ignored says why a drain does not touch it.
	Ignored string `json:"ignored,omitempty"`
	// Lost says that nobody makes it anew, Refused why its eviction is refused, Waits that it
	// goes only after others are up elsewhere.
	Lost    bool   `json:"lost"`
	Refused string `json:"refused,omitempty"`
	Waits   bool   `json:"waits"`
	// Volatile are its emptyDir volumes, Pinned the claims that only this node can mount.
	Volatile []string `json:"volatile"`
	Pinned   []string `json:"pinned"`
	Budgets  []string `json:"budgets"`
}

// DrainBudgetDocument is a PodDisruptionBudget that guards pods on the node.
type DrainBudgetDocument struct {
	ID string `json:"id"`
	// Pods are those on the node that have to go, Allowed how many it lets go today.
	Pods    int    `json:"pods"`
	Allowed int32  `json:"allowed"`
	Blocks  bool   `json:"blocks"`
	Message string `json:"message"`
}

// ReschedulingDocument says whether pods would find nodes (schedule.Result).
type ReschedulingDocument struct {
	Verdict   string            `json:"verdict"`
	Placement []schedule.Placed `json:"placement"`
	Reasons   []schedule.Reason `json:"reasons"`
	Unknown   []string          `json:"unknown"`
}

func drainDocument(d *check.Drain, gaps []object.Gap) DrainDocument {
	doc := DrainDocument{
		Head: Head{APIVersion, "Drain"}, Node: d.Node.String(), Zone: d.Zone, Cordoned: d.Cordoned,
		NoStack: drainPods(d.NoStack), Ignored: drainPods(d.LeftAlone),
		Flags: d.Flags, Unknown: d.Open, Gaps: gaps,
	}
	for i := range d.Stacks {
		s := &d.Stacks[i]
		out := DrainStackDocument{ID: s.Ref.String(), Breaks: s.Breaks, Blocked: s.Blocked}
		for j := range s.Workloads {
			w := &s.Workloads[j]
			out.Workloads = append(out.Workloads, DrainWorkloadDocument{
				ID: w.Ref.String(), Replicas: w.Replicas, Remaining: w.Left, Waiting: w.Waiting, Breaks: w.Breaks, Pods: drainPods(w.Here),
			})
		}
		doc.Stacks = append(doc.Stacks, out)
	}
	for i := range d.Budgets {
		b := &d.Budgets[i]
		doc.Budgets = append(doc.Budgets, DrainBudgetDocument{ID: b.Ref.String(), Pods: b.Pods, Allowed: b.Allowed, Blocks: b.Blocks, Message: b.Message})
	}
	if a := d.Elsewhere; a != nil {
		doc.Rescheduling = &ReschedulingDocument{Verdict: a.Verdict.String(), Placement: a.Placement, Reasons: a.Proofs, Unknown: a.Unknown}
	}
	return doc
}

func drainPods(pods []check.DrainedPod) []DrainPodDocument {
	out := []DrainPodDocument{}
	for i := range pods {
		p := &pods[i]
		out = append(out, DrainPodDocument{
			ID: p.Pod.String(), Ready: p.Ready, Ignored: p.Why, Lost: p.Lost, Refused: p.Refused, Waits: p.Waits,
			Volatile: p.Volatile, Pinned: refIDs(p.Pinned), Budgets: refIDs(p.Budgets),
		})
	}
	return out
}

// refIDs writes objects as documents do.
func refIDs(refs []object.Ref) []string {
	out := make([]string, 0, len(refs))
	for _, r := range refs {
		out = append(out, r.String())
	}
	return out
}
