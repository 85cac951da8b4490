package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// replace deletes what exists, once the permissions of all were reviewed; done says that a restore
// cannot be planned before that.
func (o *restoreRunOptions) replace(ctx context.Context, cats *catalogs.Catalogs, r *backup.Restore, req installer.Request) (done bool, err error) {
	in := o.Input
	needed, err := backups.ReplacePermissions(ctx, &in, r)
	if err != nil {
		return true, err
	}
	if o.printRBAC {
		return false, o.writeRoles(permission.Role("sysop-replace-"+r.Name, needed))
	}
	if o.dryRun != "none" {
		o.Note("what is restored after that can be tried once it is deleted")
		return true, nil
	}
	restoring, err := o.installer(cats).Permissions(ctx, req)
	if err != nil {
		return true, err
	}
	if err := o.review(ctx, append(needed, restoring...)); err != nil {
		return true, err
	}
	if !o.yes {
		agreed, err := o.Env.Confirm(ctx, fmt.Sprintf("delete %s of %s with the data, and restore the backup %s. Do it?", object.Count(len(r.Replaced), "object"), r.Name, r.Backup))
		if err != nil || !agreed {
			return true, err
		}
	}
	if r.Installed {
		u := newInstallOptions(o.Env, install.Uninstall)
		u.ConnectAs(&in)
		u.Config.Namespace = &r.Namespace
		u.Output, u.yes, u.dryRun, u.timeout, u.confirmed = "table", true, "none", o.timeout, r.Name
		gone := u.request()
		gone.Name, gone.DeleteData = r.Name, true
		if err := u.changeNamed(ctx, gone); err != nil {
			return true, fmt.Errorf("delete what exists of %s: %w", r.Name, err)
		}
	}
	bounded, stop := context.WithTimeout(ctx, o.timeout)
	defer stop()
	return false, backups.Replace(bounded, &in, r)
}

// review returns an error if a permission is missing.
func (o *restoreRunOptions) review(ctx context.Context, needed []permission.Permission) error {
	config, err := o.Config.ToRESTConfig()
	if err != nil {
		return err
	}
	missing, err := permission.Review(ctx, config, needed)
	if unknown, ok := errors.AsType[*permission.UnknownError](err); ok {
		o.Note(unknown.Error())
	} else if err != nil {
		return err
	}
	return permission.Refuse(missing)
}
