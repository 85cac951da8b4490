package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// figureColumns are those of numbers, by what a narrow terminal can do without. Over a window
// the same figures are those of hours.
func (v *metricsView) figureColumns() ColumnsOf[*cost.Row] {
	number := func(instant, window string, drop int, cell func(*cost.Row) Cell) ColumnOf[*cost.Row] {
		name := window
		if v.instant() {
			name = instant
		}
		return ColumnOf[*cost.Row]{Column: Column{Name: name, DropOrder: drop, Right: true}, Value: cell}
	}
	hourDrop, monthDrop := 0, 5
	if v.instant() {
		hourDrop, monthDrop = 5, 0
	}
	money := v.r.Currency
	return ColumnsOf[*cost.Row]{
		number("PODS", "PODS", 2, v.pods),
		number("CPU", "CORE-H", 1, v.amount(used, metrics.CPU)),
		number("CPU REQ", "REQUESTED", 4, v.amount(requested, metrics.CPU)),
		number("MEMORY", "GIB-H", 1, v.amount(used, metrics.Memory)),
		number("MEM REQ", "REQUESTED", 4, v.amount(requested, metrics.Memory)),
		number("STORAGE", "STORAGE GIB-H", 3, v.amount(claimed, metrics.Storage)),
		number(money+"/HOUR", money, hourDrop, v.hourly),
		number(money+"/MONTH", money+"/MONTH", monthDrop, v.monthly),
		number("EFFICIENCY", "EFFICIENCY", 6, v.efficiency),
	}.omit(v.o.Every != "", money+"/MONTH")
}

// metricsLine is a row of the table, and the groups that it is below.
type metricsLine struct {
	*cost.Row
	way []*cost.Row
}

// table is a line for each of the innermost groups, or each row of the first level, and the total.
func (v *metricsView) table() *Table {
	var lines []metricsLine
	for _, way := range v.r.Lines() {
		lines = append(lines, metricsLine{way[len(way)-1], way})
	}
	if len(lines) > 1 {
		lines = append(lines, metricsLine{&v.r.Total, []*cost.Row{&v.r.Total}})
	}
	var c ColumnsOf[metricsLine]
	name := func(head string, drop, width int, value func(metricsLine) string) {
		c = append(c, ColumnOf[metricsLine]{Column: Column{Name: head, DropOrder: drop, Truncate: Middle, MinWidth: width}, Value: AsText(value)})
	}
	keys := v.r.Keys
	if len(keys) == 0 {
		keys = []cost.Key{{By: cost.ByStack}}
	}
	inClusters := func(l metricsLine) bool { return l.Cluster != "" }
	if !slices.ContainsFunc(keys, func(k cost.Key) bool { return k.By == cost.ByCluster }) && slices.ContainsFunc(lines, inClusters) && slices.ContainsFunc(lines, func(l metricsLine) bool { return l.Ref.Kind != "" }) {
		name("CLUSTER", 0, LeastName, func(l metricsLine) string { return l.Cluster })
	}
	for i, k := range keys {
		// A namespace, a node or the value of a label is in no namespace.
		if (k.By == cost.ByStack || k.By == cost.ByResource) && !slices.Contains(keys, cost.Key{By: cost.ByNamespace}) {
			name("NAMESPACE", 3, 12, func(l metricsLine) string {
				if i < len(l.way) {
					return l.way[i].Ref.Namespace
				}
				return ""
			})
		}
		name(v.headingOf(k), 0, LeastName, func(l metricsLine) string {
			switch {
			case i >= len(l.way):
				return ""
			case l.Row == &v.r.Total:
				return "total"
			}
			ref := l.way[i].Ref
			if ref.Kind == "" {
				return l.way[i].Name
			}
			ref.Namespace, ref.Group = "", ""
			return ref.String()
		})
	}
	for _, figure := range v.figureColumns() {
		c = append(c, ColumnOf[metricsLine]{Column: figure.Column, Value: func(l metricsLine) Cell { return figure.Value(l.Row) }})
	}
	return c.Table(lines)
}

// wide is a line for every row, with all that is known; nothing of it is cut.
func (v *metricsView) wide() *Table {
	var rows []*cost.Row
	v.each(func(r *cost.Row) {
		if v.depthOf[r] < v.o.Depth || v.o.Depth == 0 {
			rows = append(rows, r)
		}
	})
	return v.wideColumns().wideTable(append(rows, &v.r.Total))
}

