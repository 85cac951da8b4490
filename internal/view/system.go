package view

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// SystemOptions are how a System is shown.
type SystemOptions struct {
	// Namespace is that of the System.
	Namespace string
	// World is the state of its apps; nil where no cluster was read.
	World *regulate.SystemState
	Gaps  []object.Gap
}

// System returns the answer of system show.
func System(s *system.System, o SystemOptions) Output {
	v := &systemView{s: s, o: o}
	a := Output{Tree: v.tree(), Document: v.document()}
	for i := range s.Apps {
		for _, root := range s.Apps[i].Roots {
			a.Names = append(a.Names, root.String())
		}
	}
	return a
}

type systemView struct {
	s *system.System
	o SystemOptions
}

// state is how an app is; nil where that is unknown.
func (v *systemView) state(name string) *regulate.AppState {
	if v.o.World == nil {
		return nil
	}
	a, _ := v.o.World.App(name)
	return a
}

func (v *systemView) tree() *Tree {
	t := &Tree{Columns: []Column{{Name: "SYSTEM", Truncate: Middle, MinWidth: LeastName}}}
	if v.o.World != nil {
		t.Columns = append(t.Columns, Column{Name: "HEALTH"})
	}
	t.Columns = append(t.Columns, Column{Name: "DETAILS", OwnLine: true, Wrap: true})
	top := v.line("System/"+v.s.Name, v.head())
	for i := range v.s.Apps {
		top.Children = append(top.Children, v.app(&v.s.Apps[i]))
	}
	for _, c := range v.s.Connections {
		top.Children = append(top.Children, v.line("connection "+portOf(c.From)+" → "+c.To.App, endWords(c.From)+" into "+endWords(c.To)))
	}
	g := &v.s.Regulation
	for i := range g.Rules {
		top.Children = append(top.Children, v.line("rule "+g.Rules[i].Name, g.Rules[i].Words()))
	}
	top.Children = append(top.Children, v.line("bounds", g.Words()))
	if v.s.Labels != nil {
		top.Children = append(top.Children, v.line("labels", labelWords(v.s.Labels)))
	}
	if words := chargebackWords(v.s.Chargeback); words != "" {
		top.Children = append(top.Children, v.line("chargeback", words))
	}
	for _, w := range v.s.Waivers {
		top.Children = append(top.Children, v.line("waiver "+w.Rule, waiverWords(w.Object, w.Reason)))
	}
	t.Roots = []*TreeRow{top}
	return t
}

// line has no health.
func (v *systemView) line(name, text string) *TreeRow {
	l := &TreeRow{Name: Cell{Text: name}}
	if v.o.World != nil {
		l.Cells = append(l.Cells, Cell{})
	}
	l.Cells = append(l.Cells, Cell{Text: text})
	return l
}

func (v *systemView) head() string {
	var parts []string
	if v.o.Namespace != "" {
		parts = append(parts, "namespace "+v.o.Namespace)
	}
	if v.s.Description != "" {
		parts = append(parts, strings.Join(strings.Fields(v.s.Description), " "))
	}
	return strings.Join(parts, ": ")
}

func (v *systemView) app(a *system.App) *TreeRow {
	l := v.line(a.Name, strings.Join(rootTexts(a.Roots), ", "))
	state := v.state(a.Name)
	if state != nil {
		l.Cells[0] = HealthCell(state.Health)
		if state.Message != "" {
			l.Children = append(l.Children, v.line("cause", v.causeOf(state)))
		}
	}
	if a.Operator != "" {
		l.Children = append(l.Children, v.line("operator", a.Operator))
	}
	for _, n := range v.needs(a.Name) {
		l.Children = append(l.Children, v.line("needs "+n.App, v.needWords(n)))
	}
	for _, signal := range a.Signals() {
		actions := a.On[signal]
		var words []string
		for i := range actions {
			words = append(words, actions[i].Words())
		}
		l.Children = append(l.Children, v.line("on "+signal, strings.Join(words, "; then ")))
	}
	if a.GitOps != "" {
		l.Children = append(l.Children, v.line("gitops", a.GitOps.Words()))
	}
	return l
}

// causeOf says what makes an app as it is.
func (v *systemView) causeOf(a *regulate.AppState) string {
	if a.Cause.Kind == "" {
		return a.Message
	}
	return v.short(a.Cause.String()) + ": " + a.Message
}

// needs are the apps that an app needs: as the graph tells, where it was asked, else as
// the manifest says.
func (v *systemView) needs(app string) []SystemNeedDocument {
	var out []SystemNeedDocument
	if state := v.state(app); state != nil {
		for _, n := range state.Needs {
			out = append(out, shownNeed(n))
		}
		return out
	}
	for _, d := range v.s.Dependencies {
		if d.From == app {
			out = append(out, SystemNeedDocument{App: d.To, Declared: true, Reason: d.Reason})
		}
	}
	for _, c := range v.s.Connections {
		if c.To.App == app {
			out = append(out, SystemNeedDocument{App: c.From.App, Declared: true, Reason: "it takes " + endWords(c.From)})
		}
	}
	return out
}

func shownNeed(n regulate.Need) SystemNeedDocument {
	d := SystemNeedDocument{App: n.App, Declared: n.Declared, Reason: n.Reason}
	if n.From.Kind != "" {
		d.From = n.From.String()
	}
	if n.To.Kind != "" {
		d.To = n.To.String()
	}
	if !n.Declared && d.Reason == "" {
		d.Reason = evidenceText(n.Edge)
	}
	return d
}

func (v *systemView) needWords(n SystemNeedDocument) string {
	way := v.short(n.From) + " → " + v.short(n.To)
	switch {
	case n.Declared && n.Reason == "":
		return "declared"
	case n.Declared:
		return "declared: " + n.Reason
	case n.Reason == "":
		return way
	}
	return way + ": " + n.Reason
}

// short leaves out the group of an object, and the namespace of the System.
func (v *systemView) short(id string) string {
	ref, err := object.ParseRef(id)
	if err != nil {
		return id
	}
	ref.Group = ""
	if ref.Namespace == v.o.Namespace {
		ref.Namespace = ""
	}
	return ref.String()
}

// portOf names an app with the port of a connection: db:mysql.
func portOf(e system.End) string {
	if e.Port == "" {
		return e.App
	}
	return e.App + ":" + e.Port
}

func endWords(e system.End) string {
	owner := e.App
	if e.Root.Name != "" {
		owner = e.Root.String()
	}
	return e.String() + " of " + owner
}

func rootTexts(roots []system.Root) []string {
	out := []string{}
	for _, r := range roots {
		out = append(out, r.String())
	}
	return out
}

func labelWords(labels map[string]string) string {
	words := []string{"the recommended ones"}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, key+"="+labels[key])
	}
	return strings.Join(words, ", ")
}

func chargebackWords(c system.Chargeback) string {
	var parts []string
	if c.Tenant != "" {
		parts = append(parts, c.Tenant+" pays")
	}
	if c.Prices != "" {
		parts = append(parts, "prices of "+c.Prices)
	}
	if c.Sharing != "" {
		parts = append(parts, "resources that several apps need are shared: "+string(c.Sharing))
	}
	return strings.Join(parts, "; ")
}

func waiverWords(subject object.Ref, reason string) string {
	if subject.Kind == "" {
		return reason
	}
	return subject.String() + ": " + reason
}
