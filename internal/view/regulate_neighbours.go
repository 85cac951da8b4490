package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// NeighbourOptions say whose neighbours are shown.
type NeighbourOptions struct {
	RegulationOptions
	// Apps are those whose neighbours are shown; none means every app.
	Apps []string
	// Cascade shows those at any depth, whatever the rules say.
	Cascade bool
	Rules   []NeighbourRule
}

// NeighbourRule is what a rule of a system says of who is signalled.
type NeighbourRule struct {
	Name, Signal string
	// App is the one in trouble; empty for any.
	App string
	// To are the apps that get the signal; none means the neighbours.
	To      []string
	Cascade bool
}

// NeighbourRules returns what rules say of who is signalled.
func NeighbourRules(rules []system.Rule) []NeighbourRule {
	var out []NeighbourRule
	for i := range rules {
		r := &rules[i]
		out = append(out, NeighbourRule{Name: r.Name, Signal: r.Signal, App: r.App, To: r.To, Cascade: r.Cascade})
	}
	return out
}

// NeighboursDocument is who is signalled when apps are in trouble, for machines
// (docs/schema/regulate-neighbours.json).
type NeighboursDocument struct {
	Head      `json:",inline"`
	System    string         `json:"system"`
	Namespace string         `json:"namespace"`
	Apps      []AppInTrouble `json:"apps"`
	Gaps      []object.Gap   `json:"gaps"`
}

// AppInTrouble is an app and who is signalled when it is in trouble.
type AppInTrouble struct {
	App        string         `json:"app"`
	Neighbours []SignalTarget `json:"neighbours"`
	// StopOrder and RecoverOrder are those that a rule signals, or all of them where there
	// are no rules, in waves.
	StopOrder    [][]string `json:"stopOrder"`
	RecoverOrder [][]string `json:"recoverOrder"`
}

// SignalTarget is one that is signalled.
type SignalTarget struct {
	App string `json:"app"`
	// Path leads from it to the app in trouble; empty where only a rule names it.
	Path    []NeedStep     `json:"path"`
	Signals []SignalByRule `json:"signals"`
}

// SignalByRule is a signal, and the rule that sends it.
type SignalByRule struct {
	Signal string `json:"signal"`
	Rule   string `json:"rule"`
}

// NeedStep is that one app needs another, and how that is known.
type NeedStep struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Declared bool   `json:"declared"`
	Reason   string `json:"reason,omitempty"`
	Inferred bool   `json:"inferred"`
	// Objects are the way from an object of the one app to one of the other, and Why the
	// evidence of its first step; absent where only the manifest says so.
	Objects []object.Ref `json:"objects,omitempty"`
	Rule    string       `json:"rule,omitempty"`
	Why     string       `json:"why,omitempty"`

	need *regulate.Need
}

// Neighbours shows who is signalled when an app is in trouble, and by which evidence
// they need it.
func Neighbours(w *regulate.SystemState, o NeighbourOptions) Output {
	v := &neighbourView{w: w, o: o}
	for i := range w.Apps {
		if name := w.Apps[i].Name; len(o.Apps) == 0 || slices.Contains(o.Apps, name) {
			v.apps = append(v.apps, v.app(name))
		}
	}
	doc := NeighboursDocument{Head: HeadOf("Neighbours"), System: o.System, Namespace: o.Namespace, Apps: v.apps, Gaps: o.Gaps}
	a := Output{Tree: v.tree(), Table: v.table(), Diagram: v.net(), Document: doc, Names: []string{}}
	for i := range v.apps {
		for _, n := range v.apps[i].Neighbours {
			if !slices.Contains(a.Names, n.App) {
				a.Names = append(a.Names, n.App)
			}
		}
	}
	return a
}

type neighbourView struct {
	w    *regulate.SystemState
	o    NeighbourOptions
	apps []AppInTrouble
}

