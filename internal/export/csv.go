// Package export makes what other programs read of a report of usage and cost: a CSV table, and
// metric families as Prometheus has them. Every value is whole and exact, and adds up.
package export

import (
	"maps"
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

// CSV makes a table of a report: a row for each leaf of it (of one that cost.Limit cut at a depth,
// stacks or groups with their sums), so that the
// numbers of a column add up to the total, and for the containers of pods, which
// have no cost of their own and are parts of the row above them.
//
// Amounts are integrals over the hours of the row "hours" (core-hours, byte-hours,
// piece-hours), which for an instant are cores, bytes and pieces; traffic is in
// bytes. cost is that of these hours, cost_hour and cost_month what it makes an
// hour and in 730 hours. The readings, by the name that rows have of their cluster, tell on which
// nodes pods run. Periods are those of the rows of the report, if it is divided by time.
func CSV(rep *cost.Report, readings map[string]*metrics.UsageReport, periods []cost.Period) *view.CSVTable {
	leaves := leavesOf(rep)
	b := &csvBuilder{rep: rep, node: nodesOfPods(readings), extended: extendedOf(leaves), clusters: hasClusters(leaves)}
	s := &view.CSVTable{Columns: b.columns()}
	if len(periods) == 0 {
		s.Rows = b.rows()
		return s
	}
	s.Columns = append([]view.CSVColumn{{Name: "period"}, {Name: "period_from"}, {Name: "period_to"}}, s.Columns...)
	for i, p := range periods {
		b.rep = &cost.Report{Currency: rep.Currency, Hours: p.Hours(), Keys: rep.Keys[1:], Rows: rep.Rows[i].Children}
		if len(b.rep.Rows) == 0 && rep.Rows[i].Priced() {
			b.rep.Rows = rep.Rows[i : i+1] // cut at the periods
		}
		for _, row := range b.rows() {
			s.Rows = append(s.Rows, append([]string{p.Name, p.From.Format(time.RFC3339), p.To.Format(time.RFC3339)}, row...))
		}
	}
	return s
}

// rows are those of the leaves of the report.
func (b *csvBuilder) rows() [][]string {
	var all [][]string
	leaves := leavesOf(b.rep)
	b.hourly = Spread(costsOf(leaves), decimal.NewFromInt(1), b.rep.Hours)
	b.monthly = Spread(costsOf(leaves), decimal.NewFromInt(cost.HoursPerMonth), b.rep.Hours)
	for i, leaf := range leaves {
		all = append(all, b.row(leaf, leaf.row, i))
		for _, c := range leaf.row.Children {
			all = append(all, b.row(leaf, c, -1))
		}
	}
	return all
}

// csvLeaf is a row of a report that has none below it but containers.
type csvLeaf struct {
	row *cost.Row
	// way is from the row of the first level that it is below to the leaf itself.
	way []*cost.Row
}

// leavesOf returns the leaves of a report, in its order.
func leavesOf(rep *cost.Report) []csvLeaf {
	var out []csvLeaf
	var walk func(row *cost.Row, above []*cost.Row)
	walk = func(row *cost.Row, above []*cost.Row) {
		way := append(slices.Clone(above), row)
		if len(row.Children) == 0 || row.Children[0].Level == cost.LevelContainer {
			out = append(out, csvLeaf{row, way})
			return
		}
		for _, child := range row.Children {
			walk(child, way)
		}
	}
	for _, row := range rep.Rows {
		walk(row, nil)
	}
	return out
}

// groupOf is the group of a row: the values of its groups, and the rest that it is below.
func groupOf(way []*cost.Row) string {
	var names []string
	for i, row := range way {
		rest := row.Level == cost.LevelRest && (i == 0 || i < len(way)-1)
		if row.Level != cost.LevelGroup && !rest {
			break
		}
		names = append(names, row.Value())
		if rest {
			break
		}
	}
	return strings.Join(names, "/")
}

// valueOf is the value of a key for a row.
func valueOf(way []*cost.Row, key string) string {
	for _, row := range way {
		if row.Level == cost.LevelGroup && row.Key == key {
			return row.Value()
		}
	}
	return ""
}

// ownKeys are the keys that have a column of their own: where there are several, those that are
// neither the cluster nor the stack, which every row has anyway. Periods have columns before them.
func ownKeys(rep *cost.Report) []string {
	var keys []string
	for _, k := range rep.Keys {
		if k.By != cost.ByPeriod {
			keys = append(keys, k.String())
		}
	}
	if len(keys) < 2 {
		return nil
	}
	return slices.DeleteFunc(keys, func(key string) bool { return key == cost.ByCluster || key == cost.ByStack })
}

func hasClusters(leaves []csvLeaf) bool {
	return slices.ContainsFunc(leaves, func(l csvLeaf) bool { return l.row.Cluster != "" })
}

func costsOf(leaves []csvLeaf) []decimal.Decimal {
	out := make([]decimal.Decimal, len(leaves))
	for i, leaf := range leaves {
		out[i] = leaf.row.Cost
	}
	return out
}

// podKey is a pod of a cluster.
type podKey struct {
	cluster string
	ref     object.Ref
}

// nodesOfPods tells where the pods of readings run.
func nodesOfPods(readings map[string]*metrics.UsageReport) map[podKey]string {
	out := map[podKey]string{}
	for cluster, r := range readings {
		for i := range r.Pods {
			p := &r.Pods[i]
			key := podKey{cluster, p.Ref}
			if at, ok := out[key]; ok && at != p.Node {
				out[key] = "" // Pods of one name ran on several nodes.
				continue
			}
			out[key] = p.Node
		}
	}
	return out
}

// extendedOf returns the other resources that leaves have, in order.
func extendedOf(leaves []csvLeaf) []metrics.Resource {
	found := map[metrics.Resource]bool{}
	for _, leaf := range leaves {
		for _, amounts := range []metrics.Amounts{leaf.row.Used, leaf.row.Requested, leaf.row.Limited} {
			for r := range amounts.All() {
				if r.IsExtended() {
					found[r] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

type csvBuilder struct {
	rep             *cost.Report
	node            map[podKey]string
	extended        []metrics.Resource
	clusters        bool // rows name their cluster
	hourly, monthly []decimal.Decimal
}

func (b *csvBuilder) columns() []view.CSVColumn {
	var out []view.CSVColumn
	add := func(kind view.CellKind, names ...string) {
		for _, name := range names {
			out = append(out, view.CSVColumn{Name: name, Kind: kind})
		}
	}
	add(view.TextCell, "level", "group")
	if b.clusters {
		add(view.TextCell, "cluster")
	}
	for _, key := range ownKeys(b.rep) {
		add(view.TextCell, "by_"+key)
	}
	add(view.TextCell, "stack", "api_group", "kind", "namespace", "name", "node")
	add(view.NumberCell, "pods", "pods_measured")
	add(view.TextCell, "unmeasured", "host_network")
	add(view.NumberCell, "hours", "share", "share_of")
	add(view.TextCell, "currency")
	add(view.NumberCell, "cost", "cost_hour", "cost_month", "efficiency",
		"cpu_used_core_hours", "cpu_requested_core_hours", "cpu_limit_core_hours",
		"memory_used_byte_hours", "memory_requested_byte_hours", "memory_limit_byte_hours",
		"storage_claimed_byte_hours", "storage_used_byte_hours",
		"ephemeral_used_byte_hours", "ephemeral_requested_byte_hours", "ephemeral_limit_byte_hours",
		"network_received_bytes", "network_sent_bytes",
		"network_received_since_start_bytes", "network_sent_since_start_bytes",
		"host_network_received_bytes", "host_network_sent_bytes")
	for _, r := range b.extended {
		add(view.NumberCell, string(r)+"_used_hours", string(r)+"_requested_hours", string(r)+"_limit_hours")
	}
	return out
}

// row makes the cells of a row; i is its number among the leaves, less than zero for
// a container.
func (b *csvBuilder) row(leaf csvLeaf, row *cost.Row, i int) []string {
	name := row.Ref.Name
	if name == "" {
		name = row.Name
	}
	ref, source := row.Ref, row
	if i < 0 { // What a container is part of tells where it is.
		ref, source, name = leaf.row.Ref, leaf.row, row.Name
		if name == "" {
			name = row.Ref.Name
		}
	}
	stack := ""
	if source.Stack != (object.Ref{}) {
		stack = source.Stack.String()
	}
	cells := []string{string(row.Level), groupOf(leaf.way)}
	if b.clusters {
		cells = append(cells, source.Cluster)
	}
	for _, key := range ownKeys(b.rep) {
		cells = append(cells, valueOf(leaf.way, key))
	}
	cells = append(cells, stack, ref.Group, ref.Kind, ref.Namespace, name, b.node[podKey{source.Cluster, ref}])
	if i < 0 {
		cells = append(cells, "", "", view.Incomplete(row), "", b.rep.Hours.String(), "", "", "", "", "", "", "")
	} else {
		cells = append(cells, strconv.Itoa(row.Pods), strconv.Itoa(row.Measured), view.Incomplete(row), hostNetwork(row), b.rep.Hours.String())
		cells = append(cells, shareOf(row)...)
		cells = append(cells, b.rep.Currency)
		cells = append(cells, b.money(row, i)...)
		cells = append(cells, efficiency(row))
	}
	return append(cells, b.amounts(row)...)
}

// money is what a leaf costs, in all, an hour and a month; nothing where that is unknown
// .
func (b *csvBuilder) money(row *cost.Row, i int) []string {
	if !row.Priced() {
		return []string{"", "", ""}
	}
	return []string{row.Cost.String(), b.hourly[i].String(), b.monthly[i].String()}
}

func (b *csvBuilder) amounts(row *cost.Row) []string {
	var cells []string
	add := func(r metrics.Resource, all ...metrics.Amounts) {
		for _, amounts := range all {
			cells = append(cells, amounts.Text(r))
		}
	}
	add(metrics.CPU, row.Used, row.Requested, row.Limited)
	add(metrics.Memory, row.Used, row.Requested, row.Limited)
	add(metrics.Storage, row.Claimed, row.Used)
	add(metrics.Ephemeral, row.Used, row.Requested, row.Limited)
	for _, amounts := range []metrics.Amounts{row.Used, row.Counters, row.HostTraffic} {
		add(metrics.Received, amounts)
		add(metrics.Sent, amounts)
	}
	for _, r := range b.extended {
		add(r, row.Used, row.Requested, row.Limited)
	}
	return cells
}

// hostNetwork is true or nothing: a row of many pods is mixed.
func hostNetwork(row *cost.Row) string {
	if row.HostNetwork {
		return "true"
	}
	return ""
}

// shareOf is the share of a row and of how many; nothing where there is no share, or
// where a row holds things of several shares.
func shareOf(row *cost.Row) []string {
	if row.Of == 0 {
		return []string{"", ""}
	}
	return []string{row.Share.String(), strconv.Itoa(row.Of)}
}

func efficiency(row *cost.Row) string {
	if row.Efficiency == nil {
		return ""
	}
	return row.Efficiency.String()
}

// csvDecimals is to how many decimal places money an hour is divided.
const csvDecimals = 12

// Spread returns each value times factor by hours, so that they add up to their sum
// times factor by hours, rounded to csvDecimals. What rounding leaves over goes to
// the largest remainders, of equals to the first. Nothing is rounded where all of it
// is exact anyway; no hours make nothing.
func Spread(values []decimal.Decimal, factor, hours decimal.Decimal) []decimal.Decimal {
	out := make([]decimal.Decimal, len(values))
	if !hours.IsPositive() {
		return out
	}
	if hours.Equal(decimal.NewFromInt(1)) {
		for i, v := range values {
			out[i] = v.Mul(factor)
		}
		return out
	}
	rest := make([]decimal.Decimal, len(values)) // times hours
	var total, floored decimal.Decimal
	for i, v := range values {
		whole := v.Mul(factor)
		out[i], rest[i] = whole.QuoRem(hours, csvDecimals)
		total, floored = total.Add(whole), floored.Add(out[i])
	}
	units := total.DivRound(hours, csvDecimals).Sub(floored).Shift(csvDecimals).IntPart()
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b].Cmp(rest[a]) })
	unit := decimal.New(1, -csvDecimals)
	for _, i := range order[:min(max(int(units), 0), len(order))] {
		out[i] = out[i].Add(unit)
	}
	return out
}
