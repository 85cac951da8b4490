package view

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// RegulationHistory shows what was done, the oldest first.
func RegulationHistory(records []regulate.Record, o RegulationOptions) Output {
	d := RegulationHistoryDocument{Head: HeadOf("RegulationHistory"), System: o.System, Namespace: o.Namespace}
	a := Output{Table: recordTable(records, time.RFC3339)}
	for i := range records {
		d.Records = append(d.Records, recordDocument(&records[i]))
	}
	a.Document = d
	return a
}

// RegulationDone shows what was done just now, what could not be, and what of the plan
// waits or was refused; r is the health of what was recovered, and may be nil.
func RegulationDone(out *regulate.Outcome, p *regulate.Plan, r *restored.Report, o RegulationOptions) Output {
	d := RegulationDoneDocument{
		Head: HeadOf("RegulationDone"), System: o.System, Namespace: o.Namespace,
		Pending: p.Pending, Refused: p.Refused, Restored: r,
	}
	for i := range out.Done {
		d.Done = append(d.Done, recordDocument(&out.Done[i]))
	}
	for i := range out.Failed {
		d.Failed = append(d.Failed, recordDocument(&out.Failed[i]))
	}
	table := recordTable(append(append([]regulate.Record(nil), out.Done...), out.Failed...), time.TimeOnly)
	for _, w := range p.Pending {
		table.Rows = append(table.Rows, []Cell{{}, {Text: stepWord(w.Verb, w.Signal)}, {Text: w.App}, {}, {"not before " + soon(p.At, w.Until), Warn}, {w.Why, Faint}})
	}
	for _, r := range p.Refused {
		table.Rows = append(table.Rows, []Cell{{}, {Text: r.Signal}, {Text: r.App}, {}, {"refused: " + r.Reason, Bad}, {r.Message, Faint}})
	}
	return Output{Table: table, Document: d}
}

func recordTable(records []regulate.Record, layout string) *Table {
	return ColumnsOf[regulate.Record]{
		{Column: Column{Name: "TIME", DropOrder: 3}, Value: AsFaint(func(r regulate.Record) string { return r.At.UTC().Format(layout) })},
		{Column: Column{Name: "SIGNAL"}, Value: AsText(func(r regulate.Record) string { return r.Signal })},
		{Column: Column{Name: "APP"}, Value: AsText(func(r regulate.Record) string { return r.App })},
		{Column: Column{Name: "TARGET", Truncate: Middle, MinWidth: LeastName, DropOrder: 2}, Value: AsText(func(r regulate.Record) string { return r.Target })},
		{Column: Column{Name: "RESULT", Truncate: End, MinWidth: 16}, Value: func(r regulate.Record) Cell {
			if r.Error {
				return Cell{r.Result, Bad}
			}
			return Cell{Text: r.Result}
		}},
		{Column: Column{Name: "WHY", Truncate: End, MinWidth: LeastWhy, DropOrder: 1}, Value: AsFaint(func(r regulate.Record) string { return r.Why })},
	}.Table(records)
}

// RegulationHistoryDocument is what was done, for machines
// (docs/schema/regulate-history.json).
type RegulationHistoryDocument struct {
	Head      `json:",inline"`
	System    string           `json:"system"`
	Namespace string           `json:"namespace"`
	Records   []RecordDocument `json:"records"`
}

// RegulationDoneDocument is what was done just now, for machines
// (docs/schema/regulate-done.json).
type RegulationDoneDocument struct {
	Head      `json:",inline"`
	System    string             `json:"system"`
	Namespace string             `json:"namespace"`
	Done      []RecordDocument   `json:"done"`
	Failed    []RecordDocument   `json:"failed"`
	Pending   []regulate.Wait    `json:"pending"`
	Refused   []regulate.Refusal `json:"refused"`
	// Restored is the health of the recovered apps; absent where there are none.
	Restored *restored.Report `json:"restored,omitempty"`
}

// RecordDocument is one thing that was done. A journal stores it with other names.
type RecordDocument struct {
	At     string `json:"at"`
	Hold   int    `json:"hold,omitempty"`
	App    string `json:"app"`
	Signal string `json:"signal"`
	Target string `json:"target,omitempty"`
	Action string `json:"action,omitempty"`
	Reason string `json:"reason,omitempty"`
	Result string `json:"result"`
	Error  bool   `json:"error,omitempty"`
}

func recordDocument(r *regulate.Record) RecordDocument {
	return RecordDocument{At: Moment(r.At), Hold: r.Hold, App: r.App, Signal: r.Signal, Target: r.Target, Action: r.Action, Reason: r.Why, Result: r.Result, Error: r.Error}
}

// RegulationRun is a command that was run while neighbours were held.
type RegulationRun struct {
	App      string
	Command  []string
	ExitCode int
	// Left says why the neighbours are left held; empty where they are not.
	Left        string
	Held, Freed *regulate.Outcome // nil for none
	// Restored is the health of those that were recovered; nil for none.
	Restored *restored.Report
}

// RegulationRan is the document of a run; there is no other shape of it.
func RegulationRan(r RegulationRun, o RegulationOptions) Output {
	d := RegulationRunDocument{
		Head: HeadOf("RegulationRun"), System: o.System, Namespace: o.Namespace,
		App: r.App, Command: r.Command, ExitCode: r.ExitCode, StillHeld: r.Left, Held: recordDocuments(r.Held), Recovered: recordDocuments(r.Freed), Restored: r.Restored,
	}
	return Output{Document: d}
}

// recordDocuments are all records of an outcome.
func recordDocuments(out *regulate.Outcome) []RecordDocument {
	var docs []RecordDocument
	if out == nil {
		return docs
	}
	for _, records := range [][]regulate.Record{out.Done, out.Failed} {
		for i := range records {
			docs = append(docs, recordDocument(&records[i]))
		}
	}
	return docs
}

// RegulationRunDocument is a run, for machines (docs/schema/regulate-run.json).
type RegulationRunDocument struct {
	Head      `json:",inline"`
	System    string   `json:"system"`
	Namespace string   `json:"namespace"`
	App       string   `json:"app"`
	Command   []string `json:"command"`
	ExitCode  int      `json:"exitCode"`
	// StillHeld says why the neighbours stay held; absent where they do not.
	StillHeld string           `json:"stillHeld,omitempty"`
	Held      []RecordDocument `json:"held"`
	Recovered []RecordDocument `json:"recovered"`
	// Restored is the health of those that were recovered; absent where there are none.
	Restored *restored.Report `json:"restored,omitempty"`
}
