package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// replace deletes what exists, once the permissions and the plans of all were reviewed and confirmed;
// done says that a restore cannot be planned before that.
func (o *restoreRunOptions) replace(ctx context.Context, cats *catalogs.Catalogs, r *backup.Restore, req installer.Request) (done bool, err error) {
	in := o.Input
	needed, err := backups.ReplacePermissions(ctx, &in, r)
	if err != nil {
		return true, err
	}
	user, gone := o.uninstalling(cats, r)
	if r.Installed {
		more, err := user.installer(cats).Permissions(ctx, gone)
		if err != nil {
			return true, err
		}
		needed = append(needed, more...)
	}
	if o.printRBAC {
		return false, o.writeRoles(permission.Role("sysop-replace-"+r.Name, needed))
	}
	n, err := o.refuseReplace(ctx, cats, r, req, user, gone)
	if err != nil {
		return true, err
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
		agreed, err := o.Env.Confirm(ctx, fmt.Sprintf("delete %s of %s with the data, and restore the backup %s. Do it?", object.Count(n, "object"), r.Name, r.Backup))
		if err != nil || !agreed {
			return true, err
		}
		o.yes = true // the question was about the restore, too
	}
	if r.Installed {
		if err := user.changeAs(ctx, cats, gone, user); err != nil {
			return true, fmt.Errorf("delete what exists of %s: %w", r.Name, err)
		}
	}
	bounded, stop := context.WithTimeout(ctx, o.timeout)
	defer stop()
	return false, backups.Replace(bounded, &in, r)
}

// uninstalling is the uninstall of an installed System. Its plan is no part of the output.
func (o *restoreRunOptions) uninstalling(cats *catalogs.Catalogs, r *backup.Restore) (*replacingUser, installer.Request) {
	env := o.Env
	env.Out = env.ErrOut
	u := newInstallOptions(env, install.Uninstall)
	u.ConnectAs(&o.Input)
	u.Config.Namespace = &r.Namespace
	u.Output, u.yes, u.dryRun, u.timeout, u.confirmed = "table", true, o.dryRun, o.timeout, r.Name
	u.progress, u.noWait = o.progress, o.noWait
	gone := u.request()
	gone.Name = r.Name
	return &replacingUser{installUser: &installUser{u, cats}, restore: r}, gone
}

// refuseReplace refuses what would delete more than is restored, and what the restore would be refused
// for after that. It returns how many objects are deleted.
func (o *restoreRunOptions) refuseReplace(ctx context.Context, cats *catalogs.Catalogs, r *backup.Restore, req installer.Request, user *replacingUser, gone installer.Request) (int, error) {
	next, err := o.installer(cats).Plan(ctx, req)
	if err != nil {
		return 0, err
	}
	backups.DropReplaced(r, next.Planned)
	if err := next.Refused(); err != nil || !r.Installed {
		return len(r.Replaced), err
	}
	user.next = next.Planned
	p, err := user.installer(cats).Plan(ctx, gone)
	if err != nil {
		return 0, err
	}
	more, err := backups.RefuseUninstall(r, p.Planned, next.Planned)
	if err != nil {
		return 0, err
	}
	for _, ref := range more {
		o.Warn(ref.String() + " is deleted with the installation first")
	}
	return len(r.Replaced) + len(more), cmp.Or(p.Refused(), p.Releasable(ctx))
}

// replacingUser refuses what came to an installation after the question.
type replacingUser struct {
	*installUser
	restore *backup.Restore
	next    *install.Plan
}

func (u *replacingUser) Confirm(ctx context.Context, p *installer.Plan, losses []object.Ref) (bool, error) {
	if _, err := backups.RefuseUninstall(u.restore, p.Planned, u.next); err != nil {
		return false, err
	}
	return u.installUser.Confirm(ctx, p, losses)
}
