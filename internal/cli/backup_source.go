package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// backupSource are the flags that say which backup is restored.
type backupSource struct{ file, identity string }

func (q *backupSource) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&q.file, "file", "", "instead of a NAME: the FILE that backup run wrote")
	f.StringVar(&q.identity, "identity", "", "with --file: a FILE with the age private key that its Secrets are for")
}

// read reads the backup, with the Secrets of its file.
func (q *backupSource) read(ctx context.Context, c *command.Common, args []string) (*backup.Plan, []*unstructured.Unstructured, error) {
	var p *backup.Plan
	var secrets []*unstructured.Unstructured
	var err error
	switch {
	case len(args) == 0 == (q.file == ""):
		return nil, nil, hint.With(errors.New("name a backup, or its file with --file, and not both"), "kubectl sysop backup list lists the backups")
	case q.file != "":
		p, secrets, err = backup.ReadFile(q.file, q.identity)
	case q.identity != "":
		return nil, nil, errors.New("--identity is for the Secrets of a --file: the record in the cluster has none")
	default:
		in := c.Input
		p, err = backups.Read(ctx, &in, args[0])
	}
	if err == nil {
		err = p.CheckTime(c.Env.Now())
	}
	return p, secrets, err
}
