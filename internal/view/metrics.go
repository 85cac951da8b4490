package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// MetricsOptions say what of a report is shown, and what it is of.
type MetricsOptions struct {
	// Reading is what the report sums up, without its lists.
	Reading *metrics.UsageReport
	// Prices is the name of the price book, Sharing how shared parts are split.
	Prices  string
	Sharing cost.Sharing
	// SharedAmong is among which stacks shared parts are split: alone (one stack that pays all
	// it needs), requested, namespace, cluster.
	SharedAmong string
	// Tenant is who pays; empty where no tenant is named.
	Tenant string
	// Depth is how many levels below the first people are shown; 0 is all of them.
	Depth int
	// Namespace is that of the user: objects of others are shown with theirs.
	Namespace string
	Gaps      []object.Gap
	// Every is by what the window is divided, and Periods are its parts; none for one row.
	Every   metrics.Calendar
	Periods []cost.Period
	// Divided is the report by period, for the chart of an invoice: the report itself is not divided.
	Divided *cost.Report
	// Shape is the one that is wanted, since each takes time; 0 is all of them.
	Shape Shape
}

// Metrics returns the answer of the metrics command, but for those in the formats of package
// export and package focus.
func Metrics(r *cost.Report, o MetricsOptions) Output {
	v := metricsView{r: r, o: o, depthOf: map[*cost.Row]int{}, periodOf: map[*cost.Row]string{}}
	v.cost, v.month = cost.Round(r, cost.ColumnCost, hourPlaces), cost.Round(r, cost.ColumnMonth, monthPlaces)
	var a Output
	if o.Shape.has(TreeShape) {
		a.Tree = v.tree()
	}
	if o.Shape.has(TableShape) {
		a.Table = v.table()
	}
	if o.Shape.has(WideShape) {
		a.Wide = v.wide()
	}
	if o.Shape.has(DocumentShape) {
		a.Document = v.document()
	}
	if o.Shape.has(NamesShape) {
		a.Names = v.rowNames()
	}
	if o.Shape == UIShape {
		v.cost = cost.Round(r, cost.ColumnCost, v.places())
		a.Invoice = v.invoice()
	}
	return a
}

// The decimal places in which people are shown money.
const (
	hourPlaces  = 4
	monthPlaces = 2
)

type metricsView struct {
	r *cost.Report
	o MetricsOptions
	// What people are shown of the cost of each row; it adds up.
	cost, month cost.Money
	// depthOf is the level of each row, from 0.
	depthOf map[*cost.Row]int
	// periodOf is the name of the period that each row is in.
	periodOf map[*cost.Row]string
}

func (v *metricsView) instant() bool { return v.o.Reading.Instant() }

// money is what is shown of a column; nothing for what has no cost of its own, or of
// which no cost is known.
func money(m cost.Money, r *cost.Row, places int32) Cell {
	d, known := m[r]
	if !known || !r.Priced() {
		return Cell{}
	}
	return Cell{Text: d.StringFixed(places)}
}

func (v *metricsView) hourly(r *cost.Row) Cell  { return money(v.cost, r, hourPlaces) }
func (v *metricsView) monthly(r *cost.Row) Cell { return money(v.month, r, monthPlaces) }

// pods is how many pods count, and of how many of them the usage is known.
func (v *metricsView) pods(r *cost.Row) Cell {
	switch {
	case r.Pods == 0:
		return Cell{}
	case r.Measured == r.Pods:
		return Cell{Text: strconv.Itoa(r.Pods)}
	}
	return Cell{Text: strconv.Itoa(r.Measured) + "/" + strconv.Itoa(r.Pods), Tone: Warn}
}

func (v *metricsView) efficiency(r *cost.Row) Cell {
	if r.Efficiency == nil {
		return Cell{}
	}
	return Cell{Text: r.Efficiency.Mul(decimal.New(100, 0)).StringFixed(0) + "%"}
}

// amount is a quantity of a row for people; nothing where it is unknown.
func (v *metricsView) amount(amounts func(*cost.Row) metrics.Amounts, r metrics.Resource) func(*cost.Row) Cell {
	return AsText(func(row *cost.Row) string { return v.amountText(amounts(row), r) })
}

