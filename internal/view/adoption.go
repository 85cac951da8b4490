package view

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// SystemChange is what makes a System an ApplySet in a cluster, or undoes that.
type SystemChange struct {
	System    string `json:"system"`
	Namespace string `json:"namespace"`
	// Action is adopt or release.
	Action string `json:"action"`
	// Set is the ID of the ApplySet.
	Set string `json:"applySet"`
	// DryRun says that nothing is written: client where no server is asked either, server where
	// the server admits everything and stores nothing; else none.
	DryRun string       `json:"dryRun"`
	Steps  []SystemStep `json:"changes"`
}

// SystemStep is what becomes of one object: create, update, delete, label, unlabel, left or
// none.
type SystemStep struct {
	Object object.Ref `json:"id"`
	Change string     `json:"change"`
	Why    string     `json:"reason,omitempty"`
}

// SystemChangeDocument is a change of a System (docs/schema/system-change.json).
type SystemChangeDocument struct {
	Head         `json:",inline"`
	SystemChange `json:",inline"`
}

// SystemChanges returns the answer of system adopt and system release. Names are the objects
// that change.
func SystemChanges(c SystemChange) Output {
	tones := map[string]Tone{"none": Faint, "left": Warn, "delete": Bad, "unlabel": Warn}
	t := ColumnsOf[SystemStep]{
		{Column: Column{Name: "CHANGE"}, Value: func(s SystemStep) Cell { return Cell{s.Change, tones[s.Change]} }},
		{Column: Column{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(s SystemStep) string { return s.Object.String() })},
		{Column: Column{Name: "WHY", DropOrder: 1, Truncate: End, MinWidth: LeastWhy}, Value: AsFaint(func(s SystemStep) string { return s.Why })},
	}.Table(c.Steps)
	a := Output{Table: t, Wide: t, Document: SystemChangeDocument{HeadOf("SystemChange"), c}}
	for _, s := range c.Steps {
		if s.Change != "none" && s.Change != "left" {
			a.Names = append(a.Names, s.Object.String())
		}
	}
	return a
}
