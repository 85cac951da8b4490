package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type backupRunOptions struct {
	*installOptions
	question backupQuestion
	name     string
	out      backupFileOptions
}

func newBackupRun(env Env) *cobra.Command {
	o := &backupRunOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.command("run [ROOT...]", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	o.question.flags(cmd, o.common)
	cmd.Flags().StringVar(&o.name, "name", "", "the NAME of the backup, to continue a run that was killed (default: the source and the time)")
	o.out.flags(cmd)
	return cmd
}

func (o *backupRunOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	recipients, err := o.out.recipients()
	if err != nil {
		return err
	}
	in := o.Input // installing reads with fresh questions
	p, err := o.question.plan(ctx, o.common, &o.catalogueOptions, args, o.name)
	if err != nil {
		return err
	}
	o.Input = in
	if err := o.named(p.Name); err != nil {
		return err
	}
	if o.human() && !o.printRBAC {
		if err := o.write(view.Backup(p)); err != nil {
			return err
		}
		o.tellPlan(p)
	}
	req := o.request()
	req.Wait = true
	if req.System, req.Manifest, err = backups.System(p); err != nil {
		return err
	}
	fmt.Fprintf(o.env.ErrOut, "backup %s; if this is interrupted, --name %[1]s --delete-data=%[1]s continues it\n", safe(p.Name))
	if err := o.changeNamed(ctx, req); err != nil || o.dryRun != "none" || o.printRBAC {
		return err
	}
	return o.save(ctx, p, recipients)
}

// save checks that all parts are saved, and writes the file.
func (o *backupRunOptions) save(ctx context.Context, p *backup.Plan, recipients backup.Recipients) error {
	in := o.Input
	in.Config.Namespace = &p.Namespace
	result, err := backups.Read(ctx, &in, p.Name)
	if err != nil {
		return err
	}
	if !result.Complete() {
		return hint.With(fmt.Errorf("%d of %d parts of the backup %s are saved", result.Ready(), len(result.Parts), p.Name), "kubectl sysop backup show "+p.Name+" -n "+p.Namespace)
	}
	if o.out.file == "" {
		return nil
	}
	var secrets []*unstructured.Unstructured
	if recipients != nil {
		if secrets, err = backups.Secrets(ctx, &in, result); err != nil {
			return err
		}
	}
	if err := result.WriteFile(o.out.file, secrets, recipients); err != nil {
		return err
	}
	fmt.Fprintf(o.env.ErrOut, "written to %s\n", safe(o.out.file))
	if recipients == nil && len(result.Secrets()) > 0 {
		o.Warn("the file has no Secrets: name who may read them with --recipient")
	}
	return nil
}
