package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"helm.sh/helm/v4/pkg/postrenderer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Store stores the journal of an installation, and before-images.
type Store interface {
	// Load returns the journal, or an empty one if none exists. An unreadable journal is an error,
	// and is not changed.
	Load(ctx context.Context) (*Journal, error)
	// Save writes the journal; a *journal.ConflictError means that it was changed since it was
	// loaded.
	Save(ctx context.Context, j *Journal) error
	// Remove deletes the journal.
	Remove(ctx context.Context, j *Journal) error
	// SaveBefore stores a before-image; the same run and object have the same place.
	SaveBefore(ctx context.Context, run string, o *unstructured.Unstructured) (BeforeImage, error)
	// LoadBefore returns a before-image.
	LoadBefore(ctx context.Context, b BeforeImage) (*unstructured.Unstructured, error)
	// Drop deletes the before-images of a run, also those that its journal does not list.
	Drop(ctx context.Context, run string, images []BeforeImage) error
}

// Runner executes plans, and undoes them.
type Runner struct {
	Engine    helm.Engine
	Objects   Objects
	Discovery Discovery
	Store     Store
	// Lock returns the lock of the installation; it calls waiting with the holder.
	Lock func(waiting func(holder string, since time.Time)) (journal.Lock, error)
	// Gate waits until objects are Healthy, or returns why they are not.
	Gate func(ctx context.Context, objects []object.Ref, timeout time.Duration) error
	// Resolve waits for the value of a connection.
	Resolve func(ctx context.Context, c connection.Connection) (any, error)
	// Hold holds the dependants of a part while its release changes, and returns their release,
	// which is called when the part is ready or everything is undone. It may be nil.
	Hold func(ctx context.Context, p *Part) (letGo func(context.Context) error, err error)
	// Restorable returns why the former content of a definition cannot be restored; nil if it can.
	// A nil Restorable leaves that to the API server.
	Restorable func(current, was *unstructured.Unstructured) error
	// Events receives the events of a run; it may be nil.
	Events func(journal.Event)
	// Record adds a recorder to the receiver of a run, and returns what ends it; it may be nil.
	Record func(emit func(journal.Event)) (receive func(journal.Event), flush func())
	By     string
	Now    func() time.Time
	// Poll is the polling interval; 0 for half a second.
	Poll time.Duration
}

// Options are the options of a run.
type Options struct {
	// KeepFailed does not undo a run that fails: its journal stays open, and the next run continues
	// or undoes it.
	KeepFailed bool
	// NoWait refuses the run if another process holds the lease.
	NoWait                        bool
	TakeOwnership, ForceConflicts bool
	// Lookup lets templates read the cluster.
	Lookup bool
	// Kubernetes and APIs are the capabilities that the plan was rendered with.
	Kubernetes string
	APIs       []string
	// PostRenderer returns the post-renderer of the manifests of a part; it may be nil if no part
	// has connections.
	PostRenderer func(p *Part, values []Resolved) (postrenderer.PostRenderer, error)
	// Manifest is the text of the System, stored when the run is done.
	Manifest string
	// Stamp is the time in names of the manifest, and Unstamped the digest of it without; zero for none.
	Stamp     time.Time
	Unstamped string
	// Stop ends the undo too (a second interrupt); nil for never.
	Stop context.Context
	// Seen identifies the run that was shown (RecoveryPlan.Seen): no other run is recovered. Empty
	// for any.
	Seen string
	// Look is how long an undo waits until restored objects are Healthy; 0 for the default.
	Look time.Duration
	// Timeout limits a removal of a run that continues: its hooks, and the wait until all objects
	// are gone. Steps of a plan have their own. 0 is the default of these.
	Timeout time.Duration
	// StatusTimeout is the default timeout of one wait; 0 for five minutes.
	StatusTimeout time.Duration
}

// Resolved is a connection with its value, which a run never writes down.
type Resolved struct {
	connection.Connection
	Value any
}

// The results of a run.
const (
	ResultDone         = "done"
	ResultUndone       = "undone"
	ResultPartlyUndone = "left"
	// ResultKeptFailed means that a run failed and was not undone, as requested.
	ResultKeptFailed = "kept"
	// ResultUnfinished means that a run has neither ended nor been undone: the journal has its
	// progress.
	ResultUnfinished = "open"
)

// Report is the outcome of a run.
type Report struct {
	Run    string `json:"run,omitempty"`
	Action Action `json:"action"`
	// Result is one of the results above; empty if nothing was started.
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"`
	// Steps are the steps of the run with their phases; steps that were not undone have a Note.
	Steps    []StepState    `json:"steps"`
	Releases []ReleaseState `json:"releases,omitempty"`
	// Restored is the health of the releases that undo restored; nil if there are none.
	Restored *Restored `json:"restored,omitempty"`
}

// Left returns the steps that were not undone.
func (r Report) Left() (out []StepState) {
	for _, s := range r.Steps {
		if s.Phase == NotUndone {
			out = append(out, s)
		}
	}
	return out
}

// UnfinishedError means that an earlier run is still open.
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

// RefusedError means that the plan has refusals.
type RefusedError struct{ Refusals []Refusal }

func (e *RefusedError) Error() string {
	if len(e.Refusals) == 1 {
		return "the plan is blocked: " + e.Refusals[0].Message
	}
	return fmt.Sprintf("the plan has %d blockers; first: %s", len(e.Refusals), e.Refusals[0].Message)
}

// BusyError means that another process holds the lease of the installation.
type BusyError struct {
	Holder string
	Since  time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s holds the lock since %s: nothing was done; wait for it, or leave out --no-wait", e.Holder, e.Since.UTC().Format(time.RFC3339))
}

// FailedError is the reason why a run failed, and its outcome.
type FailedError struct {
	Step   string // its ID; empty between two steps
	Result string
	Err    error
	// Restored is the health of the releases that undo restored; nil if there are none.
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

// recorded returns a Runner whose events are also recorded, and what ends that.
func (r *Runner) recorded() (*Runner, func()) {
	if r.Record == nil {
		return r, func() {}
	}
	out := *r
	var flush func()
	out.Events, flush = r.Record(r.Events)
	return &out, flush
}

func (r *Runner) emit(kind journal.EventKind, message string) {
	r.send(journal.Event{Kind: kind, Message: message})
}

func (r *Runner) emitStep(kind journal.EventKind, s StepState, message string) {
	r.send(journal.Event{Kind: kind, Step: s.ID, Action: string(s.Kind), App: s.Part, Message: message})
}

func (r *Runner) send(e journal.Event) {
	if r.Events != nil {
		e.At = r.now()
		r.Events(e)
	}
}

// runEvents are the events of how a run ended.
var runEvents = map[string]journal.EventKind{
	ResultDone: journal.EventDone, ResultUndone: journal.EventUndone, ResultPartlyUndone: journal.EventNotUndone,
	ResultKeptFailed: journal.EventFailed, ResultUnfinished: journal.EventFailed,
}

// emitEnd emits how the run ended, if it was started.
func (x *run) emitEnd() {
	if kind, ended := runEvents[x.report.Result]; ended && x.started {
		x.send(journal.Event{Kind: kind, Action: string(x.report.Action), Message: x.report.Why})
	}
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

// statusTimeout returns the timeout of a step.
func (o Options) statusTimeout(timeout time.Duration) time.Duration {
	switch {
	case timeout > 0:
		return timeout
	case o.StatusTimeout > 0:
		return o.StatusTimeout
	}
	return 5 * time.Minute
}
