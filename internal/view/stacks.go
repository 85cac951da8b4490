package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// StacksOptions say what is shown of the stacks that were found.
type StacksOptions struct {
	// Namespace is the one that need not be written; empty where there are several.
	Namespace string
	// Now is the moment that ages are told from.
	Now time.Time
	// Kind is what a kind is called on the command line: Deployment, or with its group
	// where that is not enough.
	Kind func(object.Ref) string
	// Reading is what the figures are of, and Prices the name of the price book.
	Reading *metrics.UsageReport
	Prices  string
	// Money is what is shown of the cost of each row in a month.
	Money    cost.Money
	Currency string
	Gaps     []object.Gap
	// Rest is how many objects are in none of the stacks; Others are these, where they are
	// asked for.
	Rest   int
	Others []OtherObject
}

// StackRow is a stack that was found.
type StackRow struct {
	// Name is what the stack is called: its root, or helm/NAME in the namespace of the
	// release.
	Name object.Ref
	// By is how its roots say that they belong together: helm, app, applyset; empty for
	// one that stands for itself.
	By string
	// Roots are what it was found by.
	Roots []object.Ref
	// Objects is how many there are in it, without what it stands on.
	Objects int
	Health  *health.Stack
	// Causes are those of Health, the deepest first.
	Causes []StackCause
	// Row is what it uses and costs.
	Row *cost.Row
	// Well is how many of its pods are Healthy.
	Well int
	// Created is when the first of its roots was; zero where that is not known.
	Created time.Time
	// Shared are objects that other stacks have as well, the topmost of them.
	Shared []object.Ref
	// Ground says that it is one of the cluster itself.
	Ground bool
}

// StackCause is what makes a stack as it is.
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
	return Output{Table: v.table(), Wide: v.wide(), Document: v.document(), Names: v.list()}
}

type stacksView struct {
	rows  []StackRow
	total *cost.Row
	o     StacksOptions
}

// table is a line for each stack. What a narrow terminal can do without goes first: the
// kinds of the roots, the pods, what is used.
func (v *stacksView) table() *Table {
	t := &Table{Columns: []Column{
		{Name: "NAMESPACE", Truncate: Middle, MinWidth: 8, DropOrder: 1},
		{Name: "NAME", Truncate: Middle, MinWidth: 18},
		{Name: "ROOTS", Truncate: End, MinWidth: 10, DropOrder: 7},
		{Name: "HEALTH"},
		{Name: "CAUSE", Truncate: End, MinWidth: 20, DropOrder: 3},
		{Name: "PODS", Right: true, DropOrder: 4},
		{Name: "CPU", Right: true, DropOrder: 6},
		{Name: "MEMORY", Right: true, DropOrder: 6},
		{Name: v.o.Currency + "/MONTH", Right: true, DropOrder: 2},
		{Name: "AGE", Right: true, DropOrder: 5},
	}}
	for i := range v.rows {
		r := &v.rows[i]
		t.Rows = append(t.Rows, []Cell{
			{Text: r.Name.Namespace},
			v.name(r),
			{Text: v.kinds(r.Roots)},
			HealthCell(r.Status()),
			{Text: v.cause(r)},
			v.pods(r),
			v.used(r, metrics.CPU), v.used(r, metrics.Memory), v.month(r.Row),
			{Text: age(v.o.Now, r.Created)},
		})
	}
	for _, other := range v.o.Others {
		row := make([]Cell, len(t.Columns))
		row[0], row[1], row[2] = Cell{other.Object.Namespace, Faint}, Cell{v.short(other.Object), Faint}, Cell{"(" + other.Why + ")", Faint}
		row[3] = HealthCell(other.Health.Status)
		if other.Health.Status.Worse(health.Healthy) {
			row[4] = Cell{Text: verdict(other.Health.Reason, other.Health.Message)}
		}
		t.Rows = append(t.Rows, row)
	}
	if v.o.Namespace != "" {
		t = withoutColumn(t, 0)
	}
	return t
}

