package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type backupVerifyOptions struct {
	*installOptions
	source         backupSource
	storageClasses []string
	allowExec      bool
}

func newBackupVerify(env command.Env) *cobra.Command {
	o := &backupVerifyOptions{installOptions: newInstallOptions(env, install.Install)}
	cmd := o.NewCommand("verify [NAME]", command.RangeArgs(0, 1, "the NAME of a backup, or --file FILE"), o.CompleteSystem, o.run)
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	o.source.flags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", `use the check of this manifest of a System: FILE, "-" or "demo"`)
	f.StringSliceVar(&o.storageClasses, "storage-class-map", nil, "use another storage class: FROM=TO")
	f.BoolVar(&o.allowExec, "allow-exec", false, "run the command under exec of the manifest, on this machine")
	return cmd
}

func (o *backupVerifyOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	h, err := o.rehearsal(ctx, args)
	if err != nil {
		return err
	}
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	o.Config = o.Another(h.Namespaces[0]).Config // that of the backup was asked for, to read it
	inst := o.installer(cats)
	if o.printRBAC {
		roles, err := h.Roles(ctx, inst)
		if err != nil {
			return err
		}
		return o.writeRoles(roles)
	}
	if o.ForPeople() || o.dryRun != installer.DryRunNone {
		if err := o.Write(view.Restore(h.Restore)); err != nil {
			return err
		}
		tellRestore(o.Common, h.Restore)
	}
	if o.dryRun != installer.DryRunClient {
		if err := h.Try(ctx, inst); err != nil {
			return err
		}
	}
	if agreed, err := o.agreedToRehearse(ctx, h); err != nil || !agreed {
		return err
	}
	_, err = h.Run(ctx, inst)
	if wrong := o.Write(view.Backup(h.Plan)); wrong != nil {
		return errors.Join(err, wrong)
	}
	if err == nil {
		o.Say(view.VerifiedText(h.Plan))
	}
	return err
}

// agreedToRehearse says what is copied and run, and asks whether the copy is made.
func (o *backupVerifyOptions) agreedToRehearse(ctx context.Context, h *backups.Rehearsal) (bool, error) {
	for _, text := range h.Uses() {
		o.Note(text)
	}
	if o.dryRun != installer.DryRunNone || o.yes {
		return o.dryRun == installer.DryRunNone, nil
	}
	return o.Env.Confirm(ctx, fmt.Sprintf("restore %s to %s, check it and delete it again. Do it?", h.Plan.Name, object.ShortList(h.Namespaces)))
}

// rehearsal reads a backup, and plans its rehearsal.
func (o *backupVerifyOptions) rehearsal(ctx context.Context, args []string) (*backups.Rehearsal, error) {
	p, secrets, err := o.source.read(ctx, o.Common, args)
	if err != nil {
		return nil, err
	}
	r := backups.VerifyRequest{Plan: p, Secrets: secrets, AllowExec: o.allowExec, Timeout: o.timeout, Output: func(text string) { o.Note("the check says: " + text) }}
	if r.StorageClasses, err = parseMap("--storage-class-map", o.storageClasses); err != nil {
		return nil, err
	}
	if o.file != "" {
		in := o.Input
		sys, err := systems.Read(ctx, &in, o.file)
		if err != nil {
			return nil, err
		}
		if r.Check = sys.Backup.Verify; r.Check == nil {
			return nil, hint.With(fmt.Errorf("%s has no check", o.file), "add spec.backup.verify: docs/system.md")
		}
	}
	in := o.Input
	return backups.NewRehearsal(ctx, &in, r)
}
