package regulator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Pause stops the apps of a System that write to others while a run copies the data of these. It
// continues the pause of a killed run with the same ID, and ends those of dead runs.
type Pause struct {
	HeldRun
	// Saved are the objects that are copied; Running are those whose app has to run meanwhile.
	Saved, Running []object.Ref
	// Limit bounds the pause: if the run is killed, the next regulation recovers the apps then.
	Limit time.Duration
	// Alive says whether the process of another run is alive.
	Alive func(ctx context.Context, run string) (bool, error)

	// Began is when the apps were stopped, Ended when they were recovered; Apps are their names.
	// Serving are apps with saved data that run on, since only stopped ones need them.
	Began, Ended  time.Time
	Apps, Serving []string
	// Broken is why the apps were not stopped all the time.
	Broken string
}

// Plan plans which apps are stopped, and writes nothing.
func (p *Pause) Plan(ctx context.Context) (*regulate.Plan, error) { return p.Session.Plan(ctx, p.plan) }

// Begin stops the apps.
func (p *Pause) Begin(ctx context.Context) error {
	if err := p.EndOthers(ctx); err != nil {
		return err
	}
	p.Began = p.began(p.Session.In.Now())
	var err error
	if p.Held, err = p.Session.Apply(ctx, p.plan, p.Apply); err != nil {
		return p.abort(ctx, err) // some apps may be stopped by now
	}
	if out := p.Held.Outcome; out != nil && len(out.Failed) > 0 {
		return p.abort(ctx, fmt.Errorf("an app could not be stopped, so nothing is saved: %s", out.Failed[0].Result))
	}
	p.Apps = p.holding()
	if err := p.quiet(ctx); err != nil {
		return p.abort(ctx, err)
	}
	return nil
}

// abort recovers what was stopped until an error.
func (p *Pause) abort(ctx context.Context, err error) error {
	after := context.WithoutCancel(ctx)
	if wrong := p.Session.Observe(after); wrong != nil || !slices.ContainsFunc(p.Session.Journal.Holds, p.isCause) {
		return errors.Join(err, wrong)
	}
	return errors.Join(err, p.letGo(after, ctx))
}

// quiet waits until the pods of the stopped workloads are gone: they write until then.
func (p *Pause) quiet(ctx context.Context) error {
	limited, stop := context.WithTimeoutCause(ctx, p.Limit, errTooLong)
	defer stop()
	w := p.Session.NewWatcher(p.Apply)
	w.readOnly = true
	var running []string
	err := w.Run(limited, func(*regulate.Plan) bool {
		running = p.pods()
		return len(running) == 0
	})
	if errors.Is(context.Cause(limited), errTooLong) {
		return hint.With(fmt.Errorf("pods of stopped apps still run after %s, so nothing is saved: %s", p.Limit, object.ShortList(running)), "--pause-at-most waits longer")
	}
	return err
}

// pods are those of the workloads that the run stopped.
func (p *Pause) pods() (pods []string) {
	for _, h := range p.Session.Journal.Holds {
		if !p.isCause(h) {
			continue
		}
		for _, o := range h.Operations {
			if ref := o.Target.Ref(); ref.Group == "apps" || ref.Group == "batch" {
				pods = append(pods, p.Session.podsOf(ref)...)
			}
		}
	}
	return pods
}

// Continue takes up what the run stopped before it was killed; false if that is nothing.
func (p *Pause) Continue(ctx context.Context) (bool, error) {
	if err := p.Session.Observe(ctx); err != nil {
		return false, err
	}
	if p.Apps = p.holding(); len(p.Apps) == 0 {
		return false, nil
	}
	p.Began = p.began(p.Session.In.Now())
	return true, nil
}

// began is when the run stopped the first app; now if it has stopped none.
func (p *Pause) began(now time.Time) time.Time {
	for _, h := range p.Session.Journal.Holds {
		for _, c := range h.Causes {
			if c.Run == p.ID && c.At.Before(now) {
				now = c.At
			}
		}
	}
	return now
}

// Permissions are those that the pause and its end need.
func (p *Pause) Permissions(ctx context.Context) ([]permission.Permission, error) {
	plan, err := p.Plan(ctx)
	if err != nil {
		return nil, err
	}
	b := p.Session
	return regulate.Permissions(plan, b.Journal, b.System, b.State, b.Session.Kinds, b.Namespace), nil
}

// plan plans to stop the apps. One that cannot be stopped is an error.
func (p *Pause) plan(b *Session, now time.Time) (*regulate.Plan, error) {
	limit := now.Add(p.Limit)
	saved, running := b.appsOf(p.Saved), b.appsOf(p.Running)
	plan := regulate.PauseForRun(b.State, b.System, b.Journal, saved, running, p.ID, p.What, now, limit)
	if len(plan.Refused) > 0 {
		r := plan.Refused[0]
		return nil, hint.With(fmt.Errorf("%s writes to what is saved and cannot be stopped: %s", r.App, r.Message), "--consistency app stops no app")
	}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		if s.Verb == regulate.Send && slices.ContainsFunc(s.Actions, func(r regulate.Resolved) bool { return r.Default }) {
			return nil, hint.With(fmt.Errorf("%s writes to what is saved, and only its rollouts would be paused: its pods would still write", s.App), "say in the manifest how it is stopped, under on.Stop of the app: {preset: stop}")
		}
	}
	p.Serving = slices.DeleteFunc(saved, func(app string) bool {
		_, held := b.Journal.HoldOf(app, system.Stop)
		return held || slices.Contains(running, app) || slices.ContainsFunc(plan.Steps, func(s regulate.Step) bool { return s.App == app })
	})
	return plan, nil
}

