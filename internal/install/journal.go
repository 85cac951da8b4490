package install

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Phase is how far a step is.
type Phase string

// How far a step is. Begun is written before anything of the step is done.
const (
	Started Phase = "begun"
	Done    Phase = "done"
	Undone  Phase = "undone"
	// NotUndone was not undone, for the reason that Note gives.
	NotUndone Phase = "left"
)

// Journal is what is kept of an installation: the run that is not ended, and those that are.
type Journal struct {
	Installation Installation `json:"installation"`
	// Run is not ended: its process continues, or was killed.
	Run *Run `json:"run,omitempty"`
	// Runs are the runs that ended, the latest last; the last ten.
	Runs []RunRecord `json:"past,omitempty"`
	// Manifest is the text of the System as it was installed last.
	Manifest string `json:"manifest,omitempty"`

	journal.Revision `json:"-"`
}

// Run is what was started.
type Run struct {
	ID     string `json:"id"`
	Action Action `json:"action"`
	// Undoing says that it is being undone: that continues, whatever is wanted now.
	Undoing bool `json:"undoing,omitempty"`
	// Committed says that all of it is done: nothing is undone any more, only what was kept
	// for undoing is cleared away.
	Committed   bool   `json:"committed,omitempty"`
	Why         string `json:"why,omitempty"`
	Fingerprint string `json:"fingerprint"`
	// To is the revision of the history that a rollback goes back to; 0 for none.
	To      int         `json:"to,omitempty"`
	By      string      `json:"by"`
	Started time.Time   `json:"started"`
	Steps   []StepState `json:"steps"`
	// Writers are names of the programs that the run brings: what they write into a namespace
	// that the run made is not somebody else's.
	Writers []string `json:"writers,omitempty"`
	// Needs are what the parts need once it is done.
	Needs []Need `json:"needs,omitempty"`
}

// StepState is what undoing a step takes, without what it was made from.
type StepState struct {
	ID        string   `json:"id"`
	Kind      StepKind `json:"kind"`
	Part      string   `json:"part,omitempty"`
	Release   string   `json:"release,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Was       int      `json:"was,omitempty"`
	// Removed says that there was no release before the step but records of one.
	Removed bool   `json:"removed,omitempty"`
	Phase   Phase  `json:"phase"`
	Note    string `json:"note,omitempty"`
	// Irreversible says what undoing cannot bring back.
	Irreversible string `json:"irreversible,omitempty"`
	// Revision is the one that the step made, known when it is Done.
	Revision int           `json:"revision,omitempty"`
	Made     []object.Ref  `json:"made,omitempty"`    // objects that were not there before
	Changed  []BeforeImage `json:"changed,omitempty"` // objects that were
	// Claims are the UIDs of claims that were there before, and that StatefulSets of the step
	// would have deleted: undoing leaves them.
	Claims []string `json:"claims,omitempty"`
}

// BeforeImage says where an object that was changed is kept as it was.
type BeforeImage = journal.BeforeImage

// RunRecord is a run that ended.
type RunRecord struct {
	Revision int       `json:"revision"`
	ID       string    `json:"id"`
	Action   Action    `json:"action"`
	By       string    `json:"by"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	// Result is "done", "undone" or "left" (something could not be undone).
	Result string `json:"result"`
	Why    string `json:"why,omitempty"`
	// To is the revision that a rollback went back to; 0 for none, or for one of an older version.
	To int `json:"to,omitempty"`
	// Lost says what data the run deleted, or which claims a run that was undone left, a line each.
	Lost   []string `json:"lost,omitempty"`
	Stayed []string `json:"stayed,omitempty"`
	// Left says what was not undone, and why, a line each.
	Left []string `json:"left,omitempty"`
	// Releases are the releases as they were when it ended.
	Releases []ReleaseState `json:"releases,omitempty"`
	// Needs are what its parts needed when it ended.
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
