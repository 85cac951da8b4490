package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

type releaseOptions struct {
	keepingOptions
	force bool
}

func newSystemRelease(env Env) *cobra.Command {
	o := &releaseOptions{keepingOptions: keepingOptions{common: newCommon(env, "table", "json", "yaml", "name")}}
	cmd := o.command("release NAME", exactly(1, "the NAME of a System"), o.completeSystem, o.run)
	o.connecting(cmd)
	o.writing(cmd)
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "also while regulation holds an application, which then stays held")
	return cmd
}

func (o *releaseOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	change, err := systems.Release(ctx, &o.Input, systems.ReleaseRequest{Name: args[0], Force: o.force, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	return o.apply(ctx, change, "release", "is no longer adopted")
}
