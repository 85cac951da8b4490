package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/postrenderer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Store keeps the journal of an installation, and objects as they were.
type Store interface {
	// Load returns the journal, one without runs where there is none. One that cannot be read
	// is an error, and is left as it is.
	Load(ctx context.Context) (*Journal, error)
	// Save writes it, if nobody else has since it was loaded: else there is a
	// *journal.ConflictError.
	Save(ctx context.Context, j *Journal) error
	// Remove deletes it.
	Remove(ctx context.Context, j *Journal) error
	// SaveBefore keeps an object as it is now; the same run and object are kept in the same place.
	SaveBefore(ctx context.Context, run string, o *unstructured.Unstructured) (BeforeImage, error)
	// LoadBefore returns what was kept.
	LoadBefore(ctx context.Context, b BeforeImage) (*unstructured.Unstructured, error)
	// Drop forgets what a run kept, also what its journal does not say.
	Drop(ctx context.Context, run string, images []BeforeImage) error
}

// Runner does what was planned, or undoes it.
type Runner struct {
	Engine    Engine
	Objects   Objects
	Discovery Discovery
	Store     Store
	// Lock returns the lock of the installation; waiting is called with who holds it.
	Lock func(waiting func(holder string, since time.Time)) (journal.Lock, error)
	// Gate waits until objects are Healthy, or says why they are not.
	Gate func(ctx context.Context, objects []object.Ref, timeout time.Duration) error
	// Resolve waits for the value of a connection.
	Resolve func(ctx context.Context, c Connection) (any, error)
	// Hold holds who needs a part while its release is changed, and returns what lets them go
	// again: that is done when the part is there, or when all is undone. It may be nil.
	Hold func(ctx context.Context, p *Part) (letGo func(context.Context) error, err error)
	// Restorable says why a definition cannot get its former content back; nil that it can.
	// Where it is nil, the API server alone decides.
	Restorable func(current, was *unstructured.Unstructured) error
	// Progress receives what happens; it may be nil.
	Progress func(Progress)
	By       string
	Now      func() time.Time
	// Poll is how often is looked at what is waited for; 0 for half a second.
	Poll time.Duration
}

// Options are those of a run.
type Options struct {
	// KeepFailed leaves what was done where the run fails: its journal stays open, and the next
	// run continues from it or undoes it.
	KeepFailed bool
	// NoWait refuses where somebody else holds the lock.
	NoWait                        bool
	TakeOwnership, ForceConflicts bool
	// Lookup lets templates read the cluster.
	Lookup bool
	// Kubernetes and APIs are what the plan was rendered with.
	Kubernetes string
	APIs       []string
	// PostRenderer returns what is to be done to all that the templates of a part made; it
	// may be nil, where no part has connections.
	PostRenderer func(p *Part, values []Resolved) (postrenderer.PostRenderer, error)
	// Manifest is the text of the System, kept when the run is done.
	Manifest string
	// Stop ends also the undoing (a second interrupt); nil for never.
	Stop context.Context
	// Seen identifies the run that was shown (RecoveryPlan.Seen): another one is not recovered.
	// Empty for any.
	Seen string
	// Look is how long is waited, after an undo, until what was restored is Healthy; 0 for
	// Patience.
	Look time.Duration
	// Timeout is how long a removal of a run that continues may take: its hooks, and until all is
	// gone. Steps of a plan have their own. 0 is as for these.
	Timeout time.Duration
	// StatusTimeout is how long one thing is waited for that has no timeout; 0 for five minutes.
	StatusTimeout time.Duration
}

// Resolved is a connection with its value. The value is never written down by a run.
type Resolved struct {
	Connection
	Value any
}

// ProgressKind is what an Event is about.
type ProgressKind string

// What is reported.
const (
	StepStarted   ProgressKind = "begun"
	StepDone      ProgressKind = "done"
	StepUndone    ProgressKind = "undone"
	StepNotUndone ProgressKind = "left"
	Waiting       ProgressKind = "waiting"
	Undoing       ProgressKind = "undoing"
	Noted         ProgressKind = "note"
)

