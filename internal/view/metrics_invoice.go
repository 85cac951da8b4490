package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Invoice is a report for those who pay: who pays what, and for which things. All of it is text,
// and every column of money adds up as it is shown.
type Invoice struct {
	Title, Currency string
	// Facts are what the report is of.
	Facts []Pair
	// By is what a group is: a namespace, the key of a label.
	By     string
	Groups []InvoiceGroup
	Total  InvoiceLine
	// Chart is what was paid over time; nil where there is no more than one period.
	Chart *InvoiceChart
	// Shared says that lines have a part of a shared thing.
	Shared bool
	Notes  []string
}

// InvoiceGroup is who pays.
type InvoiceGroup struct {
	InvoiceLine
	// Meaning explains what is not a group: idle, unmounted.
	Meaning string
	// Part is what the group pays of the total.
	Part  string
	Lines []InvoiceLine
}

// InvoiceLine is what is paid for.
type InvoiceLine struct {
	Name string
	// Share is the part of a shared thing, and Mark what a number cannot say.
	Share, Mark string
	Depth       int
	// Amounts are pods; CPU used and requested; memory used and requested; storage.
	Amounts []string
	// Cost is that of the window, or of an hour; Month that of 730 hours at the rates of an instant.
	Cost, Month string
}

// InvoiceChart is what groups cost over time.
type InvoiceChart struct {
	Unit  string   // of the calendar
	Names []string // of groups, the largest first, then the others, then idle
	// Idle is the index of idle among the names; less than 0 for none.
	Idle    int
	Periods []InvoicePeriod
}

// InvoicePeriod is a day, a week or a month.
type InvoicePeriod struct {
	Name  string
	Costs []decimal.Decimal // by group
	Total decimal.Decimal
	// Texts are the costs, and the total last, as they are printed.
	Texts []string
}

// The limits of what is printed: groups of a chart, and lines of a group.
const (
	chartGroups  = 7
	idleName     = "idle"
	invoiceLines = 40
)

// invoice makes the invoice of the undivided report.
func (v *metricsView) invoice() *Invoice {
	inv := &Invoice{Title: "Invoice", Currency: v.r.Currency, By: v.groupBy()}
	if v.instant() {
		inv.Title = "Costs"
	}
	inv.Facts = v.facts()
	for _, row := range v.r.Rows {
		group := InvoiceGroup{InvoiceLine: v.invoiceLine(row, nil, 0), Meaning: cost.RestMeaning(row.Name, v.o.Sharing)}
		if row.Level != cost.LevelRest {
			group.Meaning = ""
		}
		if v.r.Total.Cost.IsPositive() {
			group.Part = percent(row.Cost.DivRound(v.r.Total.Cost, 6))
		}
		v.invoiceLines(&group, row, 1)
		inv.Groups = append(inv.Groups, group)
		inv.Shared = inv.Shared || slices.ContainsFunc(group.Lines, func(l InvoiceLine) bool { return l.Share != "" })
	}
	inv.Total = v.invoiceLine(&v.r.Total, nil, 0)
	inv.Total.Name = "Total"
	inv.Chart = v.chart()
	if t := &v.r.Total; t.Measured < t.Pods {
		inv.Notes = append(inv.Notes, fmt.Sprintf("the usage of %d of %d pods is known: the others pay for what they request", t.Measured, t.Pods))
	}
	for _, n := range v.o.Reading.Notes {
		inv.Notes = append(inv.Notes, n.String())
	}
	for _, g := range v.o.Gaps {
		inv.Notes = append(inv.Notes, strings.Join(slices.DeleteFunc([]string{"not read: " + g.Resource, g.Namespace, g.Message}, func(s string) bool { return s == "" }), ", "))
	}
	return inv
}

// facts are what the report is of.
func (v *metricsView) facts() []Pair {
	var all []Pair
	add := func(term, text string) {
		if text != "" {
			all = append(all, Pair{term, text})
		}
	}
	const moment = "2006-01-02 15:04"
	if r := v.o.Reading; v.instant() {
		add("Measured at", r.To.UTC().Format(moment)+" UTC")
	} else {
		add("From", r.From.UTC().Format(moment)+" UTC")
		add("To", r.To.UTC().Format(moment)+" UTC")
		add("Hours", r.Hours.String())
	}
	add("Tenant", v.o.Tenant)
	add("By", v.groupBy())
	add("Prices", cmp.Or(map[string]string{"default": "OpenCost's public ones"}[v.o.Prices], v.o.Prices))
	among := map[string]string{"alone": "all that the stack needs", "requested": "among the requested stacks, ", "namespace": "among the stacks of the namespace, ", "cluster": "among all stacks, "}[v.o.SharedAmong]
	switch {
	case v.o.SharedAmong == "alone":
		add("Charged", among)
	case v.o.Sharing == cost.ShareNone:
		add("Shared parts", "not split: rows of their own")
	default:
		add("Shared parts", "split "+among+map[cost.Sharing]string{cost.ShareEven: "evenly", cost.ShareUsage: "by usage", cost.ShareRequests: "by requests", cost.ShareWeight: "by weight"}[v.o.Sharing])
	}
	add("Currency", v.r.Currency)
	return all
}

