package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
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

// recipients reads the public keys; nil for none.
func (o *backupFileOptions) recipients() (backup.Recipients, error) {
	if o.file == "" && (len(o.keys) > 0 || o.recipientsFile != "") {
		return nil, hint.With(errors.New("--recipient is for the Secrets of a file"), "name the file with --file")
	}
	return backup.ParseRecipients(o.keys, o.recipientsFile)
}
