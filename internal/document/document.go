// Package document has what the documents of commands and the state of the page have in common:
// the head, exact numbers, windows of time, and notes on figures.
package document

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// APIVersion is that of every document but Preflight.
const APIVersion = "sysop.dev/v1alpha1"

// Head is the type of a document.
type Head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Number is an exact decimal. In JSON it is a number.
type Number = json.Number

// NumberOf is a decimal as documents have it.
func NumberOf(d decimal.Decimal) Number { return Number(d.String()) }

// Window is a window of time: after From, and up to To.
type Window struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Hours Number `json:"hours"`
}

// WindowOf is the window of a report; zero for an instant.
func WindowOf(r *metrics.UsageReport) Window {
	if r.Instant() {
		return Window{}
	}
	return Window{r.From.UTC().Format(time.RFC3339), r.To.UTC().Format(time.RFC3339), NumberOf(r.Hours)}
}

// Note is something to know about the figures.
type Note struct {
	Source  string `json:"source,omitempty"`
	About   string `json:"about,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Partial says that figures are less than the truth because of it.
	Partial bool `json:"partial,omitempty"`
}

// NotesOf are the notes of a report. A snapshot stores them with other names.
func NotesOf(r *metrics.UsageReport) []Note {
	var out []Note
	for _, n := range r.Notes {
		out = append(out, Note{n.Source, n.Subject, n.Reason, n.Message, n.LowersFigures})
	}
	return out
}
