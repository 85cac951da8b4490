package install

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Phase is the progress of a step.
type Phase string

// The phases of a step. Started is written before the step changes anything.
const (
	Started Phase = "begun"
	Done    Phase = "done"
	Undone  Phase = "undone"
	// NotUndone means that the step could not be undone, for the reason in Note.
	NotUndone Phase = "left"
)

// Journal is the record of an installation: the open run, and the runs that ended.
type Journal struct {
	Installation Installation `json:"installation"`
	// Run has not ended: its process is alive, or was killed.
	Run *Run `json:"run,omitempty"`
	// Runs are the last ten runs that ended, the latest last.
	Runs []RunRecord `json:"past,omitempty"`
	// Manifest is the text of the System as it was installed last.
	Manifest string `json:"manifest,omitempty"`

	journal.Revision `json:"-"`
}

// Run is a run that was started.
type Run struct {
	ID     string `json:"id"`
	Action Action `json:"action"`
	// Undoing means that the run is being undone, which continues whatever a new command wants.
	Undoing bool `json:"undoing,omitempty"`
	// Committed means that all steps are done: the run is not undone any more, only its
	// before-images are deleted.
	Committed bool `json:"committed,omitempty"`
	// Manifest is the text of the System that a committed run installed: another command may close it.
	Manifest    string `json:"manifest,omitempty"`
	Why         string `json:"why,omitempty"`
	Fingerprint string `json:"fingerprint"`
	// To is the revision of the history that a rollback returns to; 0 for none.
	To      int       `json:"to,omitempty"`
	By      string    `json:"by"`
	Started time.Time `json:"started"`
	// Stamp is the time in names of what is installed; zero for none.
	Stamp time.Time `json:"stamp,omitzero"`
	// Unstamped is the digest of what is installed without the Stamp; empty for none.
	Unstamped string      `json:"unstamped,omitempty"`
	Steps     []StepState `json:"steps"`
	// Writers are names of the programs that the run installs: what they write into a namespace of
	// the run is not foreign.
	Writers []string `json:"writers,omitempty"`
	// Needs are the needs of the parts after the run.
	Needs []Need `json:"needs,omitempty"`
}

// StepState is what undoing a step requires.
type StepState struct {
	ID        string   `json:"id"`
	Kind      StepKind `json:"kind"`
	Part      string   `json:"part,omitempty"`
	Release   string   `json:"release,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Was       int      `json:"was,omitempty"`
	// Removed means that only records of the release existed before the step.
	Removed bool   `json:"removed,omitempty"`
	Phase   Phase  `json:"phase"`
	Note    string `json:"note,omitempty"`
	// Irreversible is what undo cannot restore.
	Irreversible string `json:"irreversible,omitempty"`
	// Revision is the one that the step created, set when it is Done.
	Revision int           `json:"revision,omitempty"`
	Made     []object.Ref  `json:"made,omitempty"`    // objects that did not exist before
	Changed  []BeforeImage `json:"changed,omitempty"` // objects that did
	// Claims are the UIDs of claims that existed before, and that StatefulSets of the step would
	// have deleted: undo keeps them.
	Claims []string `json:"claims,omitempty"`
}

// BeforeImage locates the before-image of a changed object.
type BeforeImage = journal.BeforeImage

// RunRecord is a run that ended.
type RunRecord struct {
	Revision int       `json:"revision"`
	ID       string    `json:"id"`
	Action   Action    `json:"action"`
	By       string    `json:"by"`
	Started  time.Time `json:"started"`
	Stamp    time.Time `json:"stamp,omitzero"`
	Ended    time.Time `json:"ended"`
	// Result is "done", "undone" or "left" (something could not be undone).
	Result string `json:"result"`
	Why    string `json:"why,omitempty"`
	// To is the revision that a rollback returned to; 0 for none, and for runs of older versions.
	To int `json:"to,omitempty"`
	// Lost lists the data that the run deleted, or the claims that an undone run left, a line each.
	Lost   []string `json:"lost,omitempty"`
	Stayed []string `json:"stayed,omitempty"`
	// Left lists what was not undone, and why, a line each.
	Left []string `json:"left,omitempty"`
	// Releases are the releases at the end of the run.
	Releases []ReleaseState `json:"releases,omitempty"`
	// Needs are the needs of its parts at the end of the run.
	Needs []Need `json:"needs,omitempty"`
}

// ReleaseState is a release at a revision.
type ReleaseState struct {
	Part      string `json:"part"`
	App       bool   `json:"app,omitempty"`
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
	Version   string `json:"version"`
	Revision  int    `json:"revision"`
}