// invoiceLines adds what is below a row, down to the depth that was asked for, and at least to what
// the innermost groups hold.
func (v *metricsView) invoiceLines(group *InvoiceGroup, row *cost.Row, depth int) {
	if depth >= max(v.o.Depth, len(v.r.Keys)+1, 2) {
		return
	}
	children := slices.Clone(row.Children)
	if len(children) > invoiceLines {
		slices.SortStableFunc(children, func(a, b *cost.Row) int { return b.Cost.Cmp(a.Cost) })
		children = cost.Limit(&cost.Report{Rows: children, Total: *row}, invoiceLines, 0).Rows
		v.roundBelow(row, children)
	}
	for _, child := range children {
		group.Lines = append(group.Lines, v.invoiceLine(child, row, depth-1))
		if child.Level != cost.LevelPod {
			v.invoiceLines(group, child, depth+1)
		}
	}
}

// roundBelow rounds the costs of rows that take the place of those below a row, as that of the row
// is shown.
func (v *metricsView) roundBelow(row *cost.Row, children []*cost.Row) {
	for _, m := range []cost.Money{v.cost, v.month} {
		var listed decimal.Decimal
		for _, child := range row.Children {
			listed = listed.Add(m[child])
		}
		last := children[len(children)-1]
		for _, child := range children {
			same := slices.IndexFunc(row.Children, func(r *cost.Row) bool {
				return r.Ref == child.Ref && r.Name == child.Name && r.Level == child.Level && r.Cluster == child.Cluster
			})
			if child != last && same >= 0 {
				m[child] = m[row.Children[same]]
				listed = listed.Sub(m[child])
			}
		}
		m[last] = listed
	}
}

func (v *metricsView) invoiceLine(r, above *cost.Row, depth int) InvoiceLine {
	line := InvoiceLine{Name: v.name(r), Depth: depth, Cost: money(v.cost, r, v.places()).Text, Amounts: []string{
		v.pods(r).Text, v.amountText(r.Used, metrics.CPU), v.amountText(r.Requested, metrics.CPU), v.amountText(r.Used, metrics.Memory), v.amountText(r.Requested, metrics.Memory),
		v.amountText(r.Claimed, metrics.Storage),
	}}
	if v.instant() {
		line.Month = v.monthly(r).Text
	}
	switch {
	case r.Ref == object.Ref{} && r.Name == "" && r.Level != cost.LevelRest:
		line.Name = "(none)"
	case r.Level == cost.LevelStack && r.Ref != object.Ref{}:
		line.Name = r.Ref.String()
	}
	line.Name = clusterPrefix(r, above) + line.Name
	if r.Of > 1 && (above == nil || above.Of != r.Of || !above.Share.Equal(r.Share)) {
		line.Share, line.Mark = part(r), caveat(r)
	} else {
		line.Mark = v.mark(r, above).Text
	}
	return line
}

func isIdle(row *cost.Row) bool { return row.Level == cost.LevelRest && row.Name == idleName }

// chartNames are the groups of all periods, the dearest first, and whether anything was idle.
func (v *metricsView) chartNames() (names []string, idle bool) {
	sums := map[string]decimal.Decimal{}
	for _, period := range v.o.Divided.Rows {
		for _, row := range period.Children {
			if isIdle(row) {
				idle = idle || row.Cost.IsPositive()
				continue
			}
			name := v.invoiceLine(row, nil, 0).Name
			if _, known := sums[name]; !known {
				names = append(names, name)
			}
			sums[name] = sums[name].Add(row.Cost)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return sums[b].Cmp(sums[a]) })
	return names, idle
}

// chart is what groups cost in each period: the dearest ones, and the others together.
func (v *metricsView) chart() *InvoiceChart {
	if v.o.Divided == nil || len(v.o.Periods) < 2 {
		return nil
	}
	shown := cost.Round(v.o.Divided, cost.ColumnCost, v.places())
	names, hasIdle := v.chartNames()
	c := &InvoiceChart{Unit: string(v.o.Every), Names: slices.Clone(names), Idle: -1}
	if len(names) > chartGroups {
		c.Names = append(c.Names[:chartGroups], fmt.Sprintf("%d others", len(names)-chartGroups))
	}
	last := len(c.Names) - 1
	if hasIdle {
		c.Idle, c.Names = len(c.Names), append(c.Names, idleName)
	}
	for _, period := range v.o.Divided.Rows {
		p := InvoicePeriod{Name: period.Name, Costs: make([]decimal.Decimal, len(c.Names)), Total: shown[period]}
		for _, row := range period.Children {
			i := c.Idle
			if !isIdle(row) {
				i = min(slices.Index(names, v.invoiceLine(row, nil, 0).Name), last)
			}
			if i >= 0 {
				p.Costs[i] = p.Costs[i].Add(shown[row])
			}
		}
		for _, amount := range append(slices.Clone(p.Costs), p.Total) {
			p.Texts = append(p.Texts, amount.StringFixed(v.places()))
		}
		c.Periods = append(c.Periods, p)
	}
	return c
}

// places are the decimal places of money: of a bill that is not small, hundredths.
func (v *metricsView) places() int32 {
	if v.instant() || v.r.Total.Cost.LessThan(decimal.New(10, 0)) {
		return hourPlaces
	}
	return monthPlaces
}
