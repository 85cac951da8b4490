package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// RegulationStatus shows what is held, by what, and since when. The state is nil where the
// apps were not read.
func RegulationStatus(j *regulate.Journal, p *regulate.Plan, w *regulate.SystemState, now time.Time, o RegulationOptions) Output {
	v := &statusView{j: j, p: p, w: w, now: now, o: o}
	a := Output{Tree: v.tree(), Table: v.table(), Document: v.document()}
	for _, h := range j.Holds {
		a.Names = append(a.Names, h.App)
	}
	return a
}

type statusView struct {
	j   *regulate.Journal
	p   *regulate.Plan
	w   *regulate.SystemState
	now time.Time
	o   RegulationOptions
}

func (v *statusView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "APP", Truncate: Middle, MinWidth: LeastName},
		{Name: "HEALTH"},
		{Name: "SINCE", Right: true, DropOrder: 1},
		{Name: "WHY", OwnLine: true, Wrap: true},
	}}
	for i := range v.w.Apps {
		t.Roots = append(t.Roots, v.app(&v.w.Apps[i]))
	}
	// What is held of apps that the manifest does not have any more has no line to be under.
	for _, section := range []struct {
		holds []*regulate.Hold
		line  func(*regulate.Hold) *TreeRow
	}{{v.j.Conflicts, v.conflict}, {v.j.Holds, v.hold}} {
		for _, h := range section.holds {
			if _, found := v.w.App(h.App); !found {
				line := section.line(h)
				line.Name.Text = h.App + " " + line.Name.Text
				line.Mark = Cell{"not in the manifest", Warn}
				t.Roots = append(t.Roots, line)
			}
		}
	}
	return t
}

// app is an app with what is held of it, and what was left.
func (v *statusView) app(a *regulate.AppState) *TreeRow {
	line := &TreeRow{Name: Cell{Text: a.Name}, Cells: []Cell{HealthCell(a.Health), {Text: v.ago(a.Since)}, {a.Message, Plain}}}
	for _, p := range v.p.Apps {
		if p.App == a.Name {
			line.Mark = regulationMark(p.State)
			if p.Why != "" {
				line.Cells[2].Text = p.Why
			}
		}
	}
	for _, h := range v.j.Holds {
		if h.App == a.Name {
			child := v.hold(h)
			for i := range v.o.Drifts {
				if d := &v.o.Drifts[i]; d.Hold == h.ID {
					child.Children = append(child.Children, v.o.driftLine(d, 3))
				}
			}
			line.Children = append(line.Children, child)
		}
	}
	for _, h := range v.j.Conflicts {
		if h.App == a.Name {
			line.Children = append(line.Children, v.conflict(h))
		}
	}
	return line
}

func (v *statusView) hold(h *regulate.Hold) *TreeRow {
	line := &TreeRow{
		Name:  Cell{Text: fmt.Sprintf("%s #%d", h.Signal, h.ID)},
		Cells: []Cell{phaseCell(h), {Text: v.ago(h.At)}, {Text: causesOf(h)}},
	}
	for _, op := range h.Operations {
		line.Children = append(line.Children, v.operation(op))
	}
	return line
}

// conflict is the line of a value that the undo of a hold did not restore, with the way to
// restore it.
func (v *statusView) conflict(h *regulate.Hold) *TreeRow {
	line := v.hold(h)
	line.Name.Text = "conflict of " + line.Name.Text
	line.Cells[2].Text = "it was changed by another client before it was restored; regulate recover " + h.App + " --force restores it"
	return line
}

func phaseCell(h *regulate.Hold) Cell {
	if h.Phase == regulate.Held {
		return Cell{Text: string(h.Phase)}
	}
	return Cell{string(h.Phase), Warn}
}

func causesOf(h *regulate.Hold) string {
	var reasons []string
	for _, c := range h.Causes {
		reasons = append(reasons, c.Why)
	}
	return strings.Join(reasons, "; ")
}

func (v *statusView) operation(op *regulate.Operation) *TreeRow {
	text := op.Text
	switch {
	case text == "":
		text = op.Result // It was so before: nothing was to be done.
	case op.Result != "" && op.Result != op.Text:
		text += ": " + op.Result
	}
	tone := Faint
	switch op.State {
	case regulate.Conflict, regulate.Failed, regulate.TargetGone:
		tone = Warn
	}
	ref := object.Ref{Kind: op.Target.Kind, Namespace: op.Target.Namespace, Name: op.Target.Name}
	name := op.Action
	if op.Target.Name != "" {
		name = Written(ref, v.o.Namespace, nil)
	}
	return &TreeRow{Name: Cell{Text: name}, Cells: []Cell{{string(op.State), tone}, {Text: v.ago(op.At)}, {text, Faint}}}
}