func (v *neighbourView) app(name string) AppInTrouble {
	t := AppInTrouble{App: name}
	direct := regulate.Neighbours(v.w, name, false)
	for _, n := range regulate.Neighbours(v.w, name, true) {
		near := slices.ContainsFunc(direct, func(d regulate.Neighbour) bool { return d.App == n.App })
		s := SignalTarget{App: n.App, Path: needSteps(n)}
		for i := range v.o.Rules {
			if r := &v.o.Rules[i]; r.about(name) && r.reaches(n.App, near) {
				s.Signals = append(s.Signals, SignalByRule{r.Signal, r.Name})
			}
		}
		if near || v.o.Cascade || len(s.Signals) > 0 {
			t.Neighbours = append(t.Neighbours, s)
		}
	}
	v.addNamed(&t)
	var apps []string
	for _, s := range t.Neighbours {
		if len(s.Signals) > 0 || len(v.o.Rules) == 0 {
			apps = append(apps, s.App)
		}
	}
	t.StopOrder, t.RecoverOrder = regulate.StopOrder(v.w, apps), regulate.RecoverOrder(v.w, apps)
	return t
}

// addNamed adds the apps that rules name although they need nothing of the one in trouble.
func (v *neighbourView) addNamed(t *AppInTrouble) {
	for i := range v.o.Rules {
		r := &v.o.Rules[i]
		for _, to := range r.To {
			at := slices.IndexFunc(t.Neighbours, func(s SignalTarget) bool { return s.App == to })
			if !r.about(t.App) || to == t.App || at >= 0 && len(t.Neighbours[at].Path) > 0 {
				continue
			}
			if at < 0 {
				at = len(t.Neighbours)
				t.Neighbours = append(t.Neighbours, SignalTarget{App: to})
			}
			t.Neighbours[at].Signals = append(t.Neighbours[at].Signals, SignalByRule{r.Signal, r.Name})
		}
	}
}

func needSteps(n regulate.Neighbour) []NeedStep {
	var out []NeedStep
	from := n.App
	for i := range n.Way {
		need := &n.Way[i]
		step := NeedStep{From: from, To: need.App, Declared: need.Declared, Reason: need.Reason, Inferred: !need.Declared && need.Edge.Inferred, need: need}
		if need.From != (object.Ref{}) {
			step.Rule, step.Why, step.Objects = need.Edge.Rule, need.Edge.Why(), need.Path
			if len(need.Path) == 0 {
				step.Objects = []object.Ref{need.From, need.To}
			}
		}
		out, from = append(out, step), need.App
	}
	return out
}

func (r *NeighbourRule) about(app string) bool { return r.App == "" || r.App == app }

// reaches says whether an app that needs the one in trouble gets the signal.
func (r *NeighbourRule) reaches(app string, near bool) bool {
	if len(r.To) > 0 {
		return slices.Contains(r.To, app)
	}
	return near || r.Cascade
}

func (v *neighbourView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "APP", Truncate: Middle, MinWidth: LeastName},
		{Name: "SIGNAL"},
		{Name: "WHY", OwnLine: true, Wrap: true},
	}}
	for i := range v.apps {
		app := &v.apps[i]
		line := &TreeRow{Name: Cell{Text: app.App}, Cells: []Cell{{}, {}}}
		if len(app.Neighbours) == 0 {
			line.Cells[1] = Cell{"no dependents", Faint}
		}
		for j := range app.Neighbours {
			line.Children = append(line.Children, v.line(app.App, &app.Neighbours[j]))
		}
		if len(app.StopOrder) > 1 || len(app.RecoverOrder) > 1 {
			line.Children = append(line.Children,
				&TreeRow{Name: Cell{"order of Stop", Faint}, Cells: []Cell{{}, {inWaves(app.StopOrder), Faint}}},
				&TreeRow{Name: Cell{"order of Recover", Faint}, Cells: []Cell{{}, {inWaves(app.RecoverOrder), Faint}}})
		}
		t.Roots = append(t.Roots, line)
	}
	return t
}

func inWaves(waves [][]string) string {
	var out []string
	for _, w := range waves {
		out = append(out, strings.Join(w, ", "))
	}
	return strings.Join(out, "; then ")
}

