package export

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// familyPlaces is to how many decimal places rates are divided.
const familyPlaces = 12

// family is a metric family in the making.
type family struct {
	view.Family
	// top is the value of a row at the top, leaf that of a leaf; one of them is set, or pieces.
	top  func(*cost.Row) (decimal.Decimal, bool)
	leaf func(*cost.Row) (decimal.Decimal, bool)
	// pieces has a sample for each extended resource.
	pieces func(*cost.Row) metrics.Amounts
	collected
}

func used(r *cost.Row) metrics.Amounts      { return r.Used }
func requested(r *cost.Row) metrics.Amounts { return r.Requested }
func limited(r *cost.Row) metrics.Amounts   { return r.Limited }
func claimed(r *cost.Row) metrics.Amounts   { return r.Claimed }
func counted(r *cost.Row) metrics.Amounts   { return r.Counters }
func ofHost(r *cost.Row) metrics.Amounts    { return r.HostTraffic }

func top(name, unit, help string, value func(*cost.Row) (decimal.Decimal, bool)) *family {
	return &family{Family: view.Family{Name: name, Type: view.Gauge, Unit: unit, Help: help}, top: value}
}

func count(n func(*cost.Row) int) func(*cost.Row) (decimal.Decimal, bool) {
	return func(r *cost.Row) (decimal.Decimal, bool) { return decimal.NewFromInt(int64(n(r))), true }
}

func pieces(name, help string, amounts func(*cost.Row) metrics.Amounts) *family {
	return &family{Family: view.Family{Name: name, Type: view.Gauge, Help: help}, pieces: amounts}
}

// counter is of single pods only: the counter of a row of several pods would fall when a pod ends,
// and Prometheus takes a counter that falls for a restart.
func counter(name, help string, amounts func(*cost.Row) metrics.Amounts, r metrics.Resource) *family {
	return &family{Family: view.Family{Name: name, Type: view.Counter, Unit: "bytes", Help: help}, leaf: func(row *cost.Row) (decimal.Decimal, bool) {
		v, ok := amounts(row).Lookup(r)
		return v, ok && row.Level == cost.LevelPod
	}}
}

// familiesOf are the families of a report, in the order in which they are written.
func familiesOf(rep *cost.Report) []*family {
	gauge := func(name, unit, help string, amounts func(*cost.Row) metrics.Amounts, r metrics.Resource) *family {
		return &family{Family: view.Family{Name: name, Type: view.Gauge, Unit: unit, Help: help}, leaf: func(row *cost.Row) (decimal.Decimal, bool) {
			v, ok := amounts(row).Lookup(r)
			return average(rep, v), ok
		}}
	}
	seconds := rep.Hours.Mul(decimal.NewFromInt(3600))
	perSecond := func(name, help string, r metrics.Resource) *family {
		return &family{Family: view.Family{Name: name, Type: view.Gauge, Unit: "bytes_per_second", Help: help}, leaf: func(row *cost.Row) (decimal.Decimal, bool) {
			v, ok := row.Used.Lookup(r)
			if !ok || !seconds.IsPositive() {
				return v, false
			}
			return v.DivRound(seconds, familyPlaces), true
		}}
	}
	return []*family{
		top("sysop_group_pods", "", "Distinct pods of a stack, or of what the report groups by.", count(func(r *cost.Row) int { return r.Pods })),
		top("sysop_group_pods_measured", "", "Those of the pods whose CPU and memory usage is known.", count(func(r *cost.Row) int { return r.Measured })),
		top("sysop_group_efficiency_ratio", "ratio", "Used by requested, CPU and memory weighted by their cost, of measured pods.", func(r *cost.Row) (decimal.Decimal, bool) {
			if r.Efficiency == nil {
				return decimal.Zero, false
			}
			return *r.Efficiency, true
		}),
		{Family: view.Family{Name: costPerHour, Type: view.Gauge, Help: "Cost of an hour, in the currency of the label."}},
		gauge("sysop_cpu_usage_cores", "cores", "CPU used.", used, metrics.CPU),
		gauge("sysop_cpu_request_cores", "cores", "CPU requested, as the scheduler counts it.", requested, metrics.CPU),
		gauge("sysop_cpu_limit_cores", "cores", "Limit of CPU, where there is one.", limited, metrics.CPU),
		gauge("sysop_memory_usage_bytes", "bytes", "Working set of memory.", used, metrics.Memory),
		gauge("sysop_memory_request_bytes", "bytes", "Memory requested, as the scheduler counts it.", requested, metrics.Memory),
		gauge("sysop_memory_limit_bytes", "bytes", "Limit of memory, where there is one.", limited, metrics.Memory),
		gauge("sysop_storage_claimed_bytes", "bytes", "Capacity of volume claims.", claimed, metrics.Storage),
		gauge("sysop_storage_used_bytes", "bytes", "Used on the volumes of claims.", used, metrics.Storage),
		gauge("sysop_ephemeral_storage_usage_bytes", "bytes", "Ephemeral storage used.", used, metrics.Ephemeral),
		gauge("sysop_ephemeral_storage_request_bytes", "bytes", "Ephemeral storage requested.", requested, metrics.Ephemeral),
		gauge("sysop_ephemeral_storage_limit_bytes", "bytes", "Limit of ephemeral storage, where there is one.", limited, metrics.Ephemeral),
		counter("sysop_network_receive_bytes", "Received since the pod started.", counted, metrics.Received),
		counter("sysop_network_transmit_bytes", "Sent since the pod started.", counted, metrics.Sent),
		perSecond("sysop_network_receive_bytes_per_second", "Received, on average over the window.", metrics.Received),
		perSecond("sysop_network_transmit_bytes_per_second", "Sent, on average over the window.", metrics.Sent),
		counter("sysop_host_network_receive_bytes", "Received by the node of a pod on the network of its host; never to be added up over pods.", ofHost, metrics.Received),
		counter("sysop_host_network_transmit_bytes", "Sent by the node of a pod on the network of its host; never to be added up over pods.", ofHost, metrics.Sent),
		pieces("sysop_resource_usage", "Extended resource used, in pieces.", used),
		pieces("sysop_resource_request", "Extended resource requested, in pieces.", requested),
		pieces("sysop_resource_limit", "Limit of an extended resource, in pieces.", limited),
	}
}

