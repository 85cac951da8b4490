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
	cmd := &cobra.Command{
		Use:               "release NAME",
		Args:              exactly(1, "the NAME of a System"),
		ValidArgsFunction: o.completeSystem,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "also while regulation holds an application, which then stays held")
	return cmd
}

func (o *releaseOptions) run(ctx context.Context, name string) error {
	if err := o.validate(); err != nil {
		return err
	}
	change, err := systems.Release(ctx, &o.Input, systems.ReleaseRequest{Name: name, Force: o.force, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	return o.apply(ctx, change, "release", "is no longer adopted")
}
