// Package autoscale proposes how the workloads of applications are scaled, and what that means for
// the whole: a graph, objects and usage go in, and a plan comes out. It reads and writes nothing.
//
// The usual usage is the median over a window, the peak is the 95th percentile; at an instant both
// are the usage of that moment. docs/autoscaling.md has the formulas.
package autoscale

import (
	"cmp"
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// What a proposal creates.
const (
	Horizontal     = "HorizontalPodAutoscaler"
	Queue          = "ScaledObject"          // of KEDA, by a queue or by requests, and by utilization
	Vertical       = "VerticalPodAutoscaler" // which only recommends
	Recommendation = "recommendation"        // the same as numbers, where the cluster serves no VPA
	None           = "none"
)

// Suffix ends the name of the System that contains the scalers of a plan for another one.
const Suffix = "-autoscaling"

// The defaults.
const (
	DefaultCPU           = 70 // percent of the requests
	DefaultStabilization = 5 * time.Minute
)

// App is an application whose workloads are scaled.
type App struct {
	Name     string
	Roots    []graph.ID
	Settings system.AppAutoscaling
	// Target is the object of Settings.Target; zero for each workload.
	Target object.Ref
	// IgnoreGitOps says that a manager that reverts replicas is no reason to refuse.
	IgnoreGitOps bool
	// Held is the signal by which regulation holds the app; empty for none.
	Held string
}

// Usage is what the pods of a workload use together: millicores of CPU, bytes of memory.
type Usage struct {
	Pods        int
	CPU, Memory Percentiles
	// Containers are the means of one pod, by container.
	Containers map[string]Amounts
}

// Percentiles are the median and the 95th percentile over a window, or twice the value of a moment.
type Percentiles struct{ Usual, Peak int64 }

// Amounts are millicores of CPU, and bytes of memory.
type Amounts struct{ CPU, Memory int64 }

// World is what a plan is made from.
type World struct {
	Graph   *graph.Graph
	State   *check.ClusterState
	Options graph.StackOptions
	Apps    []App
	// Fields returns the content of a custom resource; nil where it was not read.
	Fields func(object.Ref) map[string]any
	// Defaults are those of the System.
	Defaults      system.Autoscaling
	Stabilization time.Duration
	// Usage is by workload. Source says where it is from, and Window that it is of a window and not
	// of a moment; without any usage Source is empty.
	Usage  map[object.Ref]Usage
	Source string
	Window bool
	// Requests are those to workloads behind an Ingress, over the window.
	Requests map[object.Ref]Requests
	// PodCost is what a pod of a workload costs a month, and Total what all cost now.
	PodCost  map[object.Ref]decimal.Decimal
	Total    decimal.Decimal
	Currency string
	// System is the name of the System that contains our scalers.
	System string
	// Held are the objects that regulation holds, with the signal.
	Held map[object.Ref]string
}

// Plan is how the applications are scaled.
type Plan struct {
	System    string     `json:"system"`
	Namespace string     `json:"namespace"`
	Usage     string     `json:"usage,omitempty"`
	Proposals []Proposal `json:"proposals"`
	Refusals  []Refusal  `json:"refusals"`
	Whole     Whole      `json:"whole"`
}

// Proposal is how one target is scaled.
type Proposal struct {
	Target object.Ref `json:"target"`
	App    string     `json:"app,omitempty"`
	Scaler string     `json:"scaler"`
	// Replicas are the current ones, Usual those at the usual usage.
	Replicas int `json:"replicas"`
	Min      int `json:"min,omitempty"`
	Usual    int `json:"usual,omitempty"`
	Max      int `json:"max,omitempty"`
	// CPU and Memory are target utilizations in percent of the requests.
	CPU    int `json:"cpu,omitempty"`
	Memory int `json:"memory,omitempty"`
	// Stabilization is for how many seconds usage must be lower before pods are removed.
	Stabilization int `json:"stabilizationSeconds,omitempty"`
	// Triggers are the queues and requests by which KEDA scales it.
	Triggers []Trigger `json:"triggers,omitempty"`
	// Requests are those that are recommended, by container.
	Requests []Request `json:"requests,omitempty"`
	// Reasons has a sentence for each number.
	Reasons []string `json:"reasons"`
	// Exists is the scaler of ours that is changed; zero for none.
	Exists object.Ref `json:"exists,omitzero"`
	// PodCost is what one more pod costs a month; empty where that is unknown.
	PodCost string `json:"podCost,omitempty"`

	workload   *check.Workload
	apiVersion string
	cost       decimal.Decimal
}

// Request is what a container should request.
type Request struct {
	Container string `json:"container"`
	CPU       string `json:"cpu"`
	Memory    string `json:"memory"`
}

// Refusal is why a target is not scaled.
type Refusal struct {
	Target object.Ref `json:"target"`
	App    string     `json:"app,omitempty"`
	// Reason is one word, Message one sentence without a full stop, Hint a way out.
	Reason   string    `json:"reason"`
	Message  string    `json:"message"`
	Hint     string    `json:"hint"`
	Requests []Request `json:"requests,omitempty"`
	// Exists is the scaler of ours that the target has; zero for none.
	Exists object.Ref `json:"exists,omitzero"`
}

// planner makes a plan.
type planner struct {
	World
	plan *Plan
	seen map[object.Ref]bool
}

// Propose makes a plan, without what Whole learns from a preflight.
func Propose(w World) *Plan {
	p := &planner{World: w, plan: &Plan{System: w.System, Usage: w.Source, Proposals: []Proposal{}, Refusals: []Refusal{}}, seen: map[object.Ref]bool{}}
	for i := range w.Apps {
		app := &w.Apps[i]
		for _, wl := range w.workloadsOf(app) {
			p.propose(app, wl)
		}
	}
	slices.SortFunc(p.plan.Proposals, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(a.App, b.App), object.Compare(a.Target, b.Target))
	})
	p.whole()
	return p.plan
}