// Progress is progress.
type Progress struct {
	At   time.Time    `json:"at"`
	Kind ProgressKind `json:"kind"`
	// Step is the ID of the step, empty for what is about the whole run.
	Step     string   `json:"step,omitempty"`
	StepKind StepKind `json:"stepKind,omitempty"`
	Part     string   `json:"part,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// Results of a run.
const (
	ResultDone         = "done"
	ResultUndone       = "undone"
	ResultPartlyUndone = "left"
	// ResultKeptFailed says that a run failed and was left as it is, as asked.
	ResultKeptFailed = "kept"
	// ResultUnfinished says that a run neither ended nor was undone: the journal says how far it is.
	ResultUnfinished = "open"
)

// Report is what became of a run.
type Report struct {
	Run    string `json:"run,omitempty"`
	Action Action `json:"action"`
	// Result is one of the results above; empty where nothing was started.
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"`
	// Steps are those of the run, each with its phase; those that are Left have a Note.
	Steps    []StepState    `json:"steps"`
	Releases []ReleaseState `json:"releases,omitempty"`
	// Restored is how the releases are that undoing brought back; nil where there are none.
	Restored *Restored `json:"restored,omitempty"`
}

// Left are the steps that were not undone.
func (r Report) Left() (out []StepState) {
	for _, s := range r.Steps {
		if s.Phase == NotUndone {
			out = append(out, s)
		}
	}
	return out
}

// UnfinishedError says that a run before was not ended.
type UnfinishedError struct {
	Installation Installation
	Run          Run
}

func (e *UnfinishedError) Error() string {
	how := "did not finish"
	if e.Run.Undoing {
		how = "is half undone"
	}
	return fmt.Sprintf("%s %s/%s: an %s of %s by %s %s: recover it first",
		"installation", e.Installation.Namespace, e.Installation.Name, e.Run.Action, e.Run.Started.UTC().Format(time.RFC3339), e.Run.By, how)
}

// RefusedError says that a plan with refusals was to be done.
type RefusedError struct{ Refusals []Refusal }

func (e *RefusedError) Error() string {
	if len(e.Refusals) == 1 {
		return "the plan is blocked: " + e.Refusals[0].Message
	}
	return fmt.Sprintf("the plan has %d blockers; first: %s", len(e.Refusals), e.Refusals[0].Message)
}

// BusyError says that somebody else acts on the installation.
type BusyError struct {
	Holder string
	Since  time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s holds the lock since %s: nothing was done; wait for it, or leave out --no-wait", e.Holder, e.Since.UTC().Format(time.RFC3339))
}

// FailedError says why a run failed, and what became of it.
type FailedError struct {
	Step   string // its ID; empty where it was between two
	Result string
	Err    error
	// Restored is how the releases are that undoing brought back; nil where there are none.
	Restored *Restored
}

func (e *FailedError) Error() string {
	text := field.HostsOnly(e.Err.Error())
	if e.Step != "" {
		text = e.Step + ": " + text
	}
	switch e.Result {
	case ResultUndone:
		return text + "; " + e.Restored.undone("all changes were undone", "the changes were reverted")
	case ResultPartlyUndone:
		return text + "; " + e.Restored.undone("the changes were undone, except those listed", "the changes were reverted, except those listed")
	case ResultKeptFailed:
		return text + "; the changes were kept: run it again to continue, or uninstall it"
	}
	return text + "; not undone yet: run the same command again to resume"
}

func (e *FailedError) Unwrap() error { return e.Err }

var errStopped = errors.New("interrupted")

func (r *Runner) notify(e Progress) {
	if r.Progress == nil {
		return
	}
	e.At = r.now()
	r.Progress(e)
}

func (r *Runner) tellStep(kind ProgressKind, s StepState, message string) {
	r.notify(Progress{Kind: kind, Step: s.ID, StepKind: s.Kind, Part: s.Part, Message: message})
}

func (r *Runner) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r *Runner) poll() time.Duration {
	if r.Poll <= 0 {
		return 500 * time.Millisecond
	}
	return r.Poll
}

// statusTimeout is how long a step is waited for.
func (o Options) statusTimeout(timeout time.Duration) time.Duration {
	switch {
	case timeout > 0:
		return timeout
	case o.StatusTimeout > 0:
		return o.StatusTimeout
	}
	return 5 * time.Minute
}
