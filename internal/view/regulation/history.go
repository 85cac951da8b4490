package regulation

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// History shows what was done, the oldest first.
func History(records []regulate.Record, o Options) view.Output {
	d := HistoryDocument{Head: view.HeadOf("RegulationHistory"), System: o.System, Namespace: o.Namespace}
	a := view.Output{Table: recordTable(records, time.RFC3339)}
	for i := range records {
		d.Records = append(d.Records, recordDocument(&records[i]))
	}
	a.Document = d
	return a
}

// Done shows what was done just now, what could not be, and what of the plan
// waits or was refused; r is the health of what was recovered, and may be nil.
func Done(out *regulate.Outcome, p *regulate.Plan, r *restored.Report, o Options) view.Output {
	d := DoneDocument{
		Head: view.HeadOf("RegulationDone"), System: o.System, Namespace: o.Namespace,
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
		table.Rows = append(table.Rows, []view.Cell{{}, {Text: stepWord(w.Verb, w.Signal)}, {Text: w.App}, {}, {Text: "not before " + soon(p.At, w.Until), Tone: view.Warn}, {Text: w.Why, Tone: view.Faint}})
	}
	for _, r := range p.Refused {
		table.Rows = append(table.Rows, []view.Cell{{}, {Text: r.Signal}, {Text: r.App}, {}, {Text: "refused: " + r.Reason, Tone: view.Bad}, {Text: r.Message, Tone: view.Faint}})
	}
	return view.Output{Table: table, Document: d}
}

func recordTable(records []regulate.Record, layout string) *view.Table {
	return view.ColumnsOf[regulate.Record]{
		{Column: view.Column{Name: "TIME", DropOrder: 3}, Value: view.AsFaint(func(r regulate.Record) string { return r.At.UTC().Format(layout) })},
		{Column: view.Column{Name: "SIGNAL"}, Value: view.AsText(func(r regulate.Record) string { return r.Signal })},
		{Column: view.Column{Name: "APP"}, Value: view.AsText(func(r regulate.Record) string { return r.App })},
		{Column: view.Column{Name: "TARGET", Truncate: view.Middle, MinWidth: view.LeastName, DropOrder: 2}, Value: view.AsText(func(r regulate.Record) string { return r.Target })},
		{Column: view.Column{Name: "RESULT", Truncate: view.End, MinWidth: 16}, Value: func(r regulate.Record) view.Cell {
			if r.Error {
				return view.Cell{Text: r.Result, Tone: view.Bad}
			}
			return view.Cell{Text: r.Result}
		}},
		{Column: view.Column{Name: "WHY", Truncate: view.End, MinWidth: view.LeastWhy, DropOrder: 1}, Value: view.AsFaint(func(r regulate.Record) string { return r.Why })},
	}.Table(records)
}

// HistoryDocument is what was done, for machines
// (docs/schema/regulate-history.json).
type HistoryDocument struct {
	view.Head `json:",inline"`
	System    string           `json:"system"`
	Namespace string           `json:"namespace"`
	Records   []RecordDocument `json:"records"`
}

// DoneDocument is what was done just now, for machines
// (docs/schema/regulate-done.json).
type DoneDocument struct {
	view.Head `json:",inline"`
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
	return RecordDocument{At: view.Moment(r.At), Hold: r.Hold, App: r.App, Signal: r.Signal, Target: r.Target, Action: r.Action, Reason: r.Why, Result: r.Result, Error: r.Error}
}

// Run is a command that was run while neighbours were held.
type Run struct {
	App      string
	Command  []string
	ExitCode int
	// Left says why the neighbours are left held; empty where they are not.
	Left        string
	Held, Freed *regulate.Outcome // nil for none
	// Restored is the health of those that were recovered; nil for none.
	Restored *restored.Report
}

// Ran is the document of a run; there is no other shape of it.
func Ran(r Run, o Options) view.Output {
	d := RunDocument{
		Head: view.HeadOf("RegulationRun"), System: o.System, Namespace: o.Namespace,
		App: r.App, Command: r.Command, ExitCode: r.ExitCode, StillHeld: r.Left, Held: recordDocuments(r.Held), Recovered: recordDocuments(r.Freed), Restored: r.Restored,
	}
	return view.Output{Document: d}
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

// RunDocument is a run, for machines (docs/schema/regulate-run.json).
type RunDocument struct {
	view.Head `json:",inline"`
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
