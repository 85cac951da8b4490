package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func healthColumns() []Column {
	return []Column{
		{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName},
		{Name: "HEALTH", MinWidth: len("◌ Progressing")},
		{Name: "PARTS", DropOrder: 2},
		{Name: "SINCE", DropOrder: 1, Right: true},
		{Name: "MESSAGE", OwnLine: true},
	}
}

// tree shows what is wrong of each stack, and counts what is right.
func (v *healthView) tree() *Tree {
	t := &Tree{Columns: healthColumns()}
	for i := range v.stacks {
		w := &healthTree{healthView: v, s: &v.stacks[i], causes: map[graph.ID]health.Cause{}}
		for _, c := range w.s.Health.Causes {
			w.causes[c.ID] = c
		}
		t.Roots = append(t.Roots, w.line()...)
	}
	return t
}

// healthTree lays out one stack.
type healthTree struct {
	*healthView
	s       *HealthStack
	causes  map[graph.ID]health.Cause
	printed map[graph.ID]bool
}

// line is that of the stack: of its root, or of the name that its roots have in common.
func (v *healthTree) line() []*TreeRow {
	v.printed = map[graph.ID]bool{}
	forest := v.s.Stack.Forest()
	var lines []*TreeRow
	folded := &tally{}
	for _, b := range forest {
		if len(forest) > 1 && v.right(b) {
			v.add(folded, b)
			continue
		}
		lines = append(lines, v.branch(b))
	}
	if l := folded.line(); l != nil {
		lines = append(lines, l)
	}
	if len(forest) == 1 && v.g.Ref(forest[0].ID) == v.s.Name {
		return lines
	}
	h := v.s.Health
	top := &TreeRow{Name: Cell{Text: Written(v.s.Name, v.o.Namespace, nil)}, Children: lines, Cells: []Cell{{}, HealthCell(h.Status), {v.since(h.Since), Plain}, {}}}
	return []*TreeRow{top}
}

// right says that everything of a branch is Healthy and unchanged.
func (v *healthTree) right(b *graph.Branch) bool {
	own := v.a.OwnHealth(b.ID)
	if own.Status != "" && own.Status != health.Healthy || v.changed(own) {
		return false
	}
	return !slices.ContainsFunc(b.Children, func(c *graph.Branch) bool { return !v.right(c) })
}

func (v *healthTree) changed(h health.Health) bool {
	return !v.o.Since.IsZero() && h.Since.After(v.o.Since)
}

// branch is the line of a node that is not folded, with those below it.
func (v *healthTree) branch(b *graph.Branch) *TreeRow {
	part, _ := v.s.Health.Part(b.ID)
	l := &TreeRow{Name: Cell{Text: v.names.text(b.ID)}, Mark: v.mark(b, part), Cells: v.cells(part)}
	if b.Repeated || v.printed[b.ID] {
		return l
	}
	v.printed[b.ID] = true
	l.Children = append(l.Children, v.events(b.ID)...)
	folded := &tally{}
	for _, c := range b.Children {
		if v.right(c) {
			v.add(folded, c)
			continue
		}
		l.Children = append(l.Children, v.branch(c))
	}
	if f := folded.line(); f != nil {
		l.Children = append(l.Children, f)
	}
	return l
}

func (v *healthTree) cells(p health.Part) []Cell {
	parts := HealthCell(p.Below)
	message := verdict(p.Own.Reason, p.Own.Message)
	if p.Own.Status == health.Healthy {
		message = ""
	}
	if from := v.a.DerivedFrom(p.ID); len(from) > 0 {
		message = fmt.Sprintf("%s (%s)", p.Own.Message, v.kinds(from))
	}
	if c, ok := v.causes[p.ID]; ok && p.Own.Status == health.Missing && c.Edge.Relation != 0 {
		message = strings.TrimSpace(fmt.Sprintf("%s: %s", v.names.text(c.Of), c.Edge.Why()))
		if makers := v.makers(p.ID); makers != "" {
			message += "; " + makers + " creates it"
		}
	}
	return []Cell{HealthCell(p.Own.Status), parts, {v.since(p.Own.Since), Plain}, {message, Plain}}
}

