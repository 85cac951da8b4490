package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
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

// Neighbours shows who is signalled when an app is in trouble, and by which evidence
// they need it.
func Neighbours(w *regulate.SystemState, o NeighbourOptions) Output {
	v := &neighbourView{w: w, o: o}
	for i := range w.Apps {
		if name := w.Apps[i].Name; len(o.Apps) == 0 || slices.Contains(o.Apps, name) {
			v.apps = append(v.apps, v.app(name))
		}
	}
	a := Output{Tree: v.tree(), Table: v.table(), Diagram: v.net(), Document: v.document(), Names: []string{}}
	for _, app := range v.apps {
		for _, n := range app.neighbours {
			if !slices.Contains(a.Names, n.app) {
				a.Names = append(a.Names, n.app)
			}
		}
	}
	return a
}

type neighbourView struct {
	w    *regulate.SystemState
	o    NeighbourOptions
	apps []appInTrouble
}

// appInTrouble is an app, and who is signalled when it is in trouble.
type appInTrouble struct {
	app        string
	neighbours []signalTarget
}

// signalTarget is one that is.
type signalTarget struct {
	app string
	way []regulate.Need // none for one that a rule names and that needs nothing of it
	by  []NeighbourRule
}

func (v *neighbourView) app(name string) appInTrouble {
	t := appInTrouble{app: name}
	direct := regulate.Neighbours(v.w, name, false)
	for _, n := range regulate.Neighbours(v.w, name, true) {
		near := slices.ContainsFunc(direct, func(d regulate.Neighbour) bool { return d.App == n.App })
		s := signalTarget{app: n.App, way: n.Way}
		for _, r := range v.o.Rules {
			if r.about(name) && r.reaches(n.App, near) {
				s.by = append(s.by, r)
			}
		}
		if near || v.o.Cascade || len(s.by) > 0 {
			t.neighbours = append(t.neighbours, s)
		}
	}
	for _, r := range v.o.Rules {
		for _, to := range r.To {
			if !r.about(name) || to == name || slices.ContainsFunc(t.neighbours, func(s signalTarget) bool { return s.app == to && len(s.way) > 0 }) {
				continue
			}
			i := slices.IndexFunc(t.neighbours, func(s signalTarget) bool { return s.app == to })
			if i < 0 {
				i = len(t.neighbours)
				t.neighbours = append(t.neighbours, signalTarget{app: to})
			}
			t.neighbours[i].by = append(t.neighbours[i].by, r)
		}
	}
	return t
}

func (r *NeighbourRule) about(app string) bool { return r.App == "" || r.App == app }

// reaches says whether an app that needs the one in trouble gets the signal.
func (r *NeighbourRule) reaches(app string, near bool) bool {
	if len(r.To) > 0 {
		return slices.Contains(r.To, app)
	}
	return near || r.Cascade
}

// orders are the apps of which some rule sends a signal, or all where there are no rules, in
// waves.
func (v *neighbourView) orders(t *appInTrouble) (stop, recoverOrder [][]string) {
	var apps []string
	for _, s := range t.neighbours {
		if len(s.by) > 0 || len(v.o.Rules) == 0 {
			apps = append(apps, s.app)
		}
	}
	return regulate.StopOrder(v.w, apps), regulate.RecoverOrder(v.w, apps)
}