// Workloads are those of all applications, in order.
func (w *World) Workloads() []*check.Workload {
	var out []*check.Workload
	for i := range w.Apps {
		out = append(out, w.workloadsOf(&w.Apps[i])...)
	}
	return out
}

// workloadsOf are those that a root of an application is or owns.
func (w *World) workloadsOf(app *App) []*check.Workload {
	roots := map[object.Ref]bool{}
	for _, id := range app.Roots {
		roots[w.Graph.Ref(id)] = true
	}
	var out []*check.Workload
	for _, wl := range w.State.Workloads() {
		if roots[wl.Ref] || slices.ContainsFunc(w.State.Owners(wl.Ref), func(o object.Ref) bool { return roots[o] }) {
			out = append(out, wl)
		}
	}
	return out
}

// propose plans how one workload is scaled.
func (p *planner) propose(app *App, wl *check.Workload) {
	target, refusal := p.target(wl)
	switch {
	case app.Settings.Off || p.seen[target] || wl.Ref.Kind == "Pod":
		return
	case app.Target != object.Ref{} && app.Target != target && app.Target != wl.Ref:
		return
	}
	p.seen[target] = true
	r := Proposal{Target: target, App: app.Name, Replicas: int(wl.Replicas), workload: wl, cost: p.PodCost[wl.Ref], Reasons: []string{}}
	if kind, ok := p.State.Kinds.Kind(target.GroupKind()); ok {
		r.apiVersion = schema.GroupVersion{Group: kind.Group, Version: kind.Version}.String()
	}
	if r.cost.IsPositive() {
		r.PodCost = r.cost.Round(2).String()
	}
	if reason := unscalable[wl.Ref.Kind]; reason != "" {
		r.Scaler, r.Reasons = None, []string{reason}
		p.plan.Proposals = append(p.plan.Proposals, r)
		return
	}
	scaled := p.scaledAlready(&r)
	if refusal == nil {
		refusal = p.refuse(app, &r)
	}
	if refusal == nil {
		refusal = scaled
	}
	if refusal == nil {
		refusal = p.size(app, &r)
	}
	if refusal == nil && r.Scaler == Horizontal {
		p.addQueue(app, &r)
		refusal = replaced(&r)
	}
	if refusal != nil {
		refusal.Target, refusal.App, refusal.Exists = target, app.Name, r.Exists
		p.plan.Refusals = append(p.plan.Refusals, *refusal)
		return
	}
	p.plan.Proposals = append(p.plan.Proposals, r)
}

// unscalable are the kinds without a number of replicas that load decides.
var unscalable = map[string]string{
	"DaemonSet": "a DaemonSet runs one pod on each node",
	"Job":       "a Job ends by itself",
	"CronJob":   "a CronJob runs at its times",
}

// horizontal says that a scaler changes the number of pods.
func (r *Proposal) horizontal() bool { return r.Scaler == Horizontal || r.Scaler == Queue }

// Objects are the scalers of a plan, in order.
func (p *Plan) Objects() []*unstructured.Unstructured { return objectsOf(p.Proposals) }
