package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type rollbackOptions struct {
	*installOptions
	name       string
	unfinished bool
}

func newRollback(env command.Env) *cobra.Command {
	o := &rollbackOptions{installOptions: newInstallOptions(env, install.Rollback)}
	cmd := o.NewCommand("rollback NAME [REVISION]", cobra.RangeArgs(1, 2), o.CompleteWith(completion.Only(completion.Installed)), o.run)
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "remove operators installed since, even if their dependents are unknown")
	cmd.Flags().BoolVar(&o.unfinished, "unfinished", false, "only undo a run that was killed")
	return cmd
}

func (o *rollbackOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	o.name = args[0]
	if err := o.named(o.name); err != nil {
		return err
	}
	req := o.request()
	req.Name = o.name
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return hint.With(fmt.Errorf("%q is not a revision", args[1]), "kubectl sysop history "+o.name+" shows them")
		}
		req.Revision = n
	}
	if o.unfinished {
		return o.endOpen(ctx, req)
	}
	return o.changeNamed(ctx, req)
}

// endOpen undoes the run that did not finish, if its process died.
func (o *rollbackOptions) endOpen(ctx context.Context, req installer.Request) error {
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	user := &installUser{o.installOptions, cats}
	open, err := o.installer(cats).Unfinished(ctx, req, user)
	switch {
	case err != nil:
		return err
	case !open.Open:
		fmt.Fprintf(o.Env.ErrOut, "%s has no unfinished run\n", command.Safe(open.Installation.Name))
		return nil
	case o.printRBAC:
		return o.writeRoles(open.Roles)
	case o.dryRun != "none" || open.Recovery == nil:
		return nil
	}
	outcome, report, err := open.Recovery.Undo(ctx, user)
	if err == nil && outcome == install.RecoveredDone {
		fmt.Fprintf(o.Env.ErrOut, "%s: all steps of the %s were done, there is nothing to undo\n", command.Safe(open.Installation.Name), report.Action)
		return nil
	}
	return o.finish(open.Installation, report, err)
}

func newHistory(env command.Env) *cobra.Command {
	o := newInstallOptions(env, "")
	cmd := o.NewCommand("history NAME", command.ExactArgs(1, "the NAME of an operator, or of a System"), o.CompleteWith(completion.Only(completion.Installed)), o.history)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	o.findingFlags(cmd)
	return cmd
}

func (o *installOptions) history(ctx context.Context, args []string) error {
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	journal, alive, err := o.installer(cats).History(ctx, args[0])
	if err != nil {
		return err
	}
	return o.Write(view.InstallHistory(journal, alive, o.Env.Now()))
}
