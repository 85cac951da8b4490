package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

type restoreRunOptions struct {
	*installOptions
	question restoreQuestion
}

func newRestoreRun(env command.Env) *cobra.Command {
	o := &restoreRunOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.NewCommand("run [NAME]", command.RangeArgs(0, 1, "the NAME of a backup, or --file FILE"), o.CompleteSystem, o.run)
	o.writingFlags(cmd)
	o.catalogueFlags(cmd)
	o.question.flags(cmd)
	return cmd
}

func (o *restoreRunOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	r, stamp, err := o.question.plan(ctx, o.Common, args, true)
	if err != nil {
		return err
	}
	if err := o.named(r.Name); err != nil {
		return err
	}
	if o.ForPeople() && !o.printRBAC {
		if err := o.Write(view.Restore(r)); err != nil {
			return err
		}
		tellRestore(o.Common, r)
	}
	o.Config = o.Another(r.Namespace).Config // that of the backup was asked for, to read it
	req := o.request()
	req.Wait, req.System, req.Manifest, req.Secrets = true, r.System, r.Manifest, r.SecretObjects
	req.Stamp, req.Unstamped = stamp, r.Unstamped(stamp)
	cats, err := o.load(ctx, o.Common)
	if err != nil {
		return err
	}
	if len(r.Replaced) > 0 || r.Installed {
		if done, err := o.replace(ctx, cats, r, req); done || err != nil {
			return err
		}
	}
	return o.change(ctx, cats, req)
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
