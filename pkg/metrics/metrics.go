// Package metrics tells what pods, volume claims, load balancers and nodes use and
// reserve, of an instant or over a window, and to which stacks it belongs.
//
// What is measured comes from several sources, each behind the interface Source:
// the resource metrics API, the kubelets' summaries, and Prometheus or what speaks
// its API. What objects say of themselves (requests, claims, capacity) comes from
// the objects, by a Collector. All of it ends in one Reading. What is not measured
// is absent from it, and never zero.
//
// # Use
//
// Objects pass a [Collector]; its [Collector.Reading] says what is reserved at an instant.
// Each [Source] then fills in what it measures, and [Settle] ends the reading. [NewPlacement]
// says to which stacks of a graph its pods, claims and Services belong:
//
//	reading := collector.Reading(now, metrics.ReportOptions{Whole: true})
//	err := metrics.NewAPI(get, true).Measure(ctx, reading)
//	metrics.Settle(reading)
//	placed := metrics.NewPlacement(g, stacks, reading, graph.StackOptions{})
//
// Amounts are exact decimals, in cores, bytes or pieces times hours (see [Amounts]). What a
// source may not read, or does not have, is a [Note] and no error; an error is of a source
// that cannot be asked at all. A Reading has no lock: one goroutine writes it, several may
// read it afterwards. The same objects and samples give the same reading. What it costs is
// for pkg/cost to say.
package metrics

