package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
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
		var held []*regulateRun
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
func (o holder) regulating(ctx context.Context, sys *system.System) (*applyOptions, *systemSession, error) {
	acting := newActing(o.env, "table")
	acting.Clock, acting.output = o.Clock, "table"
	connectAs(acting.common, o.common)
	acting.yes, acting.dryRun, acting.lease = true, "none", installLease
	l, err := acting.lookAt(ctx, sys)
	if err != nil {
		return nil, nil, err
	}
	b := &systemSession{systemView: l, o: acting.regulateOptions}
	return acting, b, b.connect()
}

// hold sends one signal to the apps that need an app.
func (o holder) hold(ctx context.Context, sys *system.System, installation install.Installation, app, signal string) (*regulateRun, error) {
	acting, b, err := o.regulating(ctx, sys)
	if err != nil {
		return nil, err
	}
	acting.app = app
	r := &regulateRun{
		o: &regulateRunOptions{applyOptions: acting, signal: signal, timeout: o.timeout}, b: b,
		id: "install-" + installation.Name + "-" + app, what: "kubectl sysop " + string(o.action) + " " + installation.Name,
	}
	if r.held, err = acting.confirmAndApply(ctx, b, r.hold); err != nil {
		return nil, err
	}
	return r, r.tellHeld(ctx)
}

// free waits until the app is Healthy, and recovers the apps that were held for it.
func (o holder) free(ctx context.Context, r *regulateRun) error {
	if err := r.free(ctx, ctx); err != nil {
		return err
	}
	r.tellLeft()
	if err := r.look(ctx); err != nil {
		fmt.Fprintf(o.env.ErrOut, "note: %s\n", safe(err.Error()))
	}
	if r.freed != nil && r.freed.out != nil && len(r.freed.out.Failed) > 0 {
		return fmt.Errorf("not all apps recovered: %s", r.freed.out.Failed[0].Result)
	}
	return nil
}
