package cost

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Level is the kind of a row of a report.
type Level string

// The levels, from the top.
const (
	LevelPeriod    Level = "period"   // of a window: a day, a week, a month (Divide)
	LevelGroup     Level = "group"    // of --by: a namespace, a node, the value of a label
	LevelStack     Level = "stack"    // the root of a stack
	LevelResource  Level = "resource" // a custom resource
	LevelWorkload  Level = "workload" // what makes pods: a Deployment, a StatefulSet
	LevelPod       Level = "pod"      // a pod, or a claim or a Service that costs
	LevelContainer Level = "container"
	// LevelRest is what has no other place: unattributed, idle, unmounted, shared
	// (where it is not spread), overhead, or the rows that a limit left out.
	LevelRest Level = "rest"
)

// Row is a line of a report: sums over what is below it, scaled by the share where
// several stacks share a thing. What is unknown is absent: a sum is of what is
// known. It shares amounts with the Reading.
type Row struct {
	Level Level
	// Ref is the object of the row; zero for a group or a rest.
	Ref object.Ref
	// Name is that of a group or a rest ("idle", "unattributed", a node's name).
	Name string
	// Key is what the row of a group is the value of: namespace, label:team.
	Key string
	// Cluster is where the row is; empty where the report names none, or for a sum over several.
	Cluster string
	// Stack is the root that the row is under; zero where there is none.
	Stack object.Ref

	// Pods are the distinct pods that count, Measured those of them whose CPU and
	// memory usage is known.
	Pods, Measured int

	// Amounts as in a metrics.UsageReport; Storage in Used and Claimed. CPU, memory and
	// ephemeral storage are in Limited only where every pod of the row has a limit:
	// the sum of some limits limits nothing.
	Used, Requested, Limited metrics.Amounts
	Claimed                  metrics.Amounts // Storage only
	// Counters are bytes since the pods started, of an instant; never of pods on the
	// network of their host. HostTraffic is what such a pod sees, apart: it is that of
	// its whole node, so only the row of a pod has it, whole whatever its share.
	Counters, HostTraffic metrics.Amounts
	// HostNetwork says that all pods of the row are on the network of their host.
	HostNetwork bool
	// Unmeasured is why no usage is known, for a pod.
	Unmeasured string
	// Gap is the longest of its pods (metrics.Pod), of a window.
	Gap time.Duration

	// Cost is the sum of the charges, Costs the parts of it by what is paid for: cpu,
	// memory, storage, network, loadBalancer, an extended resource, idle, shared,
	// overhead. They are exact, and those of the rows below add up to them. A container
	// has none: the pod is what is charged.
	Cost  decimal.Decimal
	Costs metrics.Amounts
	// Efficiency is used by requested, weighted by the cost of CPU and memory, to six
	// places; nil where nothing was measured or nothing can be said.
	Efficiency *decimal.Decimal

	// Share is the part that Stack pays, 1 where it pays alone, and Of how many stacks
	// share it. Both are zero where the parts of the row are shared in different ways;
	// the row of a stack has 1 and 1, unless its root is all that is in it.
	Share decimal.Decimal
	Of    int

	Children []*Row

	// blind is what Efficiency leaves out of the row; nil where that is nothing.
	blind *unmeasured
}

// Priced says whether it is known what the row costs: something of it was charged, if
// only at a price of zero. Where nothing was, its Cost of zero is but an empty sum.
func (r *Row) Priced() bool { return len(r.Costs) > 0 || !r.Cost.IsZero() }

// Grouping selects the kind of the rows of a report.
type Grouping struct {
	// Keys are what rows are grouped by, from the outermost: groups of the second are below
	// those of the first. None is by stack.
	Keys []Key
	// Cluster is the name of the cluster that was read; empty where no row names it.
	Cluster string
	// Value returns the value of a label or annotation, or the creator, for a thing:
	// of itself, or of the nearest on its path that has one; "" for none. It is asked
	// where a key says so.
	Value func(k Key, item object.Ref, place metrics.Path) string
	// OfNamespace returns the value for a thing of a namespace that has none itself; nil for none.
	OfNamespace func(k Key, namespace string) string
	// Containers adds them below pods.
	Containers bool
	// Custom says that a kind is that of a custom resource, for the levels. Where it is
	// nil, the name of the group tells.
	Custom func(object.Ref) bool
}

// byStack says that the rows are stacks.
func (g *Grouping) byStack() bool { return g.Keys[len(g.Keys)-1].By == ByStack }

// Value is the value of a group, or the name of a rest.
func (r *Row) Value() string {
	if r.Ref != (object.Ref{}) {
		return r.Ref.String()
	}
	return r.Name
}

// Report is the rows of a reading.
type Report struct {
	Currency string
	Hours    decimal.Decimal
	// Keys are those of the grouping; stack where it has none.
	Keys []Key
	Rows []*Row
	// Total is the sum of the rows.
	Total Row
}

// NewReport sums a reading and its ledger up.
//
// By stack (or nothing) its rows are the stacks of the placement, in its order; below
// them the owners on the path of each thing, from the top, and then pods, claims and
// Services, each once a stack. Owners that are pods are left out, and the root is not
// repeated: a pod that is a root and alone in its stack is the row of the stack. What
// has no stack follows in rows of LevelRest: unattributed, unmounted
// (by namespace), unclaimed volumes, idle (by node), shared (by namespace) and overhead.
//
// By anything else its rows are groups of things, a level for each key, where each thing is once
// and unscaled; what has no value is in the group "(none)". What a stack pays besides its
// things (idle capacity, shared namespaces, overhead that are spread) is a rest row
// under the group of its root, or the namespace or node of the charge.
//
// Every charge ends in exactly one row without rows of LevelPod or LevelRest below it,
// so Total.Cost equals l.Total(). Pods are counted once in Total, and once in each
// stack. Roll does not depend on the order of the reading and of the ledger.
func NewReport(r *metrics.UsageReport, p *metrics.Attribution, l *Ledger, g Grouping) *Report {
	if len(g.Keys) == 0 {
		g.Keys = []Key{{By: ByStack}}
	}
	b := newReportBuilder(r, p, l, g)
	if g.byStack() {
		b.byStack()
	} else {
		b.byGroup()
	}
	return b.report()
}

// RestMeaning explains a row of LevelRest by its name; empty for other names.
func RestMeaning(name string, sharing Sharing) string {
	if name == "shared" && sharing == ShareNone {
		return "what several stacks need"
	}
	return map[string]string{
		"idle":              "capacity of nodes that no pod used or requested",
		"unattributed":      "pods that belong to no known stack",
		"unmounted":         "volume claims that no pod mounts",
		"unclaimed volumes": "volumes that no claim has",
		"shared":            "namespaces that all pay for",
		"overhead":          "what all pay in addition",
	}[name]
}
