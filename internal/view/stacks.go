package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// StacksOptions say what is shown of the stacks that were found.
type StacksOptions struct {
	// Namespace is that of all rows, which the table leaves out; empty where there are several.
	Namespace string
	// Now is the time from which ages are counted.
	Now time.Time
	// Kind is what a kind is called on the command line: Deployment, or with its group
	// where that is not enough.
	Kind func(object.Ref) string
	// Reading is the usage report that the figures are from, Prices the name of the price book.
	Reading *metrics.UsageReport
	Prices  string
	// Money is what is shown of the cost of each row in a month.
	Money    cost.Money
	Currency string
	Gaps     []object.Gap
	// Rest counts the objects that are in none of the stacks; Others are these, with --all.
	Rest   int
	Others []OtherObject
	// SharedAmong is among which stacks the cost of shared parts is split.
	SharedAmong string
	// Shape is the one that is wanted, since each takes time and memory; 0 is all of them.
	Shape Shape
}

// StackRow is a stack that was found.
type StackRow struct {
	// Name is what the stack is called: its root, or helm/NAME in the namespace of the
	// release.
	Name object.Ref
	// By is how its roots declare that they belong together: helm, app, applyset; empty for
	// a stack of one root.
	By string
	// Roots are what it was found by.
	Roots []object.Ref
	// Objects counts its objects, without boundaries.
	Objects int
	Health  *health.Stack
	// Causes are those of Health, the deepest first.
	Causes []StackCause
	// Row is what it uses and costs.
	Row *cost.Row
	// HealthyPods counts its Healthy pods.
	HealthyPods int
	// Created is when its first root was created; zero where that is unknown.
	Created time.Time
	// Shared are the topmost of the objects that other stacks have as well.
	Shared []object.Ref
	// Cluster says that the stack is part of the cluster itself, as its DNS is.
	Cluster bool

	other *OtherObject // set in place of the rest for an object that is in no stack
}

// StackCause is a cause of a stack's health.
type StackCause struct {
	Object object.Ref
	Health health.Health
}

// OtherObject is an object that is in no stack.
type OtherObject struct {
	Object object.Ref
	// Why it is in none, in a few words.
	Why    string
	Health health.Health
}

// Stacks returns the answer of the stacks command.
func Stacks(rows []StackRow, total *cost.Row, o StacksOptions) Output {
	v := stacksView{rows: rows, total: total, o: o}
	var lines []*StackRow
	for i := range rows {
		lines = append(lines, &rows[i])
	}
	for i := range o.Others {
		lines = append(lines, &StackRow{Name: o.Others[i].Object, other: &o.Others[i]})
	}
	c := v.columns()
	a := Output{Names: []string{}}
	if o.Shape.has(WideShape) {
		a.Wide = c.wideTable(lines)
	}
	if o.Shape.has(CSVShape) {
		a.CSV = c.csv(lines)
	}
	if o.Shape.has(DocumentShape) {
		a.Document = v.document()
	}
	for _, l := range lines { // Each is a ROOT that means the same wherever it is typed.
		a.Names = append(a.Names, l.Name.String())
	}
	if o.Namespace != "" {
		c = c.withoutNamed("NAMESPACE")
	}
	if o.Shape.has(TableShape) {
		a.Table = c.Table(lines)
	}
	return a
}

type stacksView struct {
	rows  []StackRow
	total *cost.Row
	o     StacksOptions
}

