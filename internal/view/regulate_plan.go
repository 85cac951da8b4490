package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// RegulationOptions say how regulation is shown.
type RegulationOptions struct {
	// System is the name of the system, Namespace that in which it is.
	System, Namespace string
	// Gaps are what could not be read.
	Gaps []object.Gap
	// Drifts are changes of held targets by other clients.
	Drifts []regulate.Drift
}

// Plan shows what would be done to the apps of a system now, and why the rest would not.
func Plan(p *regulate.Plan, w *regulate.SystemState, o RegulationOptions) Output {
	v := &planView{p: p, w: w, o: o}
	a := Output{Tree: v.tree(), Table: v.table(), Document: v.document()}
	for i := range p.Steps {
		if !slices.Contains(a.Names, p.Steps[i].App) {
			a.Names = append(a.Names, p.Steps[i].App)
		}
	}
	return a
}

type planView struct {
	p *regulate.Plan
	w *regulate.SystemState
	o RegulationOptions
}

// tree has what is to be done first, then what waits and what is refused, then the apps.
func (v *planView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "PLAN", Truncate: Middle, MinWidth: LeastName},
		{Name: "WHAT", DropOrder: 1, Truncate: End, MinWidth: 12},
		{Name: "WHY", OwnLine: true, Wrap: true},
	}}
	for i := range v.p.Steps {
		t.Roots = append(t.Roots, v.step(&v.p.Steps[i]))
	}
	for _, w := range v.p.Pending {
		t.Roots = append(t.Roots, &TreeRow{
			Name:  Cell{"… " + stepWord(w.Verb, w.Signal) + " " + w.App, Warn},
			Cells: []Cell{{"in " + soon(v.p.At, w.Until), Plain}, {w.Why, Faint}},
		})
	}
	for _, r := range v.p.Refused {
		refusal := "refused: " + r.Reason
		if !r.Until.IsZero() {
			refusal += ", until " + r.Until.Format(time.TimeOnly)
		}
		t.Roots = append(t.Roots, &TreeRow{Name: Cell{"✖ " + r.Signal + " " + r.App, Bad}, Cells: []Cell{{refusal, Bad}, {r.Message, Plain}}})
	}
	if len(t.Roots) == 0 {
		t.Roots = append(t.Roots, &TreeRow{Name: Cell{"nothing to do", Good}, Cells: []Cell{{}, {}}})
	}
	for i := range v.o.Drifts {
		t.Roots = append(t.Roots, v.o.driftLine(&v.o.Drifts[i], 2))
	}
	t.Roots = append(t.Roots, v.apps())
	return t
}

// stepWord is what a step does, in a word for people.
func stepWord(verb regulate.Verb, signal string) string {
	switch verb {
	case regulate.Send:
		return signal
	case regulate.AddCause:
		return "keep"
	case regulate.RemoveCause:
		return "keep"
	case regulate.Resume:
		return "resume"
	default:
		return string(verb)
	}
}

func (v *planView) step(s *regulate.Step) *TreeRow {
	line := &TreeRow{Name: Cell{Text: fmt.Sprintf("%d %s %s", s.Wave+1, stepWord(s.Verb, s.Signal), s.App)}, Cells: []Cell{v.stepWhat(s), {s.Why, Plain}}}
	for _, m := range s.Managers {
		line.Children = append(line.Children, &TreeRow{Name: Cell{Text: v.near(m.Ref)}, Cells: []Cell{{Text: "suspended first"}, {managerWhy(m), Faint}}})
	}
	for i := range s.Actions {
		line.Children = append(line.Children, v.action(&s.Actions[i])...)
	}
	return line
}

func managerWhy(m regulate.Manager) string {
	if m.Reverts {
		return "it would revert the change"
	}
	return m.Tool + " reverts nothing by itself; an upgrade meanwhile would"
}

func (v *planView) stepWhat(s *regulate.Step) Cell {
	switch s.Verb {
	case regulate.AddCause:
		return Cell{"one more cause", Faint}
	case regulate.RemoveCause:
		return Cell{"one cause fewer", Faint}
	case regulate.Resume:
		return Cell{"started, not finished", Warn}
	}
	return Cell{}
}

