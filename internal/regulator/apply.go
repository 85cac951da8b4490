package regulator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// The values of ApplyRequest.DryRun: what is written.
const (
	DryRunNone   = "none"
	DryRunClient = "client"
	DryRunServer = "server"
)

// ApplyRequest says how a plan is applied.
type ApplyRequest struct {
	DryRun           string
	AllowExec, Force bool
	// AcceptUnsigned acts by a journal that is not signed.
	AcceptUnsigned bool
	// Confirm shows a plan, and returns whether it is to be applied; nil applies it. It is not
	// called under the lock: a plan that has changed meanwhile is refused.
	Confirm func(ctx context.Context, p *regulate.Plan) (bool, error)
	// Output is called with the end of the output of a command of an app; it may be nil.
	Output func(app, text string)
}

// Planner plans, from the state that the Session observed.
type Planner func(b *Session, now time.Time) (*regulate.Plan, error)

// ByRules plans what the rules of the System require.
func ByRules(b *Session, now time.Time) (*regulate.Plan, error) {
	return regulate.NewPlan(b.State, b.System, b.Journal, now), nil
}

// Stop plans to send a signal to an app on behalf of a user.
func Stop(name, signal string) Planner {
	return func(b *Session, now time.Time) (*regulate.Plan, error) {
		return regulate.StopByHand(b.State, b.System, b.Journal, name, signal, journal.Holder(), now), b.RequireApp(name)
	}
}

// Recover plans to undo whatever holds an app; force also while a rule holds it.
func Recover(name string, force bool) Planner {
	return func(b *Session, now time.Time) (*regulate.Plan, error) {
		return regulate.RecoverByHand(b.State, b.System, b.Journal, name, journal.Holder(), force, now), nil
	}
}

// Plan observes the apps, and plans.
func (b *Session) Plan(ctx context.Context, plan Planner) (*regulate.Plan, error) {
	if err := b.Observe(ctx); err != nil {
		return nil, err
	}
	return plan(b, b.Session.AsOf())
}

// Result is the result of applying a plan.
type Result struct {
	Plan *regulate.Plan
	// Outcome is nil if nothing was done.
	Outcome *regulate.Outcome
	// Declined says that the user answered no.
	Declined bool
	// Restored is the health of the apps that were recovered; nil if there are none.
	Restored *restored.Report
}

// errChanged is that the plan that was confirmed is no longer the one that would be applied.
var errChanged = errors.New("the plan is outdated: nothing was done")

// Apply plans, has the plan confirmed, and applies it under the lock.
func (b *Session) Apply(ctx context.Context, plan Planner, r ApplyRequest) (*Result, error) {
	d := &Result{}
	if r.Confirm != nil {
		p, err := b.Plan(ctx, plan)
		if err != nil {
			return nil, err
		}
		b.Session.ReportGaps(b.Graph)
		d.Plan = p
		sure, err := r.Confirm(ctx, p)
		if err != nil || !sure {
			d.Declined = err == nil && len(p.Steps) > 0 && r.DryRun == DryRunNone
			return d, err
		}
	}
	act := func(ctx context.Context) error {
		p, err := b.Plan(ctx, plan)
		switch {
		case err != nil:
			return err
		case d.Plan == nil:
			b.Session.ReportGaps(b.Graph)
		case signature(p) != signature(d.Plan):
			return hint.With(errChanged, "plan again: kubectl sysop regulate plan")
		}
		d.Plan = p
		d.Outcome, err = b.execute(ctx, p, r)
		return err
	}
	var err error
	if r.DryRun == DryRunServer {
		err = act(ctx) // it stores nothing, and needs no lease
	} else {
		err = b.locked(ctx, act)
	}
	return d, b.explainPermissions(ctx, plan, err)
}

// explainPermissions lists all missing permissions if the lock was refused: the lock is only the
// first of them.
func (b *Session) explainPermissions(ctx context.Context, plan Planner, err error) error {
	if !apierrors.IsForbidden(err) || b.State != nil && b.Journal == nil {
		return err
	}
	p, unplanned := b.Plan(ctx, plan)
	if unplanned != nil {
		return err
	}
	if missing := b.requirePermissions(ctx, p); missing != nil {
		return missing
	}
	return err
}

// signature identifies the steps of a plan.
func signature(p *regulate.Plan) string {
	var b strings.Builder
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "%s %s %s %d\n", s.Verb, s.App, s.Signal, s.Hold)
	}
	return b.String()
}

// requirePermissions checks the permissions for a plan, and for undoing it, before any write.
func (b *Session) requirePermissions(ctx context.Context, p *regulate.Plan) error {
	rights := regulate.Permissions(p, b.Journal, b.System, b.State, b.Session.Kinds, b.Namespace)
	return systems.RequirePermissions(ctx, b.In, b.Config, b.System.Name, rights)
}

// execute runs a plan. The lock is held.
func (b *Session) execute(ctx context.Context, p *regulate.Plan, r ApplyRequest) (*regulate.Outcome, error) {
	if err := b.requireTrust(r); err != nil {
		return nil, err
	}
	if err := b.requirePermissions(ctx, p); err != nil {
		return nil, err
	}
	client, err := regulate.NewClient(b.Config)
	if err != nil {
		return nil, err
	}
	events := b.request.Events
	if r.DryRun != DryRunServer {
		var flush func()
		events, flush = regulate.RecordEvents(b.Config, events)
		defer flush()
	}
	runner := &regulate.Runner{
		Client: client, Store: b.Store, Events: events, Kinds: b.Session.Kinds, System: b.System, World: b.State, Now: b.In.Now,
		Signals: b.SignalsOf(b.Session.Kinds), Pods: b.podsOf,
		AllowExec: r.AllowExec, Force: r.Force, DryRun: r.DryRun == DryRunServer, Output: r.Output,
	}
	return runner.Do(ctx, p, b.Journal)
}

// Refusal is the error of a signal that a user sent and that was not executed: the caller must not
// take the app for held. Recovering an app that is not held is no error.
func (d *Result) Refusal() error {
	if d.Plan == nil || len(d.Plan.Steps) > 0 {
		return nil
	}
	for i := range d.Plan.Refused {
		if r := &d.Plan.Refused[i]; r.Reason != regulate.BecauseNotHeld {
			return fmt.Errorf("%s: nothing was done: %s", r.App, r.Message)
		}
	}
	return nil
}
