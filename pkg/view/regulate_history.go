package view

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// RegulationHistory shows what was done, the oldest first.
func RegulationHistory(records []regulate.Record, o RegulationOptions) Answer {
	d := RegulationHistoryDocument{Head: Head{APIVersion, "RegulationHistory"}, System: o.System, Namespace: o.Namespace, Records: []RecordDocument{}}
	a := Answer{Table: recordTable(records, time.RFC3339)}
	for i := range records {
		d.Records = append(d.Records, recordDocument(&records[i]))
	}
	a.Document = d
	return a
}

// RegulationDone shows what was done just now, and what could not be.
func RegulationDone(out *regulate.Outcome, o RegulationOptions) Answer {
	d := RegulationDoneDocument{Head: Head{APIVersion, "RegulationDone"}, System: o.System, Namespace: o.Namespace, Done: []RecordDocument{}, Failed: []RecordDocument{}}
	for i := range out.Done {
		d.Done = append(d.Done, recordDocument(&out.Done[i]))
	}
	for i := range out.Failed {
		d.Failed = append(d.Failed, recordDocument(&out.Failed[i]))
	}
	table := recordTable(append(append([]regulate.Record(nil), out.Done...), out.Failed...), time.TimeOnly)
	return Answer{Table: table, Document: d}
}

func recordTable(records []regulate.Record, layout string) *Table {
	t := &Table{Columns: []Column{
		{Name: "TIME", Drop: 3},
		{Name: "SIGNAL"},
		{Name: "APP"},
		{Name: "TARGET", Cut: Middle, Least: leastName, Drop: 2},
		{Name: "RESULT", Cut: End, Least: 16},
		{Name: "WHY", Cut: End, Least: leastWhy, Drop: 1},
	}}
	for i := range records {
		r := &records[i]
		result := Cell{Text: r.Result}
		if r.Error {
			result.Tone = Bad
		}
		t.Rows = append(t.Rows, []Cell{{r.At.UTC().Format(layout), Faint}, {Text: r.Signal}, {Text: r.App}, {Text: r.Target}, result, {r.Why, Faint}})
	}
	return t
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
	System    string           `json:"system"`
	Namespace string           `json:"namespace"`
	Done      []RecordDocument `json:"done"`
	Failed    []RecordDocument `json:"failed"`
}

// RecordDocument is one thing that was done.
type RecordDocument struct {
	At     string `json:"at"`
	Hold   int    `json:"hold,omitempty"`
	App    string `json:"app"`
	Signal string `json:"signal"`
	Target string `json:"target,omitempty"`
	Action string `json:"action,omitempty"`
	Why    string `json:"why,omitempty"`
	Result string `json:"result"`
	Error  bool   `json:"error,omitempty"`
}

func recordDocument(r *regulate.Record) RecordDocument {
	return RecordDocument{At: moment(r.At), Hold: r.Hold, App: r.App, Signal: r.Signal, Target: r.Target, Action: r.Action, Why: r.Why, Result: r.Result, Error: r.Error}
}