// makers names who makes what is missing.
func (v *healthTree) makers(id graph.ID) string {
	var names []string
	for p := range v.s.Stack.Parts(id) {
		if name := v.names.text(p.To); p.Maker() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

func (v *healthTree) mark(b *graph.Branch, p health.Part) Cell {
	var words []string
	tone := Faint
	if _, ok := v.causes[b.ID]; ok {
		words, tone = append(words, "← cause"), Bad
	}
	if v.s.Stack.Shared(b.ID) {
		words = append(words, "⇄ shared")
	}
	if !p.Required && p.Own.Status != health.Healthy && p.Own.Status != "" {
		words = append(words, "(optional)")
	}
	if b.Repeated {
		words = append(words, "(see above)")
	}
	return Cell{strings.Join(words, " "), tone}
}

// events are the warnings about a cause; about what is missing they are those of who
// needs it.
func (v *healthTree) events(id graph.ID) []*TreeRow {
	var out []*TreeRow
	for _, e := range v.o.Events[v.g.Ref(id)] {
		name := "Warning " + e.Reason
		if e.Count > 1 {
			name = fmt.Sprintf("%s ×%d", name, e.Count)
		}
		out = append(out, &TreeRow{Name: Cell{name, Faint}, Cells: []Cell{{"event", Faint}, {}, {v.since(e.Last), Faint}, {e.Message, Faint}}})
	}
	return out
}

// kinds counts objects by kind: 2 Deployments, 1 Service.
func (v *healthView) kinds(ids []graph.ID) string {
	t := &tally{}
	for _, id := range ids {
		t.one(v.g.Ref(id))
	}
	return t.text()
}

// tally counts objects by kind.
type tally struct {
	kinds map[string]int
	// rank is how little is said by naming a kind: pods are what runs, and of what has no
	// state there is nothing to say.
	rank map[string]int
}

func (t *tally) one(r object.Ref) {
	if t.kinds == nil {
		t.kinds, t.rank = map[string]int{}, map[string]int{}
	}
	t.kinds[r.Kind]++
	switch {
	case r.Group == "" && r.Kind == "Pod":
		t.rank[r.Kind] = -1
	case health.Stateless(r.GroupKind()):
		t.rank[r.Kind] = 1
	}
}

// add counts the objects of a branch that have health, each object once.
func (v *healthTree) add(t *tally, b *graph.Branch) {
	if !b.Repeated && !v.printed[b.ID] {
		v.printed[b.ID] = true
		if v.a.OwnHealth(b.ID).Status != "" && !v.s.Stack.Boundary(b.ID) {
			t.one(v.g.Ref(b.ID))
		}
	}
	for _, c := range b.Children {
		v.add(t, c)
	}
}

// text names pods and the most frequent kinds, and counts the others.
func (t *tally) text() string {
	var kinds []string
	for k := range t.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(x, y string) int {
		return cmp.Or(cmp.Compare(t.rank[x], t.rank[y]), cmp.Compare(t.kinds[y], t.kinds[x]), strings.Compare(x, y))
	})
	const named = 2
	var out []string
	rest := 0
	for i, k := range kinds {
		if i < named {
			out = append(out, fmt.Sprintf("%d %s", t.kinds[k], plural(k, t.kinds[k])))
		} else {
			rest += t.kinds[k]
		}
	}
	if rest > 0 {
		out = append(out, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(out, ", ")
}

func (t *tally) line() *TreeRow {
	if len(t.kinds) == 0 {
		return nil
	}
	return &TreeRow{Name: Cell{t.text(), Faint}, Cells: []Cell{HealthCell(health.Healthy), {}, {}, {}}}
}

// plural is the plural of a kind in English, near enough: Ingresses, Policies.
func plural(kind string, n int) string {
	switch {
	case n == 1:
		return kind
	case strings.HasSuffix(kind, "s"), strings.HasSuffix(kind, "x"), strings.HasSuffix(kind, "ch"):
		return kind + "es"
	case strings.HasSuffix(kind, "y") && !strings.HasSuffix(kind, "ay") && !strings.HasSuffix(kind, "ey"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
