package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type restorePlanOptions struct {
	*common
	question restoreQuestion
}

func newRestorePlan(env Env) *cobra.Command {
	o := &restorePlanOptions{common: newCommon(env, "table", "json", "yaml", "name")}
	cmd := o.command("plan [NAME]", between(0, 1, "the NAME of a backup, or --file FILE"), o.completeSystem, func(ctx context.Context, args []string) error {
		r, _, err := o.question.plan(ctx, o.common, args, false)
		if err != nil {
			return err
		}
		if err := o.write(view.Restore(r)); err != nil {
			return err
		}
		o.tellRestore(r)
		return nil
	})
	o.connecting(cmd)
	o.writing(cmd)
	o.question.flags(cmd)
	return cmd
}