func (v *metricsView) amountText(a metrics.Amounts, r metrics.Resource) string {
	n, known := a.Lookup(r)
	switch {
	case !known:
		return ""
	case r == metrics.Received, r == metrics.Sent:
		return binary(n)
	case r == metrics.CPU && v.instant():
		return cores(n)
	case r == metrics.CPU:
		return n.StringFixed(hourPlaces)
	case r.IsExtended():
		return n.Round(hourPlaces).String()
	case v.instant():
		return binary(n)
	}
	return n.DivRound(gib, hourPlaces).StringFixed(hourPlaces)
}

// cores are written as kubectl top does, in thousandths where there are few.
func cores(n decimal.Decimal) string {
	milli := n.Shift(3)
	switch {
	case milli.LessThan(decimal.New(10, 0)):
		return milli.Round(1).String() + "m"
	case milli.LessThan(decimal.New(10_000, 0)):
		return milli.Round(0).String() + "m"
	}
	return n.Round(2).String()
}

var gib = decimal.New(1<<30, 0)

// binary writes bytes in the largest binary unit of which there is one at least.
func binary(n decimal.Decimal) string {
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	step, unit := decimal.New(1024, 0), 0
	for n.Abs().GreaterThanOrEqual(step) && unit < len(units)-1 {
		n = n.DivRound(step, 6)
		unit++
	}
	places := int32(0)
	if unit > 0 && n.LessThan(decimal.New(10, 0)) {
		places = 1
	}
	return n.Round(places).String() + units[unit]
}

func (v *metricsView) tree() *Tree {
	c := v.figureColumns()
	t := &Tree{Columns: append([]Column{{Name: v.heading(), Truncate: Middle, MinWidth: LeastName}}, c.heads()...)}
	for _, r := range v.r.Rows {
		t.Roots = append(t.Roots, v.line(c, r, nil, 0))
	}
	if len(v.r.Rows) > 1 {
		t.Roots = append(t.Roots, &TreeRow{Name: Cell{Text: "total"}, Mark: v.mark(&v.r.Total, nil), Cells: c.cells(&v.r.Total)})
	}
	return t
}

// objectHeading is that of stacks and what they hold.
const objectHeading = "OBJECT"

func (v *metricsView) heading() string {
	var names []string
	period := ""
	for _, k := range v.r.Keys {
		if k.By == cost.ByPeriod {
			period = v.headingOf(k) + ", "
			continue
		}
		names = append(names, v.headingOf(k))
	}
	if len(names) == 0 {
		names = []string{v.headingOf(cost.Key{By: cost.ByStack})}
	}
	return period + strings.Join(names, " / ")
}

// mode is, for the heading of stacks, whether they pay all that they need, or a share of what others
// among them need as well.
func (o *MetricsOptions) mode() string {
	switch {
	case o.SharedAmong == "alone":
		return " (ALONE)"
	case o.Sharing == cost.ShareNone:
		return " (UNSHARED)"
	}
	return sharedHeading
}

// sharedHeading says in a heading that stacks share the cost of what several of them need.
const sharedHeading = " (SHARED)"

// headingOf is the heading of the values of a key.
func (v *metricsView) headingOf(k cost.Key) string {
	switch {
	case k.By == cost.ByPeriod:
		return strings.ToUpper(string(v.o.Every)) + " (UTC)"
	case k.By == cost.ByStack:
		return objectHeading + v.o.mode()
	case k.Name != "":
		return k.Name
	}
	return strings.ToUpper(k.By)
}

func (v *metricsView) line(c ColumnsOf[*cost.Row], r, above *cost.Row, depth int) *TreeRow {
	l := &TreeRow{Name: Cell{Text: v.name(r)}, Mark: v.mark(r, above), Cells: c.cells(r)}
	if r.Level == cost.LevelRest {
		l.Name.Tone = Faint
	}
	l.Name.Text = clusterPrefix(r, above) + l.Name.Text
	if v.o.Depth > 0 && depth+1 >= v.o.Depth {
		return l // The sums hold what is below.
	}
	for _, child := range r.Children {
		l.Children = append(l.Children, v.line(c, child, r, depth+1))
	}
	return l
}

