package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// familyPlaces is to how many decimal places rates are divided.
const familyPlaces = 12

// Families makes the metric families of a report. A sample is of a leaf of the
// report (a pod, or what a limit of its depth leaves at the bottom), so that a family
// adds up to the total, by whatever labels; what does not add up, the counts of pods
// and the efficiency, has families of its own, of the rows at the top. What is unknown
// has no sample.
//
// Amounts of a window are averages over it. Traffic is, of an instant, a counter for
// each pod since it started, and of a window a rate.
func Families(rep *cost.Report, r *metrics.UsageReport) []view.Family {
	leaves := leavesOf(rep)
	f := &families{rep: rep, extended: extendedOf(leaves)}
	for _, top := range rep.Rows {
		f.top(top)
	}
	node := nodesOfPods(r)
	hourly := Spread(costsOf(leaves), decimal.NewFromInt(1), rep.Hours)
	for i, leaf := range leaves {
		f.leaf(leaf, node, hourly[i])
	}
	out := make([]view.Family, 0, len(familyTable)+1)
	if r != nil && !r.To.IsZero() {
		out = append(out, view.Family{
			Name: "sysop_reading_timestamp_seconds", Type: view.Gauge, Unit: "seconds", Help: "When the figures were read, or their window ended.",
			Samples: []view.Sample{{Value: unixSeconds(r)}},
		})
	}
	for i, d := range familyTable {
		if len(f.of[i].samples) > 0 {
			out = append(out, view.Family{Name: d.name, Type: d.kind, Unit: d.unit, Help: d.help, Samples: f.of[i].list()})
		}
	}
	return out
}

func unixSeconds(r *metrics.UsageReport) string {
	return decimal.New(r.To.UnixMilli(), -3).String()
}

// The families, in the order in which they are written.
const (
	groupPods = iota
	groupMeasured
	groupEfficiency
	costPerHour
	cpuUsage
	cpuRequest
	cpuLimit
	memoryUsage
	memoryRequest
	memoryLimit
	storageClaimed
	storageUsed
	ephemeralUsage
	ephemeralRequest
	ephemeralLimit
	receivedTotal
	sentTotal
	receivedRate
	sentRate
	hostReceivedTotal
	hostSentTotal
	resourceUsage
	resourceRequest
	resourceLimit
	familyCount
)

