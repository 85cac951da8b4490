package view

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// causeRow is a stack with one of its causes; nil for a stack without any.
type causeRow struct {
	s *HealthStack
	c *health.Cause
}

// causes has a row for each cause of each stack, and one for a stack without any.
func (v *healthView) causes() []causeRow {
	var rows []causeRow
	for i := range v.stacks {
		s := &v.stacks[i]
		if len(s.Health.Causes) == 0 {
			rows = append(rows, causeRow{s, nil})
		}
		for j := range s.Health.Causes {
			rows = append(rows, causeRow{s, &s.Health.Causes[j]})
		}
	}
	return rows
}

func (v *healthView) causeColumns() ColumnsOf[causeRow] {
	cause := func(cell func(*health.Cause) Cell) func(causeRow) Cell {
		return func(r causeRow) Cell {
			if r.c == nil {
				return Cell{}
			}
			return cell(r.c)
		}
	}
	return ColumnsOf[causeRow]{
		{Column: Column{Name: "STACK", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r causeRow) string { return Written(r.s.Name, v.o.Namespace, nil) })},
		{Column: Column{Name: "HEALTH"}, Value: func(r causeRow) Cell { return HealthCell(r.s.Health.Status) }},
		{Column: Column{Name: "CAUSE", Truncate: Middle, MinWidth: LeastName}, Value: cause(AsText(func(c *health.Cause) string { return v.names.text(c.ID) }))},
		{Column: Column{Name: "STATUS"}, in: wideOnly, Value: cause(func(c *health.Cause) Cell { return HealthCell(c.Health.Status) })},
		{Column: Column{Name: "SINCE", DropOrder: 2, Right: true}, Value: cause(AsText(func(c *health.Cause) string { return v.since(c.Health.Since) }))},
		{Column: Column{Name: "DEPTH", Right: true}, in: wideOnly, Value: cause(AsText(func(c *health.Cause) string { return strconv.Itoa(c.Depth) }))},
		{Column: Column{Name: "OF"}, in: wideOnly, Value: cause(AsText(func(c *health.Cause) string {
			if c.Root {
				return ""
			}
			return v.names.text(c.Of)
		}))},
		{Column: Column{Name: "WHY"}, in: wideOnly, Value: cause(AsText(func(c *health.Cause) string {
			if c.Root {
				return ""
			}
			return c.Edge.Why()
		}))},
		{Column: Column{Name: "MESSAGE", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}, in: tableOnly, Value: cause(AsText(func(c *health.Cause) string { return verdict(c.Health.Reason, c.Health.Message) }))},
		{Column: Column{Name: "MESSAGE"}, in: wideOnly, Value: cause(AsText(func(c *health.Cause) string {
			return withRuleError(verdict(c.Health.Reason, c.Health.Message), c.Health)
		}))},
		{Column: Column{Name: "LAST WARNING"}, in: wideOnly, Value: cause(AsText(func(c *health.Cause) string { return v.lastWarning(c.ID) }))},
	}
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

func (v *healthView) lastWarning(id graph.ID) string {
	for _, e := range v.o.Events[v.g.Ref(id)] {
		return fmt.Sprintf("%s ×%d: %s", e.Reason, max(e.Count, 1), e.Message)
	}
	return ""
}

// objectColumns are those of a row for every object.
func (v *healthView) objectColumns() ColumnsOf[graph.ID] {
	own := func(value func(health.Health) string) func(graph.ID) Cell {
		return AsText(func(id graph.ID) string { return value(v.a.OwnHealth(id)) })
	}
	return ColumnsOf[graph.ID]{
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(v.names.text)},
		{Column: Column{Name: "HEALTH"}, Value: func(id graph.ID) Cell { return HealthCell(v.a.OwnHealth(id).Status) }},
		{Column: Column{Name: "SINCE", DropOrder: 2, Right: true}, Value: own(func(h health.Health) string { return v.since(h.Since) })},
		{Column: Column{Name: "REASON"}, in: wideOnly, Value: own(func(h health.Health) string { return h.Reason })},
		{Column: Column{Name: "EVALUATED BY"}, in: wideOnly, Value: own(func(h health.Health) string { return h.Stage })},
		{Column: Column{Name: "DERIVED FROM"}, in: wideOnly, Value: AsText(func(id graph.ID) string { return v.kinds(v.a.DerivedFrom(id)) })},
		{Column: Column{Name: "MESSAGE", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}, in: tableOnly, Value: own(func(h health.Health) string { return verdict(h.Reason, h.Message) })},
		{Column: Column{Name: "MESSAGE"}, in: wideOnly, Value: own(func(h health.Health) string { return withRuleError(h.Message, h) })},
	}
}

// byStatus lists every object that is not healthy under its status, the worst first, and
// counts the healthy ones.
func (v *healthView) byStatus() *Tree {
	t := &Tree{Columns: []Column{{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, {Name: "SINCE", DropOrder: 1, Right: true}, {Name: "MESSAGE", OwnLine: true}}}
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