// EndOthers recovers what pauses of dead runs hold, and what this one began to recover before it
// was killed. One of a live run is an error.
func (p *Pause) EndOthers(ctx context.Context) error {
	if err := p.Session.Observe(ctx); err != nil {
		return err
	}
	now, ended := p.Session.In.Now(), map[string]bool{}
	for _, h := range p.Session.Journal.Holds {
		for _, c := range h.Causes {
			expired := !now.Before(c.Until)
			if c.Run == "" || c.Until.IsZero() || ended[c.Run] || c.Run == p.ID && !expired && h.Phase != regulate.Recovering {
				continue
			}
			alive, err := p.Alive(ctx, c.Run)
			if err != nil {
				return err
			}
			if alive && !expired && c.Run != p.ID {
				return hint.With(fmt.Errorf("%s is stopped for %s, which is running", h.App, c.Run), "wait until it has ended")
			}
			ended[c.Run] = true
			other := &HeldRun{Session: p.Session, App: h.App, ID: c.Run, Timeout: p.Timeout, Apply: p.Apply}
			if err := other.release(ctx, ctx); err != nil {
				return fmt.Errorf("recover what %s stopped: %w", c.Run, err)
			}
		}
	}
	return p.Session.Observe(ctx)
}

// End recovers the apps, and measures the pause. asked ends the waiting for the apps that others
// need first.
func (p *Pause) End(ctx, asked context.Context) error {
	if p.Began.IsZero() || !p.Ended.IsZero() {
		return nil
	}
	if err := p.Session.Observe(ctx); err != nil {
		return fmt.Errorf("recover %s: %w", strings.Join(p.Apps, ", "), err)
	}
	held := p.holding()
	for _, app := range p.Apps {
		if !slices.Contains(held, app) {
			p.Broken = app + " was recovered by someone else before all was saved"
		}
	}
	err := p.letGo(ctx, asked)
	p.Ended = p.Session.In.Now()
	if err != nil {
		return fmt.Errorf("recover %s: %w", strings.Join(p.Apps, ", "), err)
	}
	return p.Unrecovered()
}

// letGo recovers the apps in the order of their needs. When asked ends, or that order takes too
// long, it recovers the rest at once: they ran before.
func (p *Pause) letGo(ctx, asked context.Context) error {
	held := p.holding()
	if err := p.release(ctx, asked); err != nil || p.Left == "" {
		return err
	}
	var errs []error
	for _, app := range held {
		if !slices.Contains(p.waiting(), app) {
			continue
		}
		d, err := p.Session.Apply(ctx, Recover(app, false), p.Apply)
		if errs = append(errs, err); d != nil && d.Outcome != nil && p.Freed.Outcome != nil {
			p.Freed.Outcome.Failed = append(p.Freed.Outcome.Failed, d.Outcome.Failed...)
		}
	}
	p.Left = ""
	return errors.Join(errs...)
}

// isCause says whether the run is a cause of a hold.
func (p *Pause) isCause(h *regulate.Hold) bool {
	return slices.ContainsFunc(h.Causes, func(c regulate.Cause) bool { return c.Run == p.ID })
}

// holding are the apps that the run holds or is stopping, as the journal was last read.
func (p *Pause) holding() (apps []string) {
	if p.Session.Journal == nil { // it could not be read
		return nil
	}
	for _, h := range p.Session.Journal.Holds {
		if h.Phase != regulate.Recovering && h.Phase != regulate.Conflicted && p.isCause(h) {
			apps = append(apps, h.App)
		}
	}
	slices.Sort(apps)
	return slices.Compact(apps)
}

// appsOf returns the apps that objects belong to: of those in whose stack an object is, the ones
// that need none of the others.
func (b *Session) appsOf(refs []object.Ref) (apps []string) {
	stacks := map[string]map[object.Ref]bool{}
	for i := range b.State.Apps {
		a := &b.State.Apps[i]
		stacks[a.Name] = b.stackOf(a.Roots)
	}
	for _, ref := range refs {
		var in []string
		for i := range b.State.Apps {
			if name := b.State.Apps[i].Name; stacks[name][ref] {
				in = append(in, name)
			}
		}
		for _, name := range in {
			state, _ := b.State.App(name)
			if len(in) == 1 || !slices.ContainsFunc(state.Needs, func(n regulate.Need) bool { return slices.Contains(in, n.App) }) {
				apps = append(apps, name)
			}
		}
	}
	slices.Sort(apps)
	return slices.Compact(apps)
}

// stackOf are the objects of the stack of roots.
func (b *Session) stackOf(roots []object.Ref) map[object.Ref]bool {
	var ids []graph.ID
	for _, r := range roots {
		if id, ok := b.Graph.Find(r); ok {
			ids = append(ids, id)
		}
	}
	out := map[object.Ref]bool{}
	for _, id := range b.Graph.Stack(ids, b.In.StackOptions()).Members() {
		out[b.Graph.Ref(id)] = true
	}
	return out
}

// NewPause opens a System for a pause, by a connection of its own.
func NewPause(ctx context.Context, in *Upgrades, sys *system.System) (*Pause, error) {
	b, err := in.open(ctx, sys)
	if err != nil {
		return nil, err
	}
	return &Pause{HeldRun: HeldRun{Session: b, Signal: system.Stop, Timeout: in.Timeout, Apply: ApplyRequest{DryRun: DryRunNone, Output: in.Output}}}, nil
}
