package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// installLease is how long an upgrade that died keeps others out of regulation.
const installLease = 15 * time.Second

// holding holds the neighbours of an app of a System while it is upgraded. The runs that hold
// are known by the name of the installation: who continues a killed upgrade ends them.
func (o *installOptions) holding(sys *system.System, installation install.Installation) func(context.Context, *install.Part) (func(context.Context) error, error) {
	return func(ctx context.Context, p *install.Part) (func(context.Context) error, error) {
		var held []*heldRun
		letGo := func(ctx context.Context) error {
			var errs []error
			for _, r := range slices.Backward(held) {
				errs = append(errs, o.free(ctx, r))
			}
			return errors.Join(errs...)
		}
		for _, app := range appsOf(sys, p) {
			for _, signal := range upgradeSignals(sys, app) {
				r, err := o.hold(ctx, sys, installation, app, signal)
				if r != nil {
					held = append(held, r)
				}
				if err != nil {
					return letGo, err
				}
			}
		}
		return letGo, nil
	}
}

// appsOf are the apps that a part is, or that it is the operator of.
func appsOf(sys *system.System, p *install.Part) []string {
	if p.App {
		return []string{p.Name}
	}
	var out []string
	for _, a := range sys.Apps {
		if a.Operator == p.Name {
			out = append(out, a.Name)
		}
	}
	return out
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

// regulating opens the System for regulation.
func (o *installOptions) regulating(ctx context.Context, sys *system.System) (*applyOptions, *regulator.Session, error) {
	acting := newActing(o.env, "table")
	acting.Clock, acting.output = o.Clock, "table"
	acting.ConnectAs(&o.Input)
	acting.progress = o.progress
	acting.yes, acting.dryRun, acting.lease = true, "none", installLease
	b, err := regulator.OpenSystem(ctx, &acting.Input, sys, acting.request(""))
	return acting, b, err
}

// noteHeld notes in a plan which apps are held while it changes others. Nothing is written.
func (o *installOptions) noteHeld(ctx context.Context, sys *system.System, planned *install.Plan) {
	var apps []string
	for i := range planned.Steps {
		s := &planned.Steps[i]
		p := slices.IndexFunc(planned.Parts, func(p *install.Part) bool { return p.Name == s.Part })
		if p >= 0 && (s.Kind == install.UpgradeRelease || s.Kind == install.RollbackRelease) {
			apps = append(apps, appsOf(sys, planned.Parts[p])...)
		}
	}
	if len(apps) == 0 {
		return
	}
	_, b, err := o.regulating(ctx, sys)
	if err == nil {
		err = b.Observe(ctx)
	}
	if err != nil {
		planned.Notes = append(planned.Notes, fmt.Sprintf("which apps are held meanwhile is unknown: %v", err))
		return
	}
	for _, app := range distinctTexts(apps) {
		for _, signal := range upgradeSignals(sys, app) {
			hold, err := regulate.HoldForRun(b.State, sys, b.Journal, app, signal, "", "", "", o.env.Now())
			if err != nil {
				planned.Notes = append(planned.Notes, fmt.Sprintf("which apps are held while %s is changed is unknown: %v", app, err))
				continue
			}
			planned.Notes = append(planned.Notes, heldNotes(app, signal, hold)...)
		}
	}
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
		out = append(out, fmt.Sprintf("held (%s) while %s is changed: %s", signal, app, strings.Join(distinctTexts(held), ", ")))
	}
	for _, r := range hold.Refused {
		out = append(out, fmt.Sprintf("%s cannot be held while %s is changed: %s", r.App, app, r.Message))
	}
	return out
}

// hold sends one signal to the apps that need an app.
func (o *installOptions) hold(ctx context.Context, sys *system.System, installation install.Installation, app, signal string) (*heldRun, error) {
	acting, b, err := o.regulating(ctx, sys)
	if err != nil {
		return nil, err
	}
	r := &heldRun{acting, &regulator.HeldRun{
		Session: b, App: app, Signal: signal, Timeout: o.timeout, Apply: acting.applying(b),
		ID: "install-" + installation.Name + "-" + app, What: "kubectl sysop " + string(o.action) + " " + installation.Name,
	}}
	if err := r.Hold(ctx); err != nil {
		return nil, err
	}
	return r, r.printHeld(ctx)
}

// free waits until the app is Healthy, and recovers the apps that were held for it.
func (o *installOptions) free(ctx context.Context, r *heldRun) error {
	if err := r.Free(ctx, ctx); err != nil {
		return err
	}
	r.printLeft()
	if err := r.inspect(ctx); err != nil {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(err.Error()))
	}
	if r.Freed != nil && r.Freed.Outcome != nil && len(r.Freed.Outcome.Failed) > 0 {
		return fmt.Errorf("not all apps recovered: %s", r.Freed.Outcome.Failed[0].Result)
	}
	return nil
}