var familyTable = [familyCount]struct {
	name string
	kind view.FamilyType
	unit string
	help string
}{
	groupPods:         {"sysop_group_pods", view.Gauge, "", "Distinct pods of a stack, or of what the report groups by."},
	groupMeasured:     {"sysop_group_pods_measured", view.Gauge, "", "Those of the pods whose CPU and memory usage is known."},
	groupEfficiency:   {"sysop_group_efficiency_ratio", view.Gauge, "ratio", "Used by requested, CPU and memory weighted by their cost, of measured pods."},
	costPerHour:       {"sysop_cost_per_hour", view.Gauge, "", "Cost of an hour, in the currency of the label."},
	cpuUsage:          {"sysop_cpu_usage_cores", view.Gauge, "cores", "CPU used."},
	cpuRequest:        {"sysop_cpu_request_cores", view.Gauge, "cores", "CPU requested, as the scheduler counts it."},
	cpuLimit:          {"sysop_cpu_limit_cores", view.Gauge, "cores", "Limit of CPU, where there is one."},
	memoryUsage:       {"sysop_memory_usage_bytes", view.Gauge, "bytes", "Working set of memory."},
	memoryRequest:     {"sysop_memory_request_bytes", view.Gauge, "bytes", "Memory requested, as the scheduler counts it."},
	memoryLimit:       {"sysop_memory_limit_bytes", view.Gauge, "bytes", "Limit of memory, where there is one."},
	storageClaimed:    {"sysop_storage_claimed_bytes", view.Gauge, "bytes", "Capacity of volume claims."},
	storageUsed:       {"sysop_storage_used_bytes", view.Gauge, "bytes", "Used on the volumes of claims."},
	ephemeralUsage:    {"sysop_ephemeral_storage_usage_bytes", view.Gauge, "bytes", "Ephemeral storage used."},
	ephemeralRequest:  {"sysop_ephemeral_storage_request_bytes", view.Gauge, "bytes", "Ephemeral storage requested."},
	ephemeralLimit:    {"sysop_ephemeral_storage_limit_bytes", view.Gauge, "bytes", "Limit of ephemeral storage, where there is one."},
	receivedTotal:     {"sysop_network_receive_bytes", view.Counter, "bytes", "Received since the pod started."},
	sentTotal:         {"sysop_network_transmit_bytes", view.Counter, "bytes", "Sent since the pod started."},
	receivedRate:      {"sysop_network_receive_bytes_per_second", view.Gauge, "bytes_per_second", "Received, on average over the window."},
	sentRate:          {"sysop_network_transmit_bytes_per_second", view.Gauge, "bytes_per_second", "Sent, on average over the window."},
	hostReceivedTotal: {"sysop_host_network_receive_bytes", view.Counter, "bytes", "Received by the node of a pod on the network of its host; never to be added up over pods."},
	hostSentTotal:     {"sysop_host_network_transmit_bytes", view.Counter, "bytes", "Sent by the node of a pod on the network of its host; never to be added up over pods."},
	resourceUsage:     {"sysop_resource_usage", view.Gauge, "", "Extended resource used, in pieces."},
	resourceRequest:   {"sysop_resource_request", view.Gauge, "", "Extended resource requested, in pieces."},
	resourceLimit:     {"sysop_resource_limit", view.Gauge, "", "Limit of an extended resource, in pieces."},
}

type families struct {
	rep      *cost.Report
	extended []metrics.Resource
	of       [familyCount]collected
}

// collected is the samples of a family. Two rows of the same labels (a workload that
// two owners have above it) are one sample, their sum.
type collected struct {
	samples []view.Sample
	values  []decimal.Decimal
	at      map[string]int
}

func (c *collected) add(key string, labels []view.Label, v decimal.Decimal) {
	if c.at == nil {
		c.at = map[string]int{}
	}
	if i, ok := c.at[key]; ok {
		c.values[i] = c.values[i].Add(v)
		return
	}
	c.at[key] = len(c.samples)
	c.samples = append(c.samples, view.Sample{Labels: labels})
	c.values = append(c.values, v)
}

func (c *collected) list() []view.Sample {
	for i := range c.samples {
		c.samples[i].Value = c.values[i].String()
	}
	return c.samples
}

// top adds what does not add up over leaves.
func (f *families) top(row *cost.Row) {
	labels := rowLabels(row, row, "")
	key := keyOf(labels)
	f.of[groupPods].add(key, labels, decimal.NewFromInt(int64(row.Pods)))
	f.of[groupMeasured].add(key, labels, decimal.NewFromInt(int64(row.Measured)))
	if row.Efficiency != nil {
		f.of[groupEfficiency].add(key, labels, *row.Efficiency)
	}
}

