package view

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// table has a row for each cause of each stack, and one for a stack without any.
func (v *healthView) table(wide bool) *Table {
	t := &Table{Columns: []Column{
		{Name: "STACK", Truncate: Middle, MinWidth: leastName},
		{Name: "HEALTH"},
		{Name: "CAUSE", Truncate: Middle, MinWidth: leastName},
		{Name: "SINCE", DropOrder: 2, Right: true},
		{Name: "MESSAGE", DropOrder: 1, Truncate: End, MinWidth: leastWhy},
	}}
	if wide {
		t.Columns = []Column{{Name: "STACK"}, {Name: "HEALTH"}, {Name: "CAUSE"}, {Name: "STATUS"}, {Name: "SINCE", Right: true}, {Name: "DEPTH", Right: true}, {Name: "OF"}, {Name: "WHY"}, {Name: "MESSAGE"}, {Name: "LAST WARNING"}}
	}
	for i := range v.stacks {
		s := &v.stacks[i]
		w := &healthTree{healthView: v, s: s}
		title, status := Cell{Text: w.title()}, HealthCell(s.Health.Status)
		if len(s.Health.Causes) == 0 {
			row := []Cell{title, status}
			for len(row) < len(t.Columns) {
				row = append(row, Cell{})
			}
			t.Rows = append(t.Rows, row)
		}
		for _, c := range s.Health.Causes {
			name, since, message := Cell{Text: v.names.text(c.ID)}, Cell{Text: v.since(c.Health.Since)}, Cell{Text: verdict(c.Health.Reason, c.Health.Message)}
			if !wide {
				t.Rows = append(t.Rows, []Cell{title, status, name, since, message})
				continue
			}
			message.Text = withRuleError(message.Text, c.Health)
			of, why := "", ""
			if !c.Root {
				of, why = v.names.text(c.Of), c.Edge.Why()
			}
			t.Rows = append(t.Rows, []Cell{title, status, name, HealthCell(c.Health.Status), since, {Text: strconv.Itoa(c.Depth)}, {Text: of}, {Text: why}, message, {Text: v.last(c.ID)}})
		}
	}
	return t
}

// withRuleError adds to a message that the rule of the kind could not be evaluated.
func withRuleError(message string, h health.Health) string {
	switch {
	case h.RuleError == nil:
		return message
	case message == "":
		return h.RuleError.Error()
	}
	return message + "; " + h.RuleError.Error()
}

func (v *healthView) last(id graph.ID) string {
	for _, e := range v.o.Events[v.g.Ref(id)] {
		return fmt.Sprintf("%s ×%d: %s", e.Reason, max(e.Count, 1), e.Message)
	}
	return ""
}

// list has a row for every object, in order.
func (v *healthView) list(wide bool) *Table {
	t := &Table{Columns: []Column{{Name: "OBJECT", Truncate: Middle, MinWidth: leastName}, {Name: "HEALTH"}, {Name: "SINCE", DropOrder: 2, Right: true}, {Name: "MESSAGE", DropOrder: 1, Truncate: End, MinWidth: leastWhy}}}
	if wide {
		t.Columns = []Column{{Name: "OBJECT"}, {Name: "HEALTH"}, {Name: "SINCE", Right: true}, {Name: "REASON"}, {Name: "EVALUATED BY"}, {Name: "DERIVED FROM"}, {Name: "MESSAGE"}}
	}
	for _, id := range v.ids {
		h := v.a.OwnHealth(id)
		name, since := Cell{Text: v.names.text(id)}, Cell{Text: v.since(h.Since)}
		if !wide {
			t.Rows = append(t.Rows, []Cell{name, HealthCell(h.Status), since, {Text: verdict(h.Reason, h.Message)}})
			continue
		}
		t.Rows = append(t.Rows, []Cell{name, HealthCell(h.Status), since, {Text: h.Reason}, {Text: h.Stage}, {Text: v.kinds(v.a.DerivedFrom(id))}, {Text: withRuleError(h.Message, h)}})
	}
	return t
}

// byStatus lists every object that is not healthy under its status, the worst first, and
// counts the healthy ones.
func (v *healthView) byStatus() *Tree {
	t := &Tree{Columns: []Column{{Name: "OBJECT", Truncate: Middle, MinWidth: leastName}, {Name: "SINCE", DropOrder: 1, Right: true}, {Name: "MESSAGE", OwnLine: true}}}
	for _, status := range slices.Backward(health.Statuses()) {
		head := &TreeRow{Name: HealthCell(status), Cells: make([]Cell, 2)}
		healthy, n := &tally{}, 0
		for _, id := range v.ids {
			h := v.a.OwnHealth(id)
			if h.Status != status {
				continue
			}
			n++
			if status == health.Healthy {
				healthy.one(v.g.Ref(id))
				continue
			}
			head.Children = append(head.Children, &TreeRow{Name: Cell{Text: v.names.text(id)}, Cells: []Cell{{Text: v.since(h.Since)}, {Text: verdict(h.Reason, h.Message)}}})
		}
		if n == 0 {
			continue
		}
		head.Name.Text += fmt.Sprintf(": %d", n)
		head.Cells[1].Text = healthy.text()
		t.Roots = append(t.Roots, head)
	}
	return t
}
