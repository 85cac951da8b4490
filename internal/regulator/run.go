package regulator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// ApplyRest applies the rules until nothing is left to do, and returns what was done; an error
// after the timeout.
func (b *Session) ApplyRest(ctx context.Context, r ApplyRequest, timeout time.Duration) (*regulate.Outcome, error) {
	limited, stop := context.WithTimeoutCause(ctx, timeout, errTooLong)
	defer stop()
	all := &regulate.Outcome{}
	w := b.NewWatcher(r)
	w.Applied = func(d *Result) error {
		all.Restored = append(all.Restored, d.Outcome.Restored...)
		return nil
	}
	err := w.Run(limited, func(p *regulate.Plan) bool { return len(p.Steps) == 0 && len(p.Pending) == 0 })
	if errors.Is(context.Cause(limited), errTooLong) {
		return all, hint.With(fmt.Errorf("steps remain after %s", timeout), "kubectl sysop regulate plan shows them; --timeout waits longer")
	}
	return all, err
}

// HeldRun is a change of an app while its neighbours are held.
type HeldRun struct {
	Session     *Session
	App, Signal string
	// ID identifies the run in causes. What describes the change in the journal, without
	// arguments, which may be secrets.
	ID, What string
	Timeout  time.Duration
	// IgnoreRefused continues although a neighbour cannot be held.
	IgnoreRefused bool
	Apply         ApplyRequest

	// Held is what was done first, and Freed at the end: nil if the neighbours stay held, for the
	// reason Left, where Help has commands that help the app.
	Held, Freed *Result
	Left        string
	Help        []string
}

// Hold holds the neighbours.
func (r *HeldRun) Hold(ctx context.Context) (err error) {
	r.Held, err = r.Session.Apply(ctx, r.plan, r.Apply)
	return err
}

// plan plans to hold the neighbours. One that cannot be held is an error, unless that is ignored.
func (r *HeldRun) plan(b *Session, now time.Time) (*regulate.Plan, error) {
	p, err := regulate.HoldForRun(b.State, b.System, b.Journal, r.App, r.Signal, r.ID, r.What, journal.Holder(), now)
	if err != nil {
		return nil, err
	}
	if len(p.Refused) > 0 && !r.IgnoreRefused && r.Apply.DryRun != DryRunClient {
		f := p.Refused[0]
		return nil, hint.With(fmt.Errorf("%s cannot be held, so the command is not run: %s", f.App, f.Message), "--ignore-refused runs it anyway")
	}
	return p, nil
}

// Free waits until the app is Healthy, and recovers the neighbours. asked ends with an interrupt,
// which ends the waiting.
func (r *HeldRun) Free(ctx, asked context.Context) error {
	if len(r.Held.Plan.Steps) == 0 {
		return nil
	}
	limited, stop := context.WithTimeoutCause(asked, r.Timeout, errTooLong)
	defer stop()
	w := r.Session.NewWatcher(r.Apply)
	w.readOnly = true
	err := w.Run(limited, func(*regulate.Plan) bool { return r.isHealthy() })
	switch {
	case err != nil && asked.Err() != nil && !r.isHealthy():
		r.Left = "interrupted before " + r.App + " was Healthy"
		return nil
	case errors.Is(context.Cause(limited), errTooLong):
		state, _ := r.Session.State.App(r.App)
		r.Left = fmt.Sprintf("%s is %s after %s: %s", r.App, state.Health, r.Timeout, state.Message)
		r.Help = r.Session.stuckPods(ctx, r.App)
		return nil
	case err != nil && asked.Err() == nil:
		return err
	}
	return r.release(ctx, asked)
}

// release ends the run, and recovers what it held. asked ends the waiting.
func (r *HeldRun) release(ctx, asked context.Context) (err error) {
	apply := r.Apply
	apply.Confirm = nil
	r.Freed, err = r.Session.Apply(ctx, func(b *Session, now time.Time) (*regulate.Plan, error) {
		return regulate.EndRun(b.State, b.System, b.Journal, r.ID, now), nil
	}, apply)
	if err != nil || len(r.waiting()) == 0 {
		return err
	}
	return r.freeRest(asked, apply)
}

// Inspect checks the recovered apps.
func (r *HeldRun) Inspect(ctx context.Context) (report *restored.Report, err error) {
	if r.Freed != nil {
		r.Freed.Restored, err = r.Session.Inspect(ctx, r.Freed.Outcome, r.Timeout)
		report = r.Freed.Restored
	}
	return report, err
}

// Unrecovered is an error if an app that was held did not recover.
func (r *HeldRun) Unrecovered() error {
	if r.Freed != nil && r.Freed.Outcome != nil && len(r.Freed.Outcome.Failed) > 0 {
		return fmt.Errorf("not all apps recovered: %s", r.Freed.Outcome.Failed[0].Result)
	}
	return nil
}

// waiting returns the apps that are held without a cause: they are not recovered yet.
func (r *HeldRun) waiting() (apps []string) {
	for _, h := range r.Session.Journal.Holds {
		if len(h.Causes) == 0 {
			apps = append(apps, h.App)
		}
	}
	return apps
}

// freeRest recovers, one after the other, the apps that wait for their dependencies.
func (r *HeldRun) freeRest(ctx context.Context, apply ApplyRequest) error {
	limited, stop := context.WithTimeoutCause(ctx, r.Timeout, errTooLong)
	defer stop()
	w := r.Session.NewWatcher(apply)
	w.recoverOnly = true
	w.Applied = func(d *Result) error {
		out := r.Freed.Outcome
		out.Done = append(out.Done, d.Outcome.Done...)
		out.Failed = append(out.Failed, d.Outcome.Failed...)
		out.Restored = append(out.Restored, d.Outcome.Restored...)
		return nil
	}
	err := w.Run(limited, func(*regulate.Plan) bool { return len(r.waiting()) == 0 })
	if err != nil && (ctx.Err() != nil || errors.Is(context.Cause(limited), errTooLong)) {
		r.Left = strings.Join(slices.Compact(r.waiting()), ", ") + " waited for what it needs; regulate apply recovers it when that is Healthy"
		return nil
	}
	return err
}

// isHealthy reports whether the app is Healthy, with nothing being rolled out.
func (r *HeldRun) isHealthy() bool {
	state, ok := r.Session.State.App(r.App)
	return ok && isHealthy(state)
}
