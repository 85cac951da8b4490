package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// installLease is how long an upgrade that died keeps others out of regulation.
const installLease = 15 * time.Second

// holder holds dependents by regulation, as an installer needs it. The runs that hold are known by
// the name of the installation: who continues a killed upgrade ends them.
type holder struct{ *installOptions }

// Hold holds the dependents of an app of a System while it is upgraded.
func (o holder) Hold(sys *system.System, installation install.Installation) installer.HoldFunc {
	return func(ctx context.Context, p *install.Part) (func(context.Context) error, error) {
		var held []*heldRun
		letGo := func(ctx context.Context) error {
			var errs []error
			for _, r := range slices.Backward(held) {
				errs = append(errs, o.free(ctx, r))
			}
			return errors.Join(errs...)
		}
		for _, app := range installer.AppsOf(sys, p) {
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
func (o holder) regulating(ctx context.Context, sys *system.System) (*applyOptions, *regulator.Session, error) {
	acting := newActing(o.env, "table")
	acting.Clock, acting.output = o.Clock, "table"
	acting.ConnectAs(&o.Input)
	acting.progress = o.progress
	acting.yes, acting.dryRun, acting.lease = true, "none", installLease
	b, err := regulator.OpenSystem(ctx, &acting.Input, sys, acting.request(""))
	return acting, b, err
}

// hold sends one signal to the apps that need an app.
func (o holder) hold(ctx context.Context, sys *system.System, installation install.Installation, app, signal string) (*heldRun, error) {
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
func (o holder) free(ctx context.Context, r *heldRun) error {
	if err := r.Free(ctx, ctx); err != nil {
		return err
	}
	o.say(summary.Left(r.HeldRun)...)
	if err := r.inspect(ctx); err != nil {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(err.Error()))
	}
	if r.Freed != nil && r.Freed.Outcome != nil && len(r.Freed.Outcome.Failed) > 0 {
		return fmt.Errorf("not all apps recovered: %s", r.Freed.Outcome.Failed[0].Result)
	}
	return nil
}