func (v *metricsView) wideColumns() ColumnsOf[*cost.Row] {
	var c ColumnsOf[*cost.Row]
	words := func(name string, value func(*cost.Row) string) {
		c = append(c, ColumnOf[*cost.Row]{Column: Column{Name: name}, Value: AsText(value)})
	}
	number := func(name string, cell func(*cost.Row) Cell) {
		c = append(c, ColumnOf[*cost.Row]{Column: Column{Name: name, Right: true}, Value: cell})
	}
	words("PERIOD", func(r *cost.Row) string { return v.periodOf[r] })
	words("LEVEL", func(r *cost.Row) string {
		if r == &v.r.Total {
			return "total"
		}
		return string(r.Level)
	})
	if slices.ContainsFunc(v.r.Rows, func(r *cost.Row) bool {
		return r.Cluster != "" || slices.ContainsFunc(r.Children, func(r *cost.Row) bool { return r.Cluster != "" })
	}) {
		words("CLUSTER", func(r *cost.Row) string { return r.Cluster })
	}
	words("STACK"+v.o.mode(), func(r *cost.Row) string { return refID(r.Stack) })
	words("NAMESPACE", func(r *cost.Row) string { return r.Ref.Namespace })
	words("OBJECT", v.full)
	number("PODS", AsText(func(r *cost.Row) string { return strconv.Itoa(r.Pods) }))
	number("MEASURED", AsText(func(r *cost.Row) string { return strconv.Itoa(r.Measured) }))
	for _, res := range []struct {
		head string
		metrics.Resource
	}{{"CPU", metrics.CPU}, {"MEM", metrics.Memory}} {
		number(strings.Replace(res.head, "MEM", "MEMORY", 1), v.amount(used, res.Resource))
		number(res.head+" REQ", v.amount(requested, res.Resource))
		number(res.head+" LIMIT", v.amount(limited, res.Resource))
	}
	number("STORAGE", v.amount(claimed, metrics.Storage))
	number("STORAGE USED", v.amount(used, metrics.Storage))
	number("EPHEMERAL", v.amount(used, metrics.Ephemeral))
	number("RECEIVED", v.traffic(metrics.Received))
	number("SENT", v.traffic(metrics.Sent))
	for _, res := range v.extended() {
		number(strings.ToUpper(string(res)), v.amount(requested, res))
	}
	number("SHARE", AsText(func(r *cost.Row) string {
		if r.Of > 1 {
			return percent(r.Share)
		}
		return ""
	}))
	hour := v.r.Currency // of the whole window
	if v.instant() {
		hour += "/HOUR"
	}
	number(hour, v.hourly)
	number(v.r.Currency+"/MONTH", v.monthly)
	number("EFFICIENCY", v.efficiency)
	words("NOTE", v.note)
	return c.omit(v.o.Every != "", v.r.Currency+"/MONTH").omit(v.o.Every == "", "PERIOD")
}

// traffic is what went over the network, or since when it is counted.
func (v *metricsView) traffic(res metrics.Resource) func(*cost.Row) Cell {
	return AsText(func(r *cost.Row) string {
		if use := v.amountText(r.Used, res); use != "" {
			return use
		}
		if counted := v.amountText(r.Counters, res); counted != "" {
			return counted + " since start"
		}
		return ""
	})
}

func (v *metricsView) note(r *cost.Row) string {
	var words []string
	if text := Incomplete(r); text != "" {
		words = append(words, text)
	}
	if r.HostNetwork {
		words = append(words, "host network")
	}
	for _, res := range []metrics.Resource{metrics.Received, metrics.Sent} {
		if bytes := v.amountText(r.HostTraffic, res); bytes != "" {
			words = append(words, string(res)+" of its host: "+bytes)
		}
	}
	return strings.Join(words, "; ")
}

// full is the name of a row where it stands alone.
func (v *metricsView) full(r *cost.Row) string {
	switch {
	case r == &v.r.Total:
		return ""
	case r.Ref.Kind == "":
		return r.Name
	}
	ref := r.Ref
	ref.Namespace = ""
	if r.Level == cost.LevelContainer {
		return ref.String() + "/" + r.Name
	}
	return ref.String()
}

// each calls f with every row, from the top, in order.
func (v *metricsView) each(f func(*cost.Row)) {
	var walk func(rows []*cost.Row, depth int)
	period := ""
	walk = func(rows []*cost.Row, depth int) {
		for _, r := range rows {
			if r.Level == cost.LevelPeriod {
				period = r.Name
			}
			v.depthOf[r], v.periodOf[r] = depth, period
			f(r)
			walk(r.Children, depth+1)
		}
	}
	walk(v.r.Rows, 0)
}

// extended are the extended resources that are requested.
func (v *metricsView) extended() []metrics.Resource {
	all := map[metrics.Resource]bool{}
	for r := range v.r.Total.Requested.All() {
		if r.IsExtended() {
			all[r] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (v *metricsView) rowNames() []string {
	names := []string{}
	for _, way := range v.r.Lines() {
		var values []string
		for _, r := range way {
			values = append(values, r.Value())
		}
		names = append(names, strings.Join(values, "/"))
	}
	return names
}
