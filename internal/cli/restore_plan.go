package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type restorePlanOptions struct {
	*command.Common
	question restoreQuestion
}

func newRestorePlan(env command.Env) *cobra.Command {
	o := &restorePlanOptions{Common: command.NewCommon(env, "table", "json", "yaml", "name")}
	cmd := o.NewCommand("plan [NAME]", command.RangeArgs(0, 1, "the NAME of a backup, or --file FILE"), o.CompleteSystem, func(ctx context.Context, args []string) error {
		r, _, err := o.question.plan(ctx, o.Common, args, false)
		if err != nil {
			return err
		}
		if err := o.Write(view.Restore(r)); err != nil {
			return err
		}
		tellRestore(o.Common, r)
		return nil
	})
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	o.question.flags(cmd)
	return cmd
}
