package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

type adoptOptions struct {
	keepingOptions
	file string
}

func newSystemAdopt(env command.Env) *cobra.Command {
	o := &adoptOptions{keepingOptions: keepingOptions{Common: command.NewCommon(env, "table", "json", "yaml", "name")}}
	cmd := o.NewCommand("adopt -f FILE", cobra.NoArgs, cobra.NoFileCompletions, o.run)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	o.flags(cmd)
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", `the manifest: FILE or "-"`)
	return cmd
}

func (o *adoptOptions) run(ctx context.Context, _ []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.file == "" {
		return hint.With(errors.New("name the manifest: -f FILE"), "kubectl sysop system init writes one")
	}
	change, err := systems.Adopt(ctx, &o.Input, systems.AdoptRequest{File: o.file, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	if change.Count() == 0 {
		if err := o.show(change, "adopt"); err != nil {
			return err
		}
		fmt.Fprintf(o.Env.ErrOut, "%s is up to date: nothing to do\n", command.Safe(change.Set.Name))
		return nil
	}
	return o.apply(ctx, change, "adopt", "is adopted: system/"+change.Set.Name+" is a root")
}

type releaseOptions struct {
	keepingOptions
	force bool
}

func newSystemRelease(env command.Env) *cobra.Command {
	o := &releaseOptions{keepingOptions: keepingOptions{Common: command.NewCommon(env, "table", "json", "yaml", "name")}}
	cmd := o.NewCommand("release NAME", command.ExactArgs(1, "the NAME of a System"), o.CompleteSystem, o.run)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
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