// action has a line for each of its targets.
func (v *planView) action(a *regulate.Resolved) []*TreeRow {
	notes := strings.Join(a.Notes, "; ")
	if a.Default {
		notes = strings.TrimPrefix(notes+"; by default, since the manifest does not set it", "; ")
	}
	if len(a.Targets) == 0 {
		return []*TreeRow{{Name: Cell{Text: a.Name}, Cells: []Cell{{a.Text, Plain}, {notes, Faint}}}}
	}
	var out []*TreeRow
	for _, t := range a.Targets {
		effect, reason := a.Name, notes
		if a.Text != "" {
			effect += ": " + a.Text
		}
		if s, ok := a.Signals[t]; ok {
			effect, reason = signalText(&s), strings.TrimPrefix(reason+"; "+s.Effect, "; ")
		}
		out = append(out, &TreeRow{Name: Cell{Text: v.near(t)}, Cells: []Cell{{effect, Plain}, {reason, Faint}}})
	}
	return out
}

// near is how people of the namespace call an object.
func (v *planView) near(r object.Ref) string { return Written(r, v.o.Namespace, nil) }

func (v *planView) apps() *TreeRow {
	top := &TreeRow{Name: Cell{"apps", Faint}, Cells: []Cell{{}, {}}}
	for _, a := range v.p.Apps {
		line := &TreeRow{Name: Cell{Text: a.App}, Mark: regulationMark(a.State), Cells: []Cell{{}, {a.Why, Faint}}}
		if s, ok := v.w.App(a.App); ok {
			line.Cells[0] = HealthCell(s.Health)
			if a.Why == "" {
				line.Cells[1].Text = s.Message
			}
		}
		top.Children = append(top.Children, line)
	}
	return top
}

func regulationMark(s regulate.AppStatus) Cell {
	switch s {
	case regulate.IsHeld:
		return Cell{"‖ held", Warn}
	case regulate.IsCause:
		return Cell{"✖ cause", Bad}
	case regulate.Flapping:
		return Cell{"? ignored", Warn}
	}
	return Cell{}
}

// table is a line a step, for scripts.
func (v *planView) table() *Table {
	t := &Table{Columns: []Column{{Name: "WAVE", Right: true}, {Name: "DO"}, {Name: "SIGNAL"}, {Name: "APP"}, {Name: "WHY", Truncate: End, MinWidth: LeastWhy}}}
	for i := range v.p.Steps {
		s := &v.p.Steps[i]
		t.Rows = append(t.Rows, []Cell{{Text: fmt.Sprint(s.Wave + 1)}, {Text: string(s.Verb)}, {Text: s.Signal}, {Text: s.App}, {Text: s.Why}})
	}
	for _, w := range v.p.Pending {
		t.Rows = append(t.Rows, []Cell{{}, {"wait " + soon(v.p.At, w.Until), Warn}, {Text: w.Signal}, {Text: w.App}, {Text: w.Why}})
	}
	for _, r := range v.p.Refused {
		t.Rows = append(t.Rows, []Cell{{}, {"refused: " + r.Reason, Bad}, {Text: r.Signal}, {Text: r.App}, {Text: r.Message}})
	}
	for i := range v.o.Drifts {
		d := &v.o.Drifts[i]
		t.Rows = append(t.Rows, []Cell{{}, {"changed since", Warn}, {Text: d.Signal}, {Text: d.App}, {Text: d.Target.String() + ": " + d.Text()}})
	}
	return t
}

// soon is how long it is until then.
func soon(now, then time.Time) string {
	return max(0, then.Sub(now).Round(time.Second)).String()
}

// signalText is what a preset writes: pause: {"spec":{"paused":true}}.
func signalText(s *signals.Signal) string {
	if s.Scale {
		return s.Preset + ": replicas = 0"
	}
	patch, err := json.Marshal(s.Patch)
	if err != nil {
		return s.Preset
	}
	return s.Preset + ": " + string(patch)
}