func (v *statusView) ago(at time.Time) string { return Age(v.now, at) }

// table has a row for each hold, and one for each change of what is held.
func (v *statusView) table() *Table {
	t := ColumnsOf[*regulate.Hold]{
		{Column: Column{Name: "APP"}, Value: AsText(func(h *regulate.Hold) string { return h.App })},
		{Column: Column{Name: "SIGNAL"}, Value: AsText(func(h *regulate.Hold) string { return h.Signal })},
		{Column: Column{Name: "PHASE"}, Value: phaseCell},
		{Column: Column{Name: "SINCE", Right: true}, Value: AsText(func(h *regulate.Hold) string { return v.ago(h.At) })},
		{Column: Column{Name: "TARGETS", Right: true}, Value: AsText(func(h *regulate.Hold) string { return fmt.Sprint(len(h.Operations)) })},
		{Column: Column{Name: "WHY", Truncate: End, MinWidth: LeastWhy}, Value: AsText(causesOf)},
	}.Table(slices.Concat(v.j.Holds, v.j.Conflicts))
	for i := range v.o.Drifts {
		d := &v.o.Drifts[i]
		t.Rows = append(t.Rows, []Cell{{Text: d.App}, {Text: d.Signal}, {"changed since", Warn}, {Text: v.ago(d.At)}, {Text: d.Target.String()}, {Text: d.Text()}})
	}
	return t
}

// RegulationStatusDocument is what is held, for machines (docs/schema/regulate-status.json).
type RegulationStatusDocument struct {
	Head      `json:",inline"`
	System    string            `json:"system"`
	Namespace string            `json:"namespace"`
	Holds     []HoldDocument    `json:"holds"`
	Conflicts []HoldDocument    `json:"conflicts"`
	Apps      []PlanAppDocument `json:"apps"`
	Drift     []DriftDocument   `json:"drift"`
	Gaps      []object.Gap      `json:"gaps"`
}

// HoldDocument is a signal that was sent and not undone, or what remained of it after the undo.
// A journal stores it with other names, and with what the undo needs.
type HoldDocument struct {
	ID         int                 `json:"id"`
	App        string              `json:"app"`
	Signal     string              `json:"signal"`
	Phase      string              `json:"phase"`
	At         string              `json:"at"`
	Failed     string              `json:"failed,omitempty"`
	Causes     []CauseDocument     `json:"causes"`
	Operations []OperationDocument `json:"operations"`
}

// OperationDocument is one action on one object.
type OperationDocument struct {
	Action  string           `json:"action"`
	Text    string           `json:"text"`
	Target  string           `json:"target,omitempty"`
	State   string           `json:"state"`
	At      string           `json:"at,omitempty"`
	Result  string           `json:"result,omitempty"`
	Changes []ChangeDocument `json:"changes,omitempty"`
}

// ChangeDocument is one field that was written: values are JSON, absent where there was or
// is no field.
type ChangeDocument struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

func changeDocuments(changes []patch.Change) []ChangeDocument {
	value := func(found bool, v any) string {
		text, err := json.Marshal(v)
		if !found || err != nil {
			return ""
		}
		return string(text)
	}
	var out []ChangeDocument
	for _, c := range changes {
		out = append(out, ChangeDocument{Path: c.Path, Before: value(c.ExistedBefore, c.Before), After: value(c.ExistsAfter, c.After)})
	}
	return out
}

func (v *statusView) document() RegulationStatusDocument {
	plan := &planView{p: v.p, w: v.w, o: v.o}
	d := RegulationStatusDocument{Head: HeadOf("RegulationStatus"), System: v.o.System, Namespace: v.o.Namespace, Holds: v.holds(v.j.Holds), Conflicts: v.holds(v.j.Conflicts), Apps: plan.document().Apps, Drift: v.o.drifts(), Gaps: v.o.Gaps}
	return d
}

func (v *statusView) holds(holds []*regulate.Hold) []HoldDocument {
	var out []HoldDocument
	for _, h := range holds {
		doc := HoldDocument{ID: h.ID, App: h.App, Signal: h.Signal, Phase: string(h.Phase), At: Moment(h.At), Failed: h.Failed, Causes: causeDocuments(h.Causes)}
		for _, op := range h.Operations {
			target := ""
			if op.Target.Name != "" {
				target = object.Ref{Kind: op.Target.Kind, Group: groupOf(op.Target.APIVersion), Namespace: op.Target.Namespace, Name: op.Target.Name}.String()
			}
			doc.Operations = append(doc.Operations, OperationDocument{Action: op.Action, Text: op.Text, Target: target, State: string(op.State), At: Moment(op.At), Result: op.Result, Changes: changeDocuments(op.Changes)})
		}
		out = append(out, doc)
	}
	return out
}

// groupOf is the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