// clusterPrefix names the cluster of a row where the row above it does not.
func clusterPrefix(r, above *cost.Row) string {
	if r.Cluster == "" || r.Key == cost.ByCluster || above != nil && above.Cluster == r.Cluster {
		return ""
	}
	return r.Cluster + ": "
}

// name is that of a row among its siblings.
func (v *metricsView) name(r *cost.Row) string {
	if r.Ref == (object.Ref{}) {
		return r.Name
	}
	if r.Level == cost.LevelContainer {
		return r.Name
	}
	ref := r.Ref
	ref.Group = ""
	if ref.Namespace == v.o.Namespace {
		ref.Namespace = ""
	}
	return ref.String()
}

// mark says what a number cannot. What is below a shared thing is shared as it is.
func (v *metricsView) mark(r, above *cost.Row) Cell {
	switch {
	case caveat(r) != "":
		return Cell{Text: caveat(r), Tone: Warn}
	case r.Of > 1 && (above == nil || above.Of != r.Of || !above.Share.Equal(r.Share)):
		return Cell{Text: "(shared: " + part(r) + ")", Tone: Faint}
	case r.Of == 0 && sharedUnevenly(r) && (above == nil || !sharedUnevenly(above)):
		return Cell{Text: "(shared)", Tone: Faint}
	case above == nil && v.partial():
		return Cell{Text: "(at least)", Tone: Warn}
	case r.HostNetwork:
		return Cell{Text: "(host network)", Tone: Faint}
	}
	return Cell{}
}

// caveat says what is less than the truth of a row, and not of all rows.
func caveat(r *cost.Row) string {
	if text := Incomplete(r); text != "" {
		return "(" + text + ")"
	}
	if resource := unpriced(r); resource != "" {
		return "(at least: no price for " + string(resource) + ")"
	}
	return ""
}

// Incomplete is why figures of a row are less than the truth; empty where they are not, or where
// those of all rows may be.
func Incomplete(r *cost.Row) string {
	switch {
	case r.Unmeasured != "":
		return r.Unmeasured
	case r.Gap > 0:
		return "at least: no samples for up to " + strings.TrimSuffix(r.Gap.String(), "0s")
	}
	return ""
}

// unpriced is a resource that something of a row requests and that is not charged; empty for none.
func unpriced(r *cost.Row) metrics.Resource {
	if r.Level == cost.LevelContainer {
		return ""
	}
	for resource, amount := range r.Requested.All() {
		if _, charged := r.Costs.Lookup(resource); resource.IsExtended() && amount.IsPositive() && !charged {
			return resource
		}
	}
	for _, child := range r.Children {
		if resource := unpriced(child); resource != "" {
			return resource
		}
	}
	return ""
}

// partial says whether a source of a window said that figures are less than the truth, and not of
// which rows.
func (v *metricsView) partial() bool {
	ofRows := []string{metrics.PodGap, cost.NoPrice}
	return !v.instant() && slices.ContainsFunc(v.o.Reading.Notes, func(n metrics.Note) bool { return n.LowersFigures && !slices.Contains(ofRows, n.Reason) })
}

// sharedUnevenly reports whether all of a row is shared, but with different shares.
func sharedUnevenly(r *cost.Row) bool {
	if r.Level == cost.LevelStack || r.Of == 1 {
		return false
	}
	for _, child := range r.Children {
		if child.Level != cost.LevelContainer && child.Of <= 1 && !sharedUnevenly(child) {
			return false
		}
	}
	return r.Level == cost.LevelPod || len(r.Children) > 0
}

// part is the share of a row: a fraction where it is an even one.
func part(r *cost.Row) string {
	sharers := decimal.New(int64(r.Of), 0)
	if r.Share.Mul(sharers).Round(6).Equal(decimal.New(1, 0)) {
		return "1/" + strconv.Itoa(r.Of)
	}
	return percent(r.Share)
}

func percent(d decimal.Decimal) string { return d.Shift(2).Round(1).String() + "%" }
