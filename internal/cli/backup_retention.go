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
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// retentionFlags adds the flags of which backups are kept; when is the start of their help.
func retentionFlags(cmd *cobra.Command, r *backup.Retention, when string) {
	f := cmd.Flags()
	f.IntVar(&r.Keep, "keep", 0, when+" all but this many of each source; the newest complete one of each object stays")
	f.DurationVar(&r.KeepFor, "keep-for", 0, when+" those of more than this age (720h); the newest complete one of each object stays")
}

func checkRetention(r backup.Retention) error {
	switch {
	case r.Keep < 0:
		return fmt.Errorf("--keep %d: expected at least 1", r.Keep)
	case r.KeepFor < 0:
		return fmt.Errorf("--keep-for %s: expected more than 0", r.KeepFor)
	}
	return nil
}

// writeRunRoles writes the roles that a run needs, also to stop apps and to delete older backups.
func (o *backupRunOptions) writeRunRoles(ctx context.Context, p *backup.Plan, req installer.Request) error {
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	roles, needed, err := o.installer(cats).Roles(ctx, req, &installUser{o.installOptions, cats})
	if err != nil {
		return err
	}
	if o.quiesce != nil {
		o.quiesce.Copy(p)
		paused, err := o.quiesce.Pause().Permissions(ctx)
		if err != nil {
			return err
		}
		roles = append(roles, permission.Role(p.Name+"-pause", paused)...)
	}
	if o.retention != (backup.Retention{}) {
		roles = append(roles, backups.RetentionRoles(installer.RoleName(req.System.Name), needed)...)
	}
	return o.writeRoles(roles)
}

// prune deletes the backups of the source of p that the retention does not keep, each as backup
// delete does.
func (o *backupRunOptions) prune(ctx context.Context, p *backup.Plan) error {
	if o.retention == (backup.Retention{}) {
		return nil
	}
	in := o.Input
	in.Config.Namespace = &p.Namespace
	expired, err := backups.Expired(ctx, &in, o.retention, p)
	if err != nil {
		return fmt.Errorf("the backup %s is complete, and the older ones could not be listed: %w", p.Name, err)
	}
	var errs []error
	for _, old := range expired {
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
