package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

type autoscaleRemoveOptions struct {
	*installOptions
	autoscaleOptions
}

func newAutoscaleRemove(env command.Env) *cobra.Command {
	o := &autoscaleRemoveOptions{installOptions: newInstallOptions(env, install.Uninstall)}
	cmd := o.NewCommand("remove [ROOT... | -f SYSTEM]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.writingFlags(cmd)
	o.namingFlags(cmd)
	return cmd
}

func (o *autoscaleRemoveOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	ask, err := o.autoscaleOptions.request(ctx, o.Common, args)
	if err != nil {
		return err
	}
	req := o.installOptions.request()
	if req.Name, err = autoscaler.NameIn(&o.Input, ask); err != nil {
		return err
	}
	return o.changeNamed(ctx, req)
}
