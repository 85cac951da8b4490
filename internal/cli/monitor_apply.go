package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newMonitorApply(env command.Env) *cobra.Command {
	o := newInstallOptions(env, install.Install)
	cmd := o.NewCommand("apply [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.applyMonitoring)
	o.writingFlags(cmd)
	command.AddSystemFlag(cmd, &o.file)
	cmd.Flags().BoolVar(&o.takeOwnership, "take-ownership", false, "take over objects of another release, field manager or controller (which may revert it)")
	return cmd
}

// applyMonitoring installs the objects of a plan as a System of their own.
func (o *installOptions) applyMonitoring(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	plan, err := monitoringPlan(ctx, o.Common, args, o.file)
	if err != nil {
		return err
	}
	objects := plan.Manifests()
	if len(objects) == 0 {
		return hint.With(fmt.Errorf("nothing can be made for %s", plan.Name), "kubectl sysop monitor plan shows why")
	}
	sys, manifest, err := installer.Generated(plan.Installation, plan.Namespace, "monitors, alerts and dashboard of "+plan.Name, "monitors", objects)
	if err != nil {
		return err
	}
	if err := o.named(sys.Name); err != nil {
		return err
	}
	if o.ForPeople() && !o.printRBAC {
		if err := o.Write(view.MonitorPlan(plan)); err != nil {
			return err
		}
		monitorNotes(o.Common, plan)
	}
	o.Config.Namespace = &sys.Namespace
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	req := o.request()
	req.System, req.Manifest, req.Wait = sys, manifest, true
	return o.change(ctx, cats, req)
}
