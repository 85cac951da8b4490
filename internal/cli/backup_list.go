package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newBackupList(env Env) *cobra.Command {
	o := newCommon(env, "table", "json", "yaml", "name")
	cmd := o.command("list", cobra.NoArgs, cobra.NoFileCompletions, func(ctx context.Context, _ []string) error {
		all, err := backups.List(ctx, &o.Input)
		if err != nil {
			return err
		}
		schedules, err := backups.Schedules(ctx, &o.Input)
		if err != nil {
			return err
		}
		if err := o.write(view.Backups(all, o.env.Now(), schedules...)); err != nil {
			return err
		}
		if !o.human() {
			return nil
		}
		for i := range schedules {
			o.say(schedules[i].Text())
		}
		if len(all) == 0 {
			fmt.Fprintln(o.env.ErrOut, "no backups found")
		}
		return nil
	})
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}

func newBackupShow(env Env) *cobra.Command {
	o := newCommon(env, "table", "json", "yaml", "name")
	cmd := o.command("show NAME", exactly(1, "the NAME of a backup"), o.completeSystem, func(ctx context.Context, args []string) error {
		p, err := backups.Read(ctx, &o.Input, args[0])
		if err != nil {
			return err
		}
		if err := o.write(view.Backup(p)); err != nil {
			return err
		}
		o.notes(p.Notes)
		if o.human() {
			fmt.Fprintln(o.env.ErrOut, safe(view.VerifiedText(p)))
		}
		return nil
	})
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}
