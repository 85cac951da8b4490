package regulator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// upgradeLease is how long an upgrade that died keeps others out of regulation.
const upgradeLease = 15 * time.Second

// Upgrades holds the dependents of apps while an installer changes the apps. The runs that hold are
// known by the name of the installation: who continues a killed upgrade ends them.
type Upgrades struct {
	Input   *app.Input
	Action  install.Action
	Timeout time.Duration
	// Events and Distrusted are those of the Request, Output that of the ApplyRequest.
	Events     func(journal.Event)
	Distrusted func(reason string, pending []string)
	Output     func(app, text string)
	// Held is called when the dependents are held, and ends the upgrade by an error. Freed is
	// called when they are recovered, or left held.
	Held  func(ctx context.Context, r *HeldRun) error
	Freed func(ctx context.Context, r *HeldRun)
}

// Hold returns what holds the dependents of a part of a System, and recovers them.
func (u *Upgrades) Hold(sys *system.System, target install.Installation) func(context.Context, *install.Part) (func(context.Context) error, error) {
	return func(ctx context.Context, p *install.Part) (func(context.Context) error, error) {
		var held []*HeldRun
		free := func(ctx context.Context) error {
			var errs []error
			for _, r := range slices.Backward(held) {
				errs = append(errs, u.free(ctx, r))
			}
			return errors.Join(errs...)
		}
		for _, name := range p.AppsOf(sys) {
			for _, signal := range upgradeSignals(sys, name) {
				b, err := u.open(ctx, sys)
				if err != nil {
					return free, err
				}
				r := &HeldRun{
					Session: b, App: name, Signal: signal, Timeout: u.Timeout, Apply: ApplyRequest{DryRun: DryRunNone, Output: u.Output},
					ID: "install-" + target.Name + "-" + name, What: "kubectl sysop " + string(u.Action) + " " + target.Name,
				}
				if err := r.Hold(ctx); err != nil {
					return free, err
				}
				held = append(held, r)
				if err := u.Held(ctx, r); err != nil {
					return free, err
				}
			}
		}
		return free, nil
	}
}

// open opens the System for regulation, by a connection of its own.
func (u *Upgrades) open(ctx context.Context, sys *system.System) (*Session, error) {
	in := u.Input.Another("")
	in.Clock, in.Report = u.Input.Clock, u.Input.Report
	return OpenSystem(ctx, in, sys, Request{Lease: upgradeLease, Events: u.Events, Distrusted: u.Distrusted})
}

// free waits until the app is Healthy, and recovers the apps that were held for it.
func (u *Upgrades) free(ctx context.Context, r *HeldRun) error {
	if err := r.Free(ctx, ctx); err != nil {
		return err
	}
	u.Freed(ctx, r)
	return r.Unrecovered()
}

// upgradeSignals are those that the rules send on an upgrade of an app; Stop where there is
// no such rule.
func upgradeSignals(sys *system.System, app string) []string {
	var out []string
	for _, r := range sys.Regulation.Rules {
		if r.Upgrading && (r.App == "" || r.App == app) && !slices.Contains(out, r.Signal) {
			out = append(out, r.Signal)
		}
	}
	if out == nil {
		out = []string{system.Stop}
	}
	return out
}

// HeldNotes describes which apps are held while others change. Nothing is written.
func (u *Upgrades) HeldNotes(ctx context.Context, sys *system.System, apps []string) (notes []string) {
	b, err := u.open(ctx, sys)
	if err == nil {
		err = b.Observe(ctx)
	}
	if err != nil {
		return []string{fmt.Sprintf("which apps are held meanwhile is unknown: %v", err)}
	}
	for _, name := range apps {
		for _, signal := range upgradeSignals(sys, name) {
			hold, err := regulate.HoldForRun(b.State, sys, b.Journal, name, signal, "", "", "", u.Input.Now())
			if err != nil {
				notes = append(notes, fmt.Sprintf("which apps are held while %s is changed is unknown: %v", name, err))
				continue
			}
			notes = append(notes, heldNotes(name, signal, hold)...)
		}
	}
	return notes
}

// heldNotes say who is held while an app is changed, and who cannot be.
func heldNotes(app, signal string, hold *regulate.Plan) (out []string) {
	var held []string
	for _, s := range hold.Steps {
		if s.Signal == signal && (s.Verb == regulate.Send || s.Verb == regulate.AddCause) {
			held = append(held, s.App)
		}
	}
	slices.Sort(held)
	if len(held) > 0 {
		out = append(out, fmt.Sprintf("held (%s) while %s is changed: %s", signal, app, strings.Join(slices.Compact(held), ", ")))
	}
	for _, r := range hold.Refused {
		out = append(out, fmt.Sprintf("%s cannot be held while %s is changed: %s", r.App, app, r.Message))
	}
	return out
}