func (v *neighbourView) line(app string, s *SignalTarget) *TreeRow {
	line := &TreeRow{Name: Cell{Text: s.App}, Cells: []Cell{{Text: signalsOf(s)}, {v.reason(app, s), Faint}}}
	if len(s.Signals) == 0 && len(v.o.Rules) > 0 {
		line.Cells[0] = Cell{"no rule", Faint}
	}
	return line
}

// signalsOf is what an app gets, by which rules: Stop (trouble, upgrade), drain (keep).
func signalsOf(s *SignalTarget) string {
	var signals, out []string
	rules := map[string][]string{}
	for _, sent := range s.Signals {
		if rules[sent.Signal] == nil {
			signals = append(signals, sent.Signal)
		}
		rules[sent.Signal] = append(rules[sent.Signal], sent.Rule)
	}
	for _, signal := range signals {
		out = append(out, fmt.Sprintf("%s (%s)", signal, strings.Join(rules[signal], ", ")))
	}
	return strings.Join(out, ", ")
}

func (v *neighbourView) reason(app string, s *SignalTarget) string {
	switch len(s.Path) {
	case 0:
		return "the rule names it; it needs nothing of " + app
	case 1:
		return v.evidence(&s.Path[0])
	}
	var out []string
	for i := range s.Path {
		step := &s.Path[i]
		out = append(out, fmt.Sprintf("%s needs %s: %s", step.From, step.To, v.evidence(step)))
	}
	return strings.Join(out, "; ")
}

// evidence is by what a need is known: Deployment/web -> Service/db: FIELD = "db".
func (v *neighbourView) evidence(s *NeedStep) string {
	var words []string
	if s.Declared {
		words = append(words, "declared: "+cmp.Or(s.Reason, "the manifest declares it"))
	}
	if len(s.Objects) > 0 {
		var names []string
		for _, r := range s.Objects {
			names = append(names, Written(r, v.o.Namespace, nil))
		}
		words = append(words, Surely(strings.Join(names, " -> ")+": "+s.Why, s.need.Edge))
	}
	return strings.Join(words, "; ")
}

// table is a line a neighbour, for scripts.
func (v *neighbourView) table() *Table {
	type row struct {
		app string
		*SignalTarget
	}
	var rows []row
	for i := range v.apps {
		for j := range v.apps[i].Neighbours {
			rows = append(rows, row{v.apps[i].App, &v.apps[i].Neighbours[j]})
		}
	}
	return ColumnsOf[row]{
		{Column: Column{Name: "APP"}, Value: AsText(func(r row) string { return r.app })},
		{Column: Column{Name: "NEIGHBOUR"}, Value: AsText(func(r row) string { return r.App })},
		{Column: Column{Name: "STEPS", Right: true}, Value: AsText(func(r row) string { return strconv.Itoa(len(r.Path)) })},
		{Column: Column{Name: "SIGNAL"}, Value: AsText(func(r row) string { return signalsOf(r.SignalTarget) })},
		{Column: Column{Name: "WHY", Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(r row) string { return v.reason(r.app, r.SignalTarget) })},
	}.Table(rows)
}

// net draws who needs whom, as far as it is shown.
func (v *neighbourView) net() *Diagram {
	n, nodes, edges := &Diagram{}, map[string]bool{}, map[[2]string]bool{}
	node := func(app string, root bool) {
		if !nodes[app] {
			nodes[app] = true
			n.Nodes = append(n.Nodes, DiagramNode{ID: app, Kind: "App", Name: app, Root: root})
		}
	}
	for i := range v.apps {
		node(v.apps[i].App, len(v.o.Apps) > 0)
	}
	for i := range v.apps {
		for _, s := range v.apps[i].Neighbours {
			node(s.App, false)
			for j := range s.Path {
				step := &s.Path[j]
				node(step.To, false)
				if pair := [2]string{step.From, step.To}; !edges[pair] {
					edges[pair] = true
					n.Edges = append(n.Edges, DiagramEdge{From: step.From, To: step.To, Label: "needs", Dashed: step.Inferred})
				}
			}
		}
	}
	return n
}
