package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newBackupList(env command.Env) *cobra.Command {
	o := command.NewCommon(env, "table", "json", "yaml", "name")
	cmd := o.NewCommand("list", cobra.NoArgs, cobra.NoFileCompletions, func(ctx context.Context, _ []string) error {
		all, err := backups.List(ctx, &o.Input)
		if err != nil {
			return err
		}
		schedules, err := backups.Schedules(ctx, &o.Input)
		if err != nil {
			return err
		}
		if err := o.Write(view.Backups(all, o.Env.Now(), schedules...)); err != nil {
			return err
		}
		if !o.ForPeople() {
			return nil
		}
		for i := range schedules {
			o.Say(schedules[i].Text())
		}
		if len(all) == 0 {
			fmt.Fprintln(o.Env.ErrOut, "no backups found")
		}
		return nil
	})
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	return cmd
}

func newBackupShow(env command.Env) *cobra.Command {
	o := command.NewCommon(env, "table", "json", "yaml", "name")
	cmd := o.NewCommand("show NAME", command.ExactArgs(1, "the NAME of a backup"), o.CompleteSystem, func(ctx context.Context, args []string) error {
		p, err := backups.Read(ctx, &o.Input, args[0])
		if err != nil {
			return err
		}
		if err := o.Write(view.Backup(p)); err != nil {
			return err
		}
		o.Notes(p.Notes)
		if o.ForPeople() {
			fmt.Fprintln(o.Env.ErrOut, command.Safe(view.VerifiedText(p)))
		}
		return nil
	})
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	return cmd
}
