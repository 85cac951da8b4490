package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// table is a line for each row of the first level, and the total.
func (v *metricsView) table() *Table {
	t := &Table{Columns: append([]Column{
		{Name: "NAMESPACE", DropOrder: 3, Truncate: Middle, MinWidth: 12},
		{Name: v.heading(), Truncate: Middle, MinWidth: leastName},
	}, v.columns()...)}
	objects := v.heading() == "OBJECT" || v.o.By == cost.ByResource
	if !objects { // a namespace, a node or the value of a label is in no namespace
		t.Columns = t.Columns[1:]
	}
	add := func(r *cost.Row, namespace, name string) {
		cells := []Cell{{Text: name}}
		if objects {
			cells = []Cell{{Text: namespace}, {Text: name}}
		}
		t.Rows = append(t.Rows, append(cells, v.cells(r)...))
	}
	for _, r := range v.r.Rows {
		ref := r.Ref
		ref.Namespace, ref.Group = "", ""
		name := r.Name
		if ref.Kind != "" {
			name = ref.String()
		}
		add(r, r.Ref.Namespace, name)
	}
	if len(v.r.Rows) > 1 {
		add(&v.r.Total, "", "total")
	}
	return t
}

// wide is a line for every row, with all that is known; nothing of it is cut.
func (v *metricsView) wide() *Table {
	extended := v.extended()
	t := &Table{Columns: []Column{{Name: "LEVEL"}, {Name: "STACK"}, {Name: "NAMESPACE"}, {Name: "OBJECT"}}}
	number := func(names ...string) {
		for _, n := range names {
			t.Columns = append(t.Columns, Column{Name: n, Right: true})
		}
	}
	number("PODS", "MEASURED", "CPU", "CPU REQ", "CPU LIMIT", "MEMORY", "MEM REQ", "MEM LIMIT", "STORAGE", "STORAGE USED", "EPHEMERAL", "RECEIVED", "SENT")
	for _, r := range extended {
		number(strings.ToUpper(string(r)))
	}
	number("SHARE", v.r.Currency+v.per("/HOUR"), v.r.Currency+"/MONTH", "EFFICIENCY")
	t.Columns = append(t.Columns, Column{Name: "NOTE"})
	v.each(func(r *cost.Row) {
		if v.depthOf[r] >= v.o.Depth && v.o.Depth > 0 {
			return
		}
		t.Rows = append(t.Rows, v.wideRow(r, extended))
	})
	t.Rows = append(t.Rows, v.wideRow(&v.r.Total, extended))
	return t
}

// per is left out of the head of what a window cost.
func (v *metricsView) per(hour string) string {
	if v.instant() {
		return hour
	}
	return ""
}

func (v *metricsView) wideRow(r *cost.Row, extended []metrics.Resource) []Cell {
	text := func(s string) Cell { return Cell{Text: s} }
	name, stack := v.full(r), ""
	if r.Stack.Kind != "" {
		stack = r.Stack.String()
	}
	level := string(r.Level)
	if r == &v.r.Total {
		level, name = "total", ""
	}
	row := []Cell{text(level), text(stack), text(r.Ref.Namespace), text(name), text(strconv.Itoa(r.Pods)), text(strconv.Itoa(r.Measured))}
	for _, res := range []metrics.Resource{metrics.CPU, metrics.Memory} {
		row = append(row, v.amount(r.Used, res), v.amount(r.Requested, res), v.amount(r.Limited, res))
	}
	row = append(row, v.amount(r.Claimed, metrics.Storage), v.amount(r.Used, metrics.Storage), v.amount(r.Used, metrics.Ephemeral), v.traffic(r, metrics.Received), v.traffic(r, metrics.Sent))
	for _, res := range extended {
		row = append(row, v.amount(r.Requested, res))
	}
	share := ""
	if r.Of > 1 {
		share = percent(r.Share)
	}
	return append(row, text(share), money(v.cost, r, hourPlaces), money(v.month, r, monthPlaces), v.efficiency(r), text(v.note(r)))
}

// traffic is what went over the network, or since when it is counted.
func (v *metricsView) traffic(r *cost.Row, res metrics.Resource) Cell {
	if c := v.amount(r.Used, res); c.Text != "" {
		return c
	}
	if c := v.amount(r.Counters, res); c.Text != "" {
		return Cell{Text: c.Text + " since start"}
	}
	return Cell{}
}

func (v *metricsView) note(r *cost.Row) string {
	var words []string
	if r.Unmeasured != "" {
		words = append(words, r.Unmeasured)
	}
	if r.HostNetwork {
		words = append(words, "host network")
	}
	for _, res := range []metrics.Resource{metrics.Received, metrics.Sent} {
		if c := v.amount(r.HostTraffic, res); c.Text != "" {
			words = append(words, string(res)+" of its host: "+c.Text)
		}
	}
	return strings.Join(words, "; ")
}

// full is the name of a row where it stands alone.
func (v *metricsView) full(r *cost.Row) string {
	if r.Ref.Kind == "" {
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
	walk = func(rows []*cost.Row, depth int) {
		for _, r := range rows {
			v.depthOf[r] = depth
			f(r)
			walk(r.Children, depth+1)
		}
	}
	walk(v.r.Rows, 0)
}

// extended are the extended resources that are requested.
func (v *metricsView) extended() []metrics.Resource {
	all := map[metrics.Resource]bool{}
	for r := range v.r.Total.Requested {
		if r.IsExtended() {
			all[r] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (v *metricsView) rowNames() []string {
	names := []string{}
	for _, r := range v.r.Rows {
		if r.Ref.Kind != "" {
			names = append(names, r.Ref.String())
		} else {
			names = append(names, r.Name)
		}
	}
	return names
}