// wide is the same with all that is known; nothing of it is cut.
func (v *stacksView) wide() *Table {
	t := &Table{Columns: []Column{{Name: "NAMESPACE"}, {Name: "NAME"}, {Name: "ROOTS"}, {Name: "HEALTH"}, {Name: "SINCE", Right: true}, {Name: "CAUSE"}}}
	for _, name := range []string{"OBJECTS", "PODS", "MEASURED", "CPU", "CPU REQ", "MEMORY", "MEM REQ", "STORAGE", v.o.Currency + "/HOUR", v.o.Currency + "/MONTH", "AGE"} {
		t.Columns = append(t.Columns, Column{Name: name, Right: true})
	}
	t.Columns = append(t.Columns, Column{Name: "SHARED WITH OTHERS"})
	for i := range v.rows {
		r := &v.rows[i]
		row := []Cell{
			{Text: r.Name.Namespace},
			v.name(r),
			{Text: v.kinds(r.Roots)},
			HealthCell(r.Status()),
			{Text: age(v.o.Now, r.since())},
			{Text: v.causes(r)},
			{Text: strconv.Itoa(r.Objects)},
			v.pods(r), v.measured(r), v.used(r, metrics.CPU), amountCell(r.Row, requested, metrics.CPU),
			v.used(r, metrics.Memory), amountCell(r.Row, requested, metrics.Memory), amountCell(r.Row, claimed, metrics.Storage),
			v.hour(r.Row), v.month(r.Row),
			{Text: age(v.o.Now, r.Created)},
			{Text: v.shared(r)},
		}
		t.Rows = append(t.Rows, row)
	}
	for _, other := range v.o.Others {
		row := make([]Cell, len(t.Columns))
		row[0], row[1], row[2], row[3] = Cell{Text: other.Object.Namespace}, Cell{Text: v.short(other.Object)}, Cell{Text: "(" + other.Why + ")"}, HealthCell(other.Health.Status)
		row[4], row[5] = Cell{Text: age(v.o.Now, other.Health.Since)}, Cell{Text: verdict(other.Health.Reason, other.Health.Message)}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// withoutColumn leaves a column out.
func withoutColumn(t *Table, column int) *Table {
	t.Columns = slices.Delete(slices.Clone(t.Columns), column, column+1)
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], column, column+1)
	}
	return t
}

func (v *stacksView) name(r *StackRow) Cell {
	tone := Plain
	if r.Ground {
		tone = Faint
	}
	return Cell{v.short(r.Name), tone}
}

// short writes an object, or a group, as it is typed in its namespace.
func (v *stacksView) short(r object.Ref) string {
	if r.Group == "" && (r.Kind == graph.ByHelm || r.Kind == graph.ByApp) {
		return r.Kind + "/" + r.Name
	}
	return v.o.Kind(r) + "/" + r.Name
}

// kinds counts the kinds of some objects: Prometheus, Deployment ×3.
func (v *stacksView) kinds(refs []object.Ref) string {
	var kinds []string
	n := map[string]int{}
	for _, r := range refs {
		if n[r.Kind]++; n[r.Kind] == 1 {
			kinds = append(kinds, r.Kind)
		}
	}
	for i, k := range kinds {
		if n[k] > 1 {
			kinds[i] = fmt.Sprintf("%s ×%d", k, n[k])
		}
	}
	return strings.Join(kinds, ", ")
}

// Status is that of the stack. Where nothing in it says anything, nothing is known.
func (r *StackRow) Status() health.Status {
	if r.Health == nil || r.Health.Status == "" {
		return health.Unknown
	}
	return r.Health.Status
}

func (r *StackRow) since() time.Time {
	if r.Health == nil {
		return time.Time{}
	}
	return r.Health.Since
}

// cause is the first of those that make the stack as it is, why before what: it may be
// cut. And how many there are besides.
func (v *stacksView) cause(r *StackRow) string {
	if len(r.Causes) == 0 {
		return ""
	}
	first := r.Causes[max(0, slices.IndexFunc(r.Causes, func(c StackCause) bool { return c.Health.Status == r.Status() }))]
	text := verdict(first.Health.Reason, "")
	if verdict(first.Health.Reason, "-") == "-" { // The word is one of ours, and says less than the message.
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

// causes are all of them, with what is said of each.
func (v *stacksView) causes(r *StackRow) string {
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

// list is each stack as a ROOT that means the same wherever it is typed.
func (v *stacksView) list() []string {
	names := []string{}
	for i := range v.rows {
		names = append(names, v.rows[i].Name.String())
	}
	for _, other := range v.o.Others {
		names = append(names, other.Object.String())
	}
	return names
}
