package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/diff"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type diffOptions struct {
	*installOptions
	exitCode bool
}

func newDiff(env command.Env) *cobra.Command {
	o := &diffOptions{installOptions: newInstallOptions(env, install.Upgrade)}
	o.Formats = []string{"diff", "table", "json", "yaml", "name"}
	cmd := o.NewCommand("diff OPERATOR[@VERSION] | -f SYSTEM", cobra.ArbitraryArgs, o.completeInstallable(o.Common), o.run)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	o.puttingFlags(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if anything would change")
	return cmd
}

func (o *diffOptions) run(ctx context.Context, args []string) error {
	o.args = args
	o.yes, o.dryRun, o.timeout, o.wait = true, "client", defaultTimeout, true
	if err := o.check(); err != nil {
		return err
	}
	req, cats, err := o.wanted(ctx)
	if err != nil {
		return err
	}
	p, err := o.installer(cats).Plan(ctx, req)
	if err != nil {
		return err
	}
	all, err := p.Diff(ctx)
	if err != nil {
		return err
	}
	o.Notes(p.Planned.Notes)
	if o.Output == "diff" {
		err = diff.Write(o.Env.Out, all)
	} else {
		err = o.Write(view.InstallDiff(p.Installation, all))
	}
	if err == nil && len(all) > 0 && o.exitCode {
		return command.ErrNotFine
	}
	return err
}
