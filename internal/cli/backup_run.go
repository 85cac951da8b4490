package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type backupRunOptions struct {
	*installOptions
	question backupQuestion
	name     string
	out      backupFileOptions
	// pause is how long apps are stopped at most, and retention which older backups are kept.
	pause     time.Duration
	retention backup.Retention
	quiesce   *backups.Quiesce // nil for another consistency
}

func newBackupRun(env command.Env) *cobra.Command {
	o := &backupRunOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.NewCommand("run [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	o.question.flags(cmd, o.Common)
	cmd.Flags().StringVar(&o.name, "name", "", "the NAME of the backup, to continue a run that was killed (default: the source and the time)")
	o.out.flags(cmd)
	pauseFlag(cmd, &o.pause)
	retentionFlags(cmd, &o.retention, "then delete, of the backups of the same source,")
	return cmd
}

func (o *backupRunOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.checkRun(); err != nil {
		return err
	}
	recipients, err := o.out.recipients()
	if err != nil {
		return err
	}
	if err := o.prepare(ctx, args); err != nil {
		return err
	}
	in := o.Input // installing reads with fresh questions
	p, err := o.question.plan(ctx, o.Common, &o.catalogueOptions, args, o.name)
	if err != nil {
		return err
	}
	o.Input = in
	if err := o.named(p.Name); err != nil {
		return err
	}
	if o.ForPeople() && !o.printRBAC {
		if err := o.Write(view.Backup(p)); err != nil {
			return err
		}
		tellPlan(o.Common, p)
	}
	req := o.request()
	req.Wait, req.SameRun = true, p.Record != ""
	if req.System, req.Manifest, err = backups.System(p); err != nil {
		return err
	}
	fmt.Fprintf(o.Env.ErrOut, "backup %s; if this is interrupted, --name %[1]s --delete-data=%[1]s continues it\n", command.Safe(p.Name))
	if err := o.saved(ctx, p, req); err != nil || o.dryRun != "none" {
		return err
	}
	if o.printRBAC {
		return o.writeRetentionRoles(ctx, req)
	}
	if err := o.save(ctx, p, recipients); err != nil {
		return err
	}
	return o.prune(ctx, p)
}

// checkRun checks the flags of a run that a schedule has as well.
func (o *backupRunOptions) checkRun() error {
	if o.pause <= 0 {
		return fmt.Errorf("--pause-at-most %s: expected more than 0", o.pause)
	}
	return checkRetention(o.retention)
}
