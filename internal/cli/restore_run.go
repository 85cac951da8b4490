package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type restoreRunOptions struct {
	*installOptions
	question restoreQuestion
}

func newRestoreRun(env Env) *cobra.Command {
	o := &restoreRunOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.command("run [NAME]", between(0, 1, "the NAME of a backup, or --file FILE"), o.completeSystem, o.run)
	o.writingFlags(cmd)
	o.catalogueFlags(cmd)
	o.question.flags(cmd)
	return cmd
}

func (o *restoreRunOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	r, err := o.question.plan(ctx, o.common, args)
	if err != nil {
		return err
	}
	if err := o.named(r.Name); err != nil {
		return err
	}
	replaced, err := o.question.replacement(ctx, o.common, r)
	if err != nil {
		return err
	}
	if o.human() && !o.printRBAC {
		if err := o.write(view.Restore(r)); err != nil {
			return err
		}
		o.tellRestore(r)
	}
	o.Config = o.Another(r.Namespace).Config // that of the backup was asked for, to read it
	req := o.request()
	req.Wait, req.System, req.Manifest, req.Secrets = true, r.System, r.Manifest, r.SecretObjects
	cats, err := o.load(ctx, o.common)
	if err != nil {
		return err
	}
	if replaced != nil {
		if agreed, err := o.replace(ctx, cats, replaced, req); err != nil || !agreed {
			return err
		}
	}
	return o.change(ctx, cats, req)
}

// replace deletes what the restore replaces, once all else is known to fit.
func (o *restoreRunOptions) replace(ctx context.Context, cats *catalogs.Catalogs, p *backups.Replacement, req installer.Request) (bool, error) {
	inst := o.installer(cats)
	if err := p.Try(ctx, inst, req); err != nil {
		return false, err
	}
	if o.dryRun != installer.DryRunNone || o.printRBAC {
		return o.printRBAC, nil
	}
	if !o.yes {
		if agreed, err := o.env.ask(ctx, fmt.Sprintf("delete %s of %s, and restore them. Do it?", object.Count(len(p.Restore.Replaced), "object"), p.Restore.Name)); err != nil || !agreed {
			return false, err
		}
	}
	return true, p.Delete(ctx, inst, o.timeout)
}
