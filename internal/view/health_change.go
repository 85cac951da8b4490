package view

import (
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// HealthChange is a change of the health of an object or a stack.
type HealthChange struct {
	Time time.Time `json:"time"`
	// Stack is the name of the stack; empty where it is about an object.
	Stack string `json:"stack,omitempty"`
	// Object is that, or what the stack is called.
	Object object.Ref `json:"object,omitzero"`
	// From is empty for what is new, To for what is gone.
	From    health.Status `json:"from,omitempty"`
	To      health.Status `json:"to,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Message string        `json:"message,omitempty"`
}

// HealthChangeDocument is a HealthChange for machines (docs/schema/health-change.json).
type HealthChangeDocument struct {
	Head         `json:",inline"`
	HealthChange `json:",inline"`
}

// Change returns the answer for one change: a line, or a document. home is the namespace
// of the user.
func Change(c HealthChange, home string) Output {
	doc := HealthChangeDocument{HeadOf("HealthChange"), c}
	name := c.Object.String()
	if c.Stack != "" {
		name, doc.Object = c.Stack, object.Ref{}
	}
	to := HealthCell(c.To)
	if c.To == "" {
		to = Cell{"gone", Faint}
	}
	line := &TreeRow{Name: Cell{Text: c.Time.Format(time.TimeOnly)}, Cells: []Cell{to, {c.name(home), Plain}, {c.text(), Plain}}}
	columns := make([]Column, 4)
	row := append([]Cell{line.Name}, line.Cells...)
	table := &Table{Columns: columns, Rows: [][]Cell{row}}
	return Output{Document: doc, Tree: &Tree{Columns: columns, Roots: []*TreeRow{line}}, Table: table, Wide: table, Names: []string{name}}
}

// name is what changed, with its namespace where that is not the user's.
func (c HealthChange) name(home string) string {
	r := c.Object
	if c.Stack != "" {
		r.Kind = "stack " + r.Kind
	}
	return Written(r, home, nil)
}

func (c HealthChange) text() string {
	if c.To == health.Healthy {
		return ""
	}
	return verdict(c.Reason, c.Message)
}

// Line is the change in one line of text.
func (c HealthChange) Line(home string) string {
	to := HealthCell(c.To).Text
	if c.To == "" {
		to = "gone"
	}
	return strings.TrimSpace(strings.Join([]string{c.Time.Format(time.TimeOnly), to, c.name(home), c.text()}, "  "))
}
