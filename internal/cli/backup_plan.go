package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type backupPlanOptions struct {
	*command.Common
	catalogueOptions
	question backupQuestion
	prices   string
}

func newBackupPlan(env command.Env) *cobra.Command {
	o := &backupPlanOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("plan [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.findingFlags(cmd)
	o.question.flags(cmd, o.Common)
	metricscmd.PricesFlag(cmd, &o.prices)
	return cmd
}

func (o *backupPlanOptions) run(ctx context.Context, args []string) error {
	book, err := app.ReadPrices(ctx, o.prices)
	if err != nil {
		return err
	}
	p, err := o.question.plan(ctx, o.Common, &o.catalogueOptions, args, "")
	if p != nil {
		backups.AddPrices(p, book)
		if wrong := o.Write(view.Backup(p)); wrong != nil {
			return wrong
		}
		tellPlan(o.Common, p)
		if o.ForPeople() {
			fmt.Fprintln(o.Env.ErrOut, command.Safe(p.Source+": "+view.BackupSummary(p)))
		}
	}
	return err
}