import (
	"context"
	"net/url"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Resource names what is used. Extended resources have their own names
// (nvidia.com/gpu), and are counted in pieces.
type Resource string

// The resources that every cluster has, and their units.
const (
	CPU       Resource = "cpu"               // cores
	Memory    Resource = "memory"            // bytes
	Ephemeral Resource = "ephemeral-storage" // bytes
	Storage   Resource = "storage"           // bytes of volume claims
	Received  Resource = "network-receive"   // bytes, not times hours
	Sent      Resource = "network-transmit"  // bytes, not times hours
)

// IsExtended says that a resource is none of those that every cluster has.
func (r Resource) IsExtended() bool {
	switch r {
	case CPU, Memory, Ephemeral, Storage, Received, Sent:
		return false
	}
	return true
}

// UsageReport is what was used and reserved. Its lists are sorted by Ref, then UID.
type UsageReport struct {
	// From and To bound a window, (From, To]. From is zero for an instant, which is
	// then at To.
	From, To time.Time
	// Hours is how long the window is; 1 for an instant.
	Hours decimal.Decimal

	Pods          []Pod
	Claims        []Claim
	LoadBalancers []LoadBalancer
	Nodes         []Node
	// Unclaimed are the volumes that exist and that no claim has.
	Unclaimed []Volume
	// Notes are what could not be measured and what a source had to say.
	Notes []Note
}

// Instant says that the reading is of one moment.
func (r *UsageReport) Instant() bool { return r.From.IsZero() }

// Pod is what a pod used and reserved. Pods that ended are in an instant's reading
// no more; in a window's they are, for the time that they ran.
type Pod struct {
	Ref  object.Ref
	UID  types.UID
	Node string // empty where it is not scheduled, or that is unknown
	// Gone says that the pod is not in the cluster any more: only a history knows
	// it, and so who owned it, nearest first, and what labels it had.
	Gone   bool
	Owners []object.Ref
	Labels map[string]string
	// Started is when a kubelet took it up; zero where that is unknown.
	Started time.Time
	// Hours is how long it ran within the reading.
	Hours decimal.Decimal
	// HostNetwork pods see the traffic of their whole node: it is never added up.
	HostNetwork bool
	// Requested is the effective request, as the scheduler counts it; Limited the
	// effective limit, without resources that are unlimited. Used is absent for what
	// was not measured.
	Used, Requested, Limited Amounts
	// Charged is what is paid for of a window: of each sample the larger of what was requested and
	// what was used. CPU, memory and extended resources only. Of an instant it is absent: the larger
	// of both is paid for.
	Charged Amounts
	// Counters are bytes since the pod started, where no traffic over a window is known
	// (Received and Sent only).
	Counters Amounts
	// Unmeasured is why the usage of CPU or memory is unknown; empty where both are.
	Unmeasured string
	// Gap is how long in all it ran without samples of its usage, of a window: its figures are that
	// much less than the truth. Less than the staleness period, or than two samples, is none.
	Gap time.Duration
	// Containers are listed where ReportOptions asks for them, and of a window.
	Containers []Container
}

// Container is a container of a pod; init containers only where they run beside the
// others.
type Container struct {
	Name                     string
	Used, Requested, Limited Amounts
}

// Claim is a volume claim and who used it.
type Claim struct {
	Ref    object.Ref
	UID    types.UID
	Class  string // of storage; empty where that is unknown
	Volume string // the PersistentVolume
	Gone   bool
	// Hours is how long it was there within the reading.
	Hours decimal.Decimal
	// Claimed is in byte-hours, of the capacity of the volume, or of the request where
	// that is unknown. Used is in byte-hours, where it was measured (UsedKnown).
	Claimed   decimal.Decimal
	Used      decimal.Decimal
	UsedKnown bool
	// Mounts are the pods that mounted it: at each moment its time is split evenly
	// among those that do. The hours of the mounts and Unmounted add up to Hours.
	Mounts    []Mount
	Unmounted decimal.Decimal
}

// Mount is a pod's part of the time of a claim.
type Mount struct {
	Pod   object.Ref
	UID   types.UID
	Hours decimal.Decimal
}

// Volume is a PersistentVolume that no claim has: it waits for one (Available), or the one it
// had is gone (Released, Failed). Its storage is there, and paid for.
type Volume struct {
	Name  string
	UID   types.UID
	Class string // of storage; empty where that is unknown
	// Claimed is its capacity, in byte-hours, and Hours how long no claim had it.
	Claimed, Hours decimal.Decimal
}

// LoadBalancer is a Service of type LoadBalancer that has an address of its own.
type LoadBalancer struct {
	Service object.Ref
	Hours   decimal.Decimal
}

// Node is a node and what it offers.
type Node struct {
	Name string
	// Gone says that only a history knows the node: its labels have the names that
	// kube-state-metrics makes of keys, and are those that it exports, if any.
	Gone       bool
	Labels     map[string]string
	ProviderID string
	Hours      decimal.Decimal
	// Capacity is in core-hours, byte-hours and piece-hours.
	Capacity Amounts
	// Whole says that every pod of the node is in the report, so that capacity without a charge
	// is idle.
	Whole bool
}

// Note is something that a reader of the figures should know: what could not be measured, or a
// warning of a source. It appears once.
type Note struct {
	// Source is the name of a Source, or empty.
	Source string `json:"source,omitempty"`
	// Subject is the object or the place that it is about; may be empty.
	Subject string `json:"about,omitempty"`
	Reason  string `json:"reason"` // one word: Forbidden, NotServed, Unavailable, Warning, Gap, ...
	Message string `json:"message"`
	// LowersFigures says that figures are less than the truth because of it.
	LowersFigures bool `json:"marks,omitempty"`
}

// PodGap is the reason of a note about pods with gaps, whose rows say it as well.
const PodGap = "PodGap"

// String is the note for people.
func (n Note) String() string {
	text := n.Message
	if n.Subject != "" {
		text = n.Subject + ": " + text
	}
	if n.LowersFigures {
		text = "warning: " + text
	}
	return text
}

// GetFunc sends a GET request to an API server, by path and query, and returns the
// body. Its error is that of apimachinery (IsForbidden, IsNotFound), or of the
// connection.
type GetFunc func(ctx context.Context, path string, query url.Values) ([]byte, error)

// Source measures. It adds figures to a report, and notes what it could not measure; it fails
// only if the context ends or no source can continue.
type Source interface {
	Measure(ctx context.Context, r *UsageReport) error
}
