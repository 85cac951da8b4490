package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
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
	p, req, err := o.planned(ctx, args)
	if err != nil {
		return errors.Join(err, o.abandon(ctx))
	}
	if o.printRBAC {
		return o.writeRunRoles(ctx, p, req)
	}
	fmt.Fprintf(o.Env.ErrOut, "backup %s; if this is interrupted, --name %[1]s --delete-data=%[1]s continues it\n", command.Safe(p.Name))
	if err := o.saved(ctx, p, req); err != nil || o.dryRun != "none" {
		return err
	}
	if err := o.save(ctx, p, recipients); err != nil {
		return err
	}
	return o.prune(ctx, p)
}

// planned plans a backup, and the installation of its objects.
func (o *backupRunOptions) planned(ctx context.Context, args []string) (*backup.Plan, installer.Request, error) {
	in, req := o.Input, o.request() // installing reads with fresh questions
	p, err := o.question.plan(ctx, o.Common, &o.catalogueOptions, args, o.name)
	if err != nil {
		return nil, req, err
	}
	o.Input = in
	if err := o.named(p.Name); err != nil {
		return nil, req, err
	}
	if o.ForPeople() && !o.printRBAC {
		if err := o.Write(view.Backup(p)); err != nil {
			return nil, req, err
		}
		tellPlan(o.Common, p)
	}
	req.Wait, req.SameRun = true, p.Record != ""
	req.System, req.Manifest, err = backups.System(p)
	return p, req, err
}

// abandon recovers what a killed run of this backup stopped, when this one comes to an end before it saves.
func (o *backupRunOptions) abandon(ctx context.Context) error {
	if o.quiesce == nil || o.dryRun != "none" || o.printRBAC {
		return nil
	}
	o.quiesce.Released = o.released
	return o.quiesce.End(ctx, false)
}

func (o *backupRunOptions) released(p *regulator.Pause) {
	o.Say(fmt.Sprintf("recovered after %s: %s", p.Ended.Sub(p.Began).Round(time.Second/10), listOr(p.Apps, "no app")))
}

// checkRun checks the flags of a run that a schedule has as well.
func (o *backupRunOptions) checkRun() error {
	if o.pause <= 0 {
		return fmt.Errorf("--pause-at-most %s: expected more than 0", o.pause)
	}
	return checkRetention(o.retention)
}
