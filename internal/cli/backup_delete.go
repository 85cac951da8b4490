package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type backupDeleteOptions struct {
	*installOptions
	retention backup.Retention
}

func newBackupDelete(env command.Env) *cobra.Command {
	o := &backupDeleteOptions{installOptions: newInstallOptions(env, install.Uninstall)}
	cmd := o.NewCommand("delete [NAME]", command.RangeArgs(0, 1, "the NAME of a backup, or --keep or --keep-for"), o.CompleteSystem, o.run)
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	retentionFlags(cmd, &o.retention, "without a NAME: delete")
	return cmd
}

func (o *backupDeleteOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(args) == 1 {
		return o.delete(ctx, args[0])
	}
	if err := checkRetention(o.retention); err != nil {
		return err
	}
	if o.retention == (backup.Retention{}) {
		return hint.With(errors.New("name a backup, or which ones are kept: --keep or --keep-for"), "kubectl sysop backup list lists them")
	}
	in := o.Input
	expired, err := backups.Expired(ctx, &in, o.retention, nil)
	if err != nil {
		return err
	}
	if err := o.Write(view.Backups(expired, o.Env.Now())); err != nil || len(expired) == 0 {
		return err
	}
	if agreed, err := o.agreedToAll(ctx, len(expired)); err != nil || !agreed {
		return err
	}
	o.yes = true
	for _, p := range expired {
		o.confirmed = p.Name
		if err := o.delete(ctx, p.Name); err != nil {
			return err
		}
	}
	return nil
}

// agreedToAll asks once for all backups that a retention does not keep.
func (o *backupDeleteOptions) agreedToAll(ctx context.Context, n int) (bool, error) {
	if o.dryRun != "none" || o.yes {
		return o.dryRun == "none", nil
	}
	return o.Env.Confirm(ctx, fmt.Sprintf("delete %s with the data. Do it?", object.Count(n, "backup")))
}

// delete uninstalls the System that a backup is.
func (o *backupDeleteOptions) delete(ctx context.Context, name string) error {
	in := o.Input
	p, err := backups.Read(ctx, &in, name)
	if err != nil {
		return err
	}
	if err := backups.CheckInstalled(ctx, &in, p); err != nil {
		return err
	}
	if o.confirmed == "" {
		o.confirmed = askName
	}
	if err := o.named(name); err != nil {
		return err
	}
	req := o.request()
	req.Name, req.DeleteData = p.Name, false // only what the backup created
	if err := o.changeNamed(ctx, req); err != nil {
		return err
	}
	if o.dryRun != "none" || o.printRBAC {
		return nil
	}
	return backups.Forget(ctx, &in, p)
}