// costPerHour is the family whose values are computed over all leaves, as in the CSV.
const costPerHour = "sysop_cost_per_hour"

// Families makes the metric families of a report. A sample is of a leaf of the
// report (a pod, or what a limit of its depth leaves at the bottom), so that a family
// adds up to the total, by whatever labels; what does not add up, the counts of pods
// and the efficiency, has families of its own, of the rows at the top. What is unknown
// has no sample.
//
// Amounts of a window are averages over it. Traffic is, of an instant, a counter for
// each pod since it started, and of a window a rate.
func Families(rep *cost.Report, readings map[string]*metrics.UsageReport) []view.Family {
	leaves, all := leavesOf(rep), familiesOf(rep)
	keys := keyLabels(rep)
	for _, way := range rep.Lines() {
		row := way[len(way)-1]
		labels := rowLabels(way, keys, "")
		for _, f := range all {
			if f.top != nil {
				f.addIf(keyOf(labels), labels, row, f.top)
			}
		}
	}
	extended, node := extendedOf(leaves), nodesOfPods(readings)
	hourly := Spread(costsOf(leaves), decimal.NewFromInt(1), rep.Hours)
	for i, leaf := range leaves {
		labels := rowLabels(leaf.way, keys, node[podKey{leaf.row.Cluster, leaf.row.Ref}])
		key := keyOf(labels)
		for _, f := range all {
			switch {
			case f.Name == costPerHour && leaf.row.Priced():
				f.add(key, plus(labels, "currency", rep.Currency), hourly[i])
			case f.leaf != nil:
				f.addIf(key, labels, leaf.row, f.leaf)
			case f.pieces != nil:
				f.addPieces(key, labels, rep, leaf.row, extended)
			}
		}
	}
	out := make([]view.Family, 0, len(all)+1)
	var to time.Time
	for _, r := range readings {
		if r.To.After(to) {
			to = r.To
		}
	}
	if !to.IsZero() {
		out = append(out, view.Family{
			Name: "sysop_reading_timestamp_seconds", Type: view.Gauge, Unit: "seconds", Help: "When the figures were read, or their window ended.",
			Samples: []view.Sample{{Value: decimal.New(to.UnixMilli(), -3).String()}},
		})
	}
	for _, f := range all {
		if f.Samples = f.list(); len(f.Samples) > 0 {
			out = append(out, f.Family)
		}
	}
	return out
}

func (f *family) addIf(key string, labels []view.Label, row *cost.Row, value func(*cost.Row) (decimal.Decimal, bool)) {
	if v, ok := value(row); ok {
		f.add(key, labels, v)
	}
}

// addPieces adds extended resources, each with a label.
func (f *family) addPieces(key string, labels []view.Label, rep *cost.Report, row *cost.Row, extended []metrics.Resource) {
	for _, r := range extended {
		if v, ok := f.pieces(row).Lookup(r); ok {
			f.add(key+"\x00"+string(r), plus(labels, "resource", string(r)), average(rep, v))
		}
	}
}

// average is an amount over the hours of the report.
func average(rep *cost.Report, v decimal.Decimal) decimal.Decimal {
	if !rep.Hours.IsPositive() || rep.Hours.Equal(decimal.NewFromInt(1)) {
		return v
	}
	return v.DivRound(rep.Hours, familyPlaces)
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

// keyLabel is the label of a key.
type keyLabel struct{ key, label string }

// keyLabels are the labels of the keys that have one of their own. What a name of a label cannot
// have becomes an underscore, as kube-state-metrics does it; of two that become the same, the
// second has a number.
func keyLabels(rep *cost.Report) []keyLabel {
	var all []keyLabel
	seen := map[string]int{}
	for _, key := range ownKeys(rep) {
		name := "by_" + strings.Map(func(r rune) rune {
			if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				return r
			}
			return '_'
		}, key)
		if seen[name]++; seen[name] > 1 {
			name += "_conflict" + strconv.Itoa(seen[name])
		}
		all = append(all, keyLabel{key, name})
	}
	return all
}

// rowLabels are the labels of the row at the end of a way, in the order in which they are written.
// Those that are empty are left out: that is the same, for Prometheus.
func rowLabels(way []*cost.Row, keys []keyLabel, node string) []view.Label {
	labels := make([]view.Label, 0, 8)
	add := func(name, value string) {
		if value != "" {
			labels = append(labels, view.Label{Name: name, Value: value})
		}
	}
	row := way[len(way)-1]
	add("level", string(row.Level))
	add("cluster", row.Cluster)
	if row.Stack != (object.Ref{}) {
		add("stack", row.Stack.String())
	}
	add("group", groupOf(way))
	for _, k := range keys {
		add(k.label, valueOf(way, k.key))
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
