package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// retentionFlags adds the flags of which older backups are kept.
func retentionFlags(cmd *cobra.Command, r *backup.Retention) {
	f := cmd.Flags()
	f.IntVar(&r.Keep, "keep", 0, "then delete all but this many backups of the same source; the newest complete one of each object stays")
	f.DurationVar(&r.OlderThan, "keep-for", 0, "then delete backups of the same source of more than this age (720h); the newest complete one of each object stays")
}

func checkRetention(r backup.Retention) error {
	switch {
	case r.Keep < 0:
		return fmt.Errorf("--keep %d: expected at least 1", r.Keep)
	case r.OlderThan < 0:
		return fmt.Errorf("--keep-for %s: expected more than 0", r.OlderThan)
	}
	return nil
}

// prune deletes the backups of the source of p that the retention does not keep, each as backup
// delete does.
func (o *backupRunOptions) prune(ctx context.Context, p *backup.Plan) error {
	if o.retention == (backup.Retention{}) {
		return nil
	}
	in := o.Input
	in.Config.Namespace = &p.Namespace
	all, err := backups.List(ctx, &in)
	if err != nil {
		return fmt.Errorf("the backup %s is complete, and the older ones could not be listed: %w", p.Name, err)
	}
	all = slices.DeleteFunc(all, func(b *backup.Plan) bool { return b.Source != p.Source })
	var errs []error
	for _, old := range o.retention.Expired(all, o.Env.Now()) {
		d := &backupDeleteOptions{installOptions: newInstallOptions(o.Env, install.Uninstall)}
		d.ConnectAs(&in)
		d.Config.Namespace = &p.Namespace
		d.Output, d.yes, d.dryRun, d.timeout, d.confirmed = "table", true, "none", o.timeout, old.Name
		fmt.Fprintf(o.Env.ErrOut, "deleting the backup %s of %s\n", command.Safe(old.Name), old.Time.Format(time.RFC3339))
		if err := d.delete(ctx, old.Name); err != nil {
			errs = append(errs, fmt.Errorf("delete the backup %s: %w", old.Name, err))
		}
	}
	return errors.Join(errs...)
}
