package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newMonitorApply(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Install)
	cmd := o.command("apply [ROOT...]", cobra.ArbitraryArgs, o.completeRoots, o.applyMonitoring)
	o.writingFlags(cmd)
	systemFlag(cmd, &o.file)
	cmd.Flags().BoolVar(&o.takeOwnership, "take-ownership", false, "take over objects of another release, field manager or controller (which may revert it)")
	return cmd
}

// applyMonitoring installs the objects of a plan as a System of their own.
func (o *installOptions) applyMonitoring(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	plan, err := o.monitoring(ctx, args, o.file)
	if err != nil {
		return err
	}
	sys, manifest, err := plan.System()
	if err != nil {
		return err
	}
	if err := o.named(sys.Name); err != nil {
		return err
	}
	if o.human() && !o.printRBAC {
		if err := o.write(view.MonitorPlan(plan)); err != nil {
			return err
		}
		o.monitorNotes(plan)
	}
	o.Config.Namespace = &sys.Namespace
	cats, err := o.catalogued(ctx, o.common)
	if err != nil {
		return err
	}
	o.confirmed = sys.Name // a monitor that is no longer needed holds no data
	req := o.request()
	req.System, req.Manifest, req.Wait = sys, manifest, true
	return o.change(ctx, cats, req)
}
