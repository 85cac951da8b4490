package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// backupFileOptions are the file that a backup is also written to, and who may read its Secrets.
type backupFileOptions struct {
	file, recipientsFile string
	keys                 []string
}

func (o *backupFileOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "file", "", "also write the record, the manifests and the Secrets to this FILE, to restore from in another cluster")
	f.StringArrayVar(&o.keys, "recipient", nil, "who may read the Secrets of the file: an age public key (age1...); may be repeated")
	f.StringVar(&o.recipientsFile, "recipients-file", "", "a FILE of age public keys, one a line")
}

// hiddenFlags adds the flags to a command that writes no file: they only say why.
func (o *backupFileOptions) hiddenFlags(cmd *cobra.Command) {
	o.flags(cmd)
	for _, flag := range []string{"file", "recipient", "recipients-file"} {
		command.Must(cmd.Flags().MarkHidden(flag))
	}
}

// refuse returns an error if a file was asked for.
func (o *backupFileOptions) refuse() error {
	if o.file == "" && len(o.keys) == 0 && o.recipientsFile == "" {
		return nil
	}
	return hint.With(errors.New("--file: a scheduled backup writes no file: its pod has no disk that outlasts it"),
		"the record stays in the cluster; kubectl sysop backup run --file on a machine of yours, by its cron, writes one")
}

// recipients reads the public keys; nil for none.
func (o *backupFileOptions) recipients() (backup.Recipients, error) {
	if o.file == "" && (len(o.keys) > 0 || o.recipientsFile != "") {
		return nil, hint.With(errors.New("--recipient is for the Secrets of a file"), "name the file with --file")
	}
	return backup.ParseRecipients(o.keys, o.recipientsFile)
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
	if result.NotQuiesced != "" {
		return hint.With(errors.New(result.NotQuiesced), "kubectl sysop backup show "+p.Name+" -n "+p.Namespace)
	}
	if result.Pause != nil {
		o.Say(result.Pause.Text())
	}
	if result.Spread != "" {
		o.Say("the snapshots were taken within " + result.Spread)
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
	if err := backups.SetCluster(ctx, &in, result); err != nil {
		return err
	}
	if err := result.WriteFile(o.out.file, secrets, recipients); err != nil {
		return err
	}
	fmt.Fprintf(o.Env.ErrOut, "written to %s\n", command.Safe(o.out.file))
	if recipients == nil && len(result.Secrets()) > 0 {
		o.Warn("the file has no Secrets: name who may read them with --recipient")
	}
	return nil
}
