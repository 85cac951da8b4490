package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

func newMonitorRemove(env command.Env) *cobra.Command {
	o := newInstallOptions(env, install.Uninstall)
	cmd := o.NewCommand("remove [ROOT]", command.RangeArgs(0, 1, "one ROOT or the NAME of a System, or none and -f SYSTEM"), o.CompleteRoots, o.removeMonitoring)
	o.writingFlags(cmd)
	command.AddSystemFlag(cmd, &o.file)
	return cmd
}

// removeMonitoring uninstalls the System of the monitors.
func (o *installOptions) removeMonitoring(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := checkMonitored(args, o.file); err != nil {
		return err
	}
	var name string
	if o.file == "" {
		var err error
		if name, err = monitoring.Installation(ctx, &o.Input, args[0]); err != nil {
			return hint.With(err, "write it as in monitor apply: TYPE/NAME, or system/NAME")
		}
	} else {
		sys, err := systems.Read(ctx, &o.Input, o.file)
		if err != nil {
			return err
		}
		if err := systems.Enter(&o.Input, sys); err != nil {
			return err
		}
		name = monitor.Installation(sys.Name)
	}
	if err := o.named(name); err != nil {
		return err
	}
	req := o.request()
	req.Name = name
	return o.changeNamed(ctx, req)
}
