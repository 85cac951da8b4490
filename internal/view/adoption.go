package view

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// SystemChange is what makes a System known in a cluster, or takes that back.
type SystemChange struct {
	System, Namespace string
	// Action is adopt or release.
	Action string
	// Set is the ID of the ApplySet.
	Set string
	// DryRun says that nothing is written: client where the server is not asked either, server
	// where it admits everything and keeps nothing; else none.
	DryRun string
	Steps  []SystemStep
}

// SystemStep is what becomes of one object: create, update, delete, label, unlabel, left or
// none.
type SystemStep struct {
	Object object.Ref
	Change string
	Why    string
}

// SystemChangeDocument is what makes a System known in a cluster, or takes that back
// (docs/schema/system-change.json).
type SystemChangeDocument struct {
	Head      `json:",inline"`
	System    string               `json:"system"`
	Namespace string               `json:"namespace"`
	Action    string               `json:"action"`
	ApplySet  string               `json:"applySet"`
	DryRun    string               `json:"dryRun"`
	Changes   []SystemStepDocument `json:"changes"`
}

// SystemStepDocument is what becomes of one object.
type SystemStepDocument struct {
	ID     string `json:"id"`
	Change string `json:"change"`
	Reason string `json:"reason,omitempty"`
}

// SystemChanges returns the answer of system adopt and system release. Names are the objects
// that change.
func SystemChanges(c SystemChange) Output {
	doc := SystemChangeDocument{
		Head: Head{APIVersion, "SystemChange"}, System: c.System, Namespace: c.Namespace, Action: c.Action, ApplySet: c.Set, DryRun: c.DryRun,
	}
	tones := map[string]Tone{"none": Faint, "left": Warn, "delete": Bad, "unlabel": Warn}
	t := columns[SystemStep]{
		{Column: Column{Name: "CHANGE"}, cell: func(s SystemStep) Cell { return Cell{s.Change, tones[s.Change]} }},
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: leastName}, cell: text(func(s SystemStep) string { return s.Object.String() })},
		{Column: Column{Name: "WHY", DropOrder: 1, Truncate: End, MinWidth: leastWhy}, cell: faint(func(s SystemStep) string { return s.Why })},
	}.table(c.Steps)
	a := Output{Table: t, Wide: t}
	for _, s := range c.Steps {
		doc.Changes = append(doc.Changes, SystemStepDocument{ID: s.Object.String(), Change: s.Change, Reason: s.Why})
		if s.Change != "none" && s.Change != "left" {
			a.Names = append(a.Names, s.Object.String())
		}
	}
	a.Document = doc
	return a
}