// columns of stacks. What a narrow terminal can do without goes first: the kinds of the roots,
// the pods, what is used.
func (v *stacksView) columns() ColumnsOf[*StackRow] {
	number := func(name string, drop int) Column { return Column{Name: name, Right: true, DropOrder: drop} }
	amount := func(amounts func(*cost.Row) metrics.Amounts, res metrics.Resource) func(*StackRow) string {
		return stackFigure(func(r *cost.Row) string { return amounts(r).Text(res) })
	}
	money := func(factor int64) func(*StackRow) string {
		return stackFigure(func(r *cost.Row) string {
			if !r.Priced() {
				return ""
			}
			return r.Cost.Mul(decimal.NewFromInt(factor)).String()
		})
	}
	return ColumnsOf[*StackRow]{
		{Column: Column{Name: "NAMESPACE", Truncate: Middle, MinWidth: 8, DropOrder: 1}, Value: v.namespace},
		{Column: Column{Name: "NAME" + sharedHeading, Truncate: Middle, MinWidth: 18}, key: "name", Value: v.name, raw: func(r *StackRow) string { return r.Name.String() }},
		{Column: Column{Name: "ROOTS", Truncate: End, MinWidth: 10, DropOrder: 7}, Value: v.kinds, raw: func(r *StackRow) string { return strings.Join(refIDs(r.Roots), " ") }},
		{Column: Column{Name: "HEALTH"}, Value: func(r *StackRow) Cell { return HealthCell(r.Status()) }, raw: func(r *StackRow) string { return string(r.Status()) }},
		{Column: number("SINCE", 0), in: wideOnly, Value: AsText(func(r *StackRow) string { return Age(v.o.Now, r.since()) }), raw: func(r *StackRow) string { return Moment(r.since()) }},
		{Column: Column{Name: "CAUSE", Truncate: End, MinWidth: 20, DropOrder: 3}, in: tableOnly, Value: AsText(v.cause)},
		{Column: Column{Name: "CAUSE"}, in: wideOnly, Value: AsText(v.causes)},
		{Column: number("OBJECTS", 0), in: wideOnly, Value: AsText(func(r *StackRow) string { return stackCount(r, r.Objects) })},
		{Column: number("PODS", 4), Value: stackCell(v.pods), raw: stackFigure(func(r *cost.Row) string { return strconv.Itoa(r.Pods) })},
		{Column: number("", 0), key: "pods_healthy", in: csvOnly, raw: func(r *StackRow) string { return stackCount(r, r.HealthyPods) }},
		{Column: number("MEASURED", 0), key: "pods_measured", in: wideOnly, Value: stackCell(v.measured), raw: stackFigure(func(r *cost.Row) string { return strconv.Itoa(r.Measured) })},
		{Column: number("CPU", 6), key: "cpu_used_cores", Value: v.used(metrics.CPU), raw: amount(used, metrics.CPU)},
		{Column: number("CPU REQ", 0), key: "cpu_requested_cores", in: wideOnly, Value: v.amount(requested, metrics.CPU), raw: amount(requested, metrics.CPU)},
		{Column: number("MEMORY", 6), key: "memory_used_bytes", Value: v.used(metrics.Memory), raw: amount(used, metrics.Memory)},
		{Column: number("MEM REQ", 0), key: "memory_requested_bytes", in: wideOnly, Value: v.amount(requested, metrics.Memory), raw: amount(requested, metrics.Memory)},
		{Column: number("STORAGE", 0), key: "storage_claimed_bytes", in: wideOnly, Value: v.amount(claimed, metrics.Storage), raw: amount(claimed, metrics.Storage)},
		{Column: Column{}, key: "currency", in: csvOnly, raw: stackFigure(func(*cost.Row) string { return v.o.Currency })},
		{Column: number(v.o.Currency+"/HOUR", 0), key: "cost_hour", in: wideOnly, Value: stackCell(v.hour), raw: money(1)},
		{Column: number(v.o.Currency+"/MONTH", 2), key: "cost_month", Value: stackCell(v.month), raw: money(cost.HoursPerMonth)},
		{Column: Column{}, key: "shared_among", in: csvOnly, raw: stackFigure(func(*cost.Row) string { return v.o.SharedAmong })},
		{Column: number("AGE", 5), key: "created", Value: AsText(func(r *StackRow) string { return Age(v.o.Now, r.Created) }), raw: func(r *StackRow) string { return Moment(r.Created) }},
		{Column: Column{}, key: "exclusion_reason", in: csvOnly, raw: func(r *StackRow) string {
			if r.other == nil {
				return ""
			}
			return r.other.Why
		}},
		{Column: Column{Name: "SHARED WITH OTHERS"}, in: wideOnly, Value: AsText(v.shared)},
	}
}