func (v *neighbourView) tree() *Tree {
	t := &Tree{Columns: []Column{
		{Name: "APP", Truncate: Middle, MinWidth: leastName},
		{Name: "SIGNAL"},
		{Name: "WHY", OwnLine: true, Wrap: true},
	}}
	for i := range v.apps {
		app := &v.apps[i]
		line := &TreeRow{Name: Cell{Text: app.app}, Cells: []Cell{{}, {}}}
		if len(app.neighbours) == 0 {
			line.Cells[1] = Cell{"no dependents", Faint}
		}
		for j := range app.neighbours {
			line.Children = append(line.Children, v.line(app.app, &app.neighbours[j]))
		}
		if stop, recoverOrder := v.orders(app); len(stop) > 1 || len(recoverOrder) > 1 {
			line.Children = append(line.Children,
				&TreeRow{Name: Cell{"order of Stop", Faint}, Cells: []Cell{{}, {inWaves(stop), Faint}}},
				&TreeRow{Name: Cell{"order of Recover", Faint}, Cells: []Cell{{}, {inWaves(recoverOrder), Faint}}})
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

func (v *neighbourView) line(app string, s *signalTarget) *TreeRow {
	line := &TreeRow{Name: Cell{Text: s.app}, Cells: []Cell{{Text: signalsOf(s)}, {v.reason(app, s), Faint}}}
	if len(s.by) == 0 {
		line.Cells[0] = Cell{"no rule", Faint}
		if len(v.o.Rules) == 0 {
			line.Cells[0].Text = ""
		}
	}
	return line
}

// signalsOf is what an app gets, by which rules: Stop (trouble, upgrade), drain (keep).
func signalsOf(s *signalTarget) string {
	var signals, out []string
	rules := map[string][]string{}
	for _, r := range s.by {
		if rules[r.Signal] == nil {
			signals = append(signals, r.Signal)
		}
		rules[r.Signal] = append(rules[r.Signal], r.Name)
	}
	for _, signal := range signals {
		out = append(out, fmt.Sprintf("%s (%s)", signal, strings.Join(rules[signal], ", ")))
	}
	return strings.Join(out, ", ")
}

func (v *neighbourView) reason(app string, s *signalTarget) string {
	if len(s.way) == 0 {
		return "the rule names it; it needs nothing of " + app
	}
	if len(s.way) == 1 {
		return v.evidence(&s.way[0])
	}
	var out []string
	from := s.app
	for i := range s.way {
		out = append(out, fmt.Sprintf("%s needs %s: %s", from, s.way[i].App, v.evidence(&s.way[i])))
		from = s.way[i].App
	}
	return strings.Join(out, "; ")
}

// evidence is by what a need is known: Deployment/web -> Service/db: FIELD = "db".
func (v *neighbourView) evidence(n *regulate.Need) string {
	var words []string
	if n.Declared {
		words = append(words, "declared: "+declaredWhy(n))
	}
	if n.From != (object.Ref{}) {
		path := n.Path
		if len(path) == 0 {
			path = []object.Ref{n.From, n.To}
		}
		var names []string
		for _, r := range path {
			names = append(names, written(r, v.o.Namespace, nil))
		}
		words = append(words, surely(strings.Join(names, " -> ")+": "+n.Edge.Why(), n.Edge))
	}
	return strings.Join(words, "; ")
}

func declaredWhy(n *regulate.Need) string {
	if n.Reason == "" {
		return "the manifest declares it"
	}
	return n.Reason
}

// table is a line a neighbour, for scripts.
func (v *neighbourView) table() *Table {
	t := &Table{Columns: []Column{{Name: "APP"}, {Name: "NEIGHBOUR"}, {Name: "STEPS", Right: true}, {Name: "SIGNAL"}, {Name: "WHY", Truncate: End, MinWidth: leastWhy}}}
	for _, app := range v.apps {
		for i := range app.neighbours {
			s := &app.neighbours[i]
			t.Rows = append(t.Rows, []Cell{{Text: app.app}, {Text: s.app}, {Text: fmt.Sprint(len(s.way))}, {Text: signalsOf(s)}, {Text: v.reason(app.app, s)}})
		}
	}
	return t
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
	for _, app := range v.apps {
		node(app.app, len(v.o.Apps) > 0)
	}
	for _, app := range v.apps {
		for _, s := range app.neighbours {
			node(s.app, false)
			from := s.app
			for i := range s.way {
				need := &s.way[i]
				node(need.App, false)
				if pair := [2]string{from, need.App}; !edges[pair] {
					edges[pair] = true
					n.Edges = append(n.Edges, DiagramEdge{From: from, To: need.App, Label: "needs", Dashed: !need.Declared && need.Edge.Inferred})
				}
				from = need.App
			}
		}
	}
	return n
}