// leaf adds a leaf; hourly is what it costs an hour, as in the CSV.
func (f *families) leaf(l csvLeaf, node map[object.Ref]string, hourly decimal.Decimal) {
	row := l.row
	labels := rowLabels(row, l.top, node[row.Ref])
	key := keyOf(labels)
	if row.Priced() {
		f.of[costPerHour].add(key, plus(labels, "currency", f.rep.Currency), hourly)
	}
	gauge := func(to int, amounts metrics.Amounts, r metrics.Resource) {
		if v, ok := amounts[r]; ok {
			f.of[to].add(key, labels, f.rate(v))
		}
	}
	gauge(cpuUsage, row.Used, metrics.CPU)
	gauge(cpuRequest, row.Requested, metrics.CPU)
	gauge(cpuLimit, row.Limited, metrics.CPU)
	gauge(memoryUsage, row.Used, metrics.Memory)
	gauge(memoryRequest, row.Requested, metrics.Memory)
	gauge(memoryLimit, row.Limited, metrics.Memory)
	gauge(storageClaimed, row.Claimed, metrics.Storage)
	gauge(storageUsed, row.Used, metrics.Storage)
	gauge(ephemeralUsage, row.Used, metrics.Ephemeral)
	gauge(ephemeralRequest, row.Requested, metrics.Ephemeral)
	gauge(ephemeralLimit, row.Limited, metrics.Ephemeral)
	f.traffic(row, key, labels)
	f.pieces(resourceUsage, row.Used, key, labels)
	f.pieces(resourceRequest, row.Requested, key, labels)
	f.pieces(resourceLimit, row.Limited, key, labels)
}

// traffic adds counters for single pods only: the counter of a row of several pods would fall
// when a pod ends, and Prometheus takes a counter that falls for a restart.
func (f *families) traffic(row *cost.Row, key string, labels []view.Label) {
	counter := func(to int, amounts metrics.Amounts, r metrics.Resource) {
		if v, ok := amounts[r]; ok && row.Level == cost.LevelPod {
			f.of[to].add(key, labels, v)
		}
	}
	counter(receivedTotal, row.Counters, metrics.Received)
	counter(sentTotal, row.Counters, metrics.Sent)
	counter(hostReceivedTotal, row.HostTraffic, metrics.Received)
	counter(hostSentTotal, row.HostTraffic, metrics.Sent)
	seconds := f.rep.Hours.Mul(decimal.NewFromInt(3600))
	rate := func(to int, r metrics.Resource) {
		if v, ok := row.Used[r]; ok && seconds.IsPositive() {
			f.of[to].add(key, labels, v.DivRound(seconds, familyPlaces))
		}
	}
	rate(receivedRate, metrics.Received)
	rate(sentRate, metrics.Sent)
}

// pieces adds extended resources, each with a label.
func (f *families) pieces(to int, amounts metrics.Amounts, key string, labels []view.Label) {
	for _, r := range f.extended {
		if v, ok := amounts[r]; ok {
			f.of[to].add(key+"\x00"+string(r), plus(labels, "resource", string(r)), f.rate(v))
		}
	}
}

// rate is the average over the hours of the report.
func (f *families) rate(v decimal.Decimal) decimal.Decimal {
	if !f.rep.Hours.IsPositive() || f.rep.Hours.Equal(decimal.NewFromInt(1)) {
		return v
	}
	return v.DivRound(f.rep.Hours, familyPlaces)
}

// rowLabels are the labels of a row, in the order in which they are written. Those
// that are empty are left out: that is the same, for Prometheus.
func rowLabels(row, top *cost.Row, node string) []view.Label {
	labels := make([]view.Label, 0, 8)
	add := func(name, value string) {
		if value != "" {
			labels = append(labels, view.Label{Name: name, Value: value})
		}
	}
	add("level", string(row.Level))
	if row.Stack != (object.Ref{}) {
		add("stack", row.Stack.String())
	}
	if top.Level == cost.LevelGroup || top.Level == cost.LevelRest {
		add("group", top.Name)
	}
	add("kind", row.Ref.Kind)
	add("api_group", row.Ref.Group)
	add("namespace", row.Ref.Namespace)
	if row.Ref.Name != "" {
		add("name", row.Ref.Name)
	} else {
		add("name", row.Name)
	}
	add("node", node)
	return labels
}

// plus returns the labels and one more; the others stay as they are.
func plus(labels []view.Label, name, value string) []view.Label {
	return slices.Concat(labels, []view.Label{{Name: name, Value: value}})
}

func keyOf(labels []view.Label) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Name)
		b.WriteString(strconv.Quote(l.Value))
	}
	return b.String()
}
