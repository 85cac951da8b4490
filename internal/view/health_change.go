package view

import (
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// HealthChange is a change of the health of an object or a stack.
type HealthChange struct {
	Time time.Time
	// Stack is the name of the stack; empty where it is about an object.
	Stack  string
	Object object.Ref
	// From is empty for what is new, To for what is gone.
	From, To health.Status
	Reason   string
	Message  string
}

// HealthChangeDocument is a HealthChange for machines (docs/schema/health-change.json).
type HealthChangeDocument struct {
	Head    `json:",inline"`
	Time    string `json:"time"`
	Stack   string `json:"stack,omitempty"`
	Object  string `json:"object,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Change returns the answer for one change: a line, or a document. home is the namespace
// of the user.
func Change(c HealthChange, home string) Output {
	doc := HealthChangeDocument{
		Head: headOf("HealthChange"), Time: moment(c.Time), Stack: c.Stack,
		From: string(c.From), To: string(c.To), Reason: c.Reason, Message: c.Message,
	}
	name := c.Stack
	if c.Stack == "" {
		doc.Object = c.Object.String()
		name = doc.Object
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
	return written(r, home, nil)
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