func (v *stacksView) namespace(r *StackRow) Cell { return Cell{r.Name.Namespace, r.tone()} }

// tone is faint for what is of the cluster itself, and for what is in no stack.
func (r *StackRow) tone() Tone {
	if r.other != nil {
		return Faint
	}
	return Plain
}

func (v *stacksView) name(r *StackRow) Cell {
	if r.Cluster {
		return Cell{v.short(r.Name), Faint}
	}
	return Cell{v.short(r.Name), r.tone()}
}

// short writes an object, or a group, as it is typed in its namespace.
func (v *stacksView) short(r object.Ref) string {
	if r.Group == "" && (r.Kind == graph.ByHelm || r.Kind == graph.ByApp) {
		return r.Kind + "/" + r.Name
	}
	return v.o.Kind(r) + "/" + r.Name
}

// kinds counts the kinds of the roots: Prometheus, Deployment ×3.
func (v *stacksView) kinds(row *StackRow) Cell {
	if row.other != nil {
		return Cell{"(" + row.other.Why + ")", Faint}
	}
	var kinds []string
	n := map[string]int{}
	for _, r := range row.Roots {
		if n[r.Kind]++; n[r.Kind] == 1 {
			kinds = append(kinds, r.Kind)
		}
	}
	for i, k := range kinds {
		if n[k] > 1 {
			kinds[i] = fmt.Sprintf("%s ×%d", k, n[k])
		}
	}
	return Cell{Text: strings.Join(kinds, ", ")}
}

// Status is that of the stack; Unknown where no object of it has one.
func (r *StackRow) Status() health.Status {
	if r.other != nil {
		return r.other.Health.Status
	}
	if r.Health == nil || r.Health.Status == "" {
		return health.Unknown
	}
	return r.Health.Status
}

func (r *StackRow) since() time.Time {
	switch {
	case r.other != nil:
		return r.other.Health.Since
	case r.Health == nil:
		return time.Time{}
	}
	return r.Health.Since
}

// cause is the first cause of the stack's status, the reason before the object since the end
// may be cut, and how many more there are.
func (v *stacksView) cause(r *StackRow) string {
	if r.other != nil && r.Status().Worse(health.Healthy) {
		return verdict(r.other.Health.Reason, r.other.Health.Message)
	}
	if len(r.Causes) == 0 {
		return ""
	}
	first := r.Causes[max(0, slices.IndexFunc(r.Causes, func(c StackCause) bool { return c.Health.Status == r.Status() }))]
	text := verdict(first.Health.Reason, "")
	if verdict(first.Health.Reason, "-") == "-" { // A reason of ours says less than the message.
		text = verdict("", first.Health.Message)
	}
	if first.Health.Status == health.Missing {
		text = "missing"
	}
	if first.Object != r.Name {
		text += ": " + v.relativeName(r, first.Object)
	}
	if more := len(r.Causes) - 1; more > 0 {
		text = fmt.Sprintf("%s (and %d more)", text, more)
	}
	return text
}

// causes are all of them, each with its message.
func (v *stacksView) causes(r *StackRow) string {
	if r.other != nil {
		return verdict(r.other.Health.Reason, r.other.Health.Message)
	}
	var all []string
	for _, c := range r.Causes {
		text := verdict(c.Health.Reason, c.Health.Message)
		if c.Object != r.Name {
			text = v.relativeName(r, c.Object) + ": " + text
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// relativeName writes an object that a stack has, with its namespace where that is another.
func (v *stacksView) relativeName(r *StackRow, o object.Ref) string {
	if o.Namespace != "" && o.Namespace != r.Name.Namespace {
		return v.o.Kind(o) + "/" + o.Namespace + "/" + o.Name
	}
	return v.short(o)
}

func (v *stacksView) shared(r *StackRow) string {
	var all []string
	for _, s := range r.Shared {
		all = append(all, v.relativeName(r, s))
	}
	return strings.Join(all, ", ")
}
