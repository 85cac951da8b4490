package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// AutoscalePlanDocument is how workloads would be scaled (docs/schema/autoscale-plan.json).
type AutoscalePlanDocument struct {
	Head           `json:",inline"`
	autoscale.Plan `json:",inline"`
	Gaps           []object.Gap `json:"gaps"`
}

// AutoscaleStatusDocument is how scalers do (docs/schema/autoscale-status.json).
type AutoscaleStatusDocument struct {
	Head    `json:",inline"`
	Scalers []autoscale.Status `json:"scalers"`
	Gaps    []object.Gap       `json:"gaps"`
}

// AutoscalePlan returns the answer of how workloads would be scaled.
func AutoscalePlan(p *autoscale.Plan, gaps []object.Gap) Output {
	a := Output{Document: AutoscalePlanDocument{HeadOf("AutoscalePlan"), *p, gaps}}
	t := &Tree{Columns: []Column{
		{Name: "TARGET", Truncate: Middle, MinWidth: LeastName},
		{Name: "SCALER"},
		{Name: "NOW", Right: true},
		{Name: "MIN", Right: true},
		{Name: "USUAL", Right: true},
		{Name: "MAX", Right: true},
		{Name: "WHY", OwnLine: true, Wrap: true},
	}}
	for i := range p.Proposals {
		r := &p.Proposals[i]
		cells := []Cell{{scalerWord[r.Scaler], Plain}, {strconv.Itoa(r.Replicas), Plain}, {positive(r.Min), Plain}, {positive(r.Usual), Plain}, {positive(r.Max), Plain}}
		row := &TreeRow{Name: Cell{name(r.Target), Plain}, Cells: append(cells, Cell{strings.Join(r.Reasons[:min(1, len(r.Reasons))], ""), Faint})}
		for _, reason := range r.Reasons[min(1, len(r.Reasons)):] {
			row.Children = append(row.Children, autoscaleLine(reason, Faint))
		}
		row.Children = append(row.Children, requestRows(r.Requests)...)
		t.Roots = append(t.Roots, row)
		a.Names = append(a.Names, r.Target.String())
	}
	for i := range p.Refusals {
		r := &p.Refusals[i]
		row := &TreeRow{Name: Cell{name(r.Target), Plain}, Cells: []Cell{{"✖ refused", Bad}, {}, {}, {}, {}, {r.Message, Bad}}}
		for line := range strings.Lines(r.Hint) {
			row.Children = append(row.Children, autoscaleLine("help: "+strings.TrimSpace(line), Plain))
		}
		t.Roots = append(t.Roots, row)
	}
	t.Roots = append(t.Roots, wholeRow(&p.Whole))
	a.Tree = t
	return a
}

var scalerWord = map[string]string{autoscale.Horizontal: "HPA", autoscale.Vertical: "VPA (Off)", autoscale.Recommendation: "requests", autoscale.None: "none"}

// positive is a number above 0, or nothing.
func positive(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func autoscaleLine(text string, tone Tone) *TreeRow {
	return &TreeRow{Cells: []Cell{{}, {}, {}, {}, {}, {text, tone}}}
}

func requestRows(all []autoscale.Request) []*TreeRow {
	var out []*TreeRow
	for _, q := range all {
		out = append(out, autoscaleLine(fmt.Sprintf("container %s: requests of cpu %s, memory %s", q.Container, q.CPU, q.Memory), Plain))
	}
	return out
}

// wholeRow is what the plan means for all of it.
func wholeRow(w *autoscale.Whole) *TreeRow {
	row := &TreeRow{Name: Cell{"the whole", Plain}, Cells: []Cell{{}, {}, {}, {}, {}, {"no prices are known", Faint}}}
	if w.Current != "" {
		row.Cells[5] = Cell{fmt.Sprintf("costs %s %s a month now; %s at the minimum, %s usually, %s at the maximum", w.Current, w.Currency, w.Min, w.Usual, w.Max), Plain}
	}
	if w.Current != "" && w.Min == w.Usual {
		row.Cells[5].Text = fmt.Sprintf("costs %s %s a month now; %s at the minimum and usually, %s at the maximum", w.Current, w.Currency, w.Min, w.Max)
	}
	if w.Current != "" && w.Current == w.Max && w.Current == w.Min {
		row.Cells[5].Text = fmt.Sprintf("costs %s %s a month; no replicas would change", w.Current, w.Currency)
	}
	if w.Budget != "" {
		row.Children = append(row.Children, autoscaleLine(fmt.Sprintf("the budget is %s %s a month", w.Budget, w.Currency), Plain))
	}
	if w.Bottleneck != (object.Ref{}) {
		row.Children = append(row.Children, autoscaleLine("the bottleneck is "+name(w.Bottleneck), Warn))
	}
	for _, f := range w.Findings {
		text := f.Message
		if f.Object != (object.Ref{}) {
			text = name(f.Object) + ": " + text
		}
		row.Children = append(row.Children, autoscaleLine(text, Warn))
		if f.Hint != "" {
			row.Children = append(row.Children, autoscaleLine("help: "+f.Hint, Plain))
		}
	}
	return row
}

// AutoscaleStatus returns the answer of how scalers do.
func AutoscaleStatus(all []autoscale.Status, now time.Time, gaps []object.Gap) Output {
	a := Output{Document: AutoscaleStatusDocument{HeadOf("AutoscaleStatus"), all, gaps}}
	c := ColumnsOf[autoscale.Status]{
		{Column: Column{Name: "TARGET", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(s autoscale.Status) string { return name(s.Target) })},
		{Column: Column{Name: "SCALER", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(s autoscale.Status) string { return name(s.Scaler) }), in: wideOnly},
		{Column: Column{Name: "MIN", Right: true}, Value: AsText(func(s autoscale.Status) string { return strconv.Itoa(s.Min) })},
		{Column: Column{Name: "MAX", Right: true}, Value: AsText(func(s autoscale.Status) string { return strconv.Itoa(s.Max) })},
		{Column: Column{Name: "NOW", Right: true}, Value: AsText(func(s autoscale.Status) string { return strconv.Itoa(s.Replicas) })},
		{Column: Column{Name: "DESIRED", Right: true}, Value: AsText(func(s autoscale.Status) string { return strconv.Itoa(s.Desired) })},
		{Column: Column{Name: "USED", DropOrder: 1}, Value: AsText(func(s autoscale.Status) string { return strings.Join(s.Metrics, ", ") })},
		{Column: Column{Name: "SCALED", Right: true, DropOrder: 2}, Value: AsText(func(s autoscale.Status) string { return Age(now, s.Scaled) })},
		{Column: Column{Name: "ONE MORE", Right: true, DropOrder: 1}, Value: AsText(func(s autoscale.Status) string { return strings.TrimSpace(s.LiftCost + " " + s.Currency) })},
		{Column: Column{Name: "STATE", Truncate: End, MinWidth: LeastWhy}, Value: func(s autoscale.Status) Cell { return scalerState(&s, now) }},
	}
	a.Table, a.Wide = c.Table(all), c.wideTable(all)
	for i := range all {
		a.Names = append(a.Names, all[i].Scaler.String())
	}
	return a
}

// scalerState is whether a scaler works, and at which limit it is since when.
func scalerState(s *autoscale.Status, now time.Time) Cell {
	switch {
	case s.Problem != "":
		return Cell{"✖ " + s.Problem, Bad}
	case s.Limit == "max":
		return Cell{"! at its maximum for " + Age(now, s.Since), Warn}
	case s.Limit != "":
		return Cell{"at its minimum for " + Age(now, s.Since), Faint}
	}
	return Cell{"works", Good}
}
