package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newRestore(env Env) *cobra.Command {
	return group("restore", newRestorePlan(env), newRestoreRun(env))
}

// backupSource are the flags that say which backup is restored.
type backupSource struct{ file, identity string }

func (q *backupSource) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&q.file, "file", "", "instead of a NAME: the FILE that backup run wrote")
	f.StringVar(&q.identity, "identity", "", "with --file: a FILE with the age private key that its Secrets are for")
}

// restoreQuestion are the flags that say what is restored, and where.
type restoreQuestion struct {
	backupSource
	namespaces, storageClasses []string
	noOperators                bool
}

func (q *restoreQuestion) flags(cmd *cobra.Command) {
	q.backupSource.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&q.namespaces, "namespace-map", nil, "restore the objects of one namespace in another one: FROM=TO")
	f.StringSliceVar(&q.storageClasses, "storage-class-map", nil, "use another storage class: FROM=TO")
	f.BoolVar(&q.noOperators, "no-operators", false, "do not install the operators that the apps need: they exist")
}

// plan reads a backup, and plans its restore.
func (q *restoreQuestion) plan(ctx context.Context, c *common, args []string) (*backup.Restore, error) {
	o := backup.RestoreOptions{NoOperators: q.noOperators}
	var err error
	if o.Namespaces, err = parseMap("--namespace-map", q.namespaces); err != nil {
		return nil, err
	}
	if o.StorageClasses, err = parseMap("--storage-class-map", q.storageClasses); err != nil {
		return nil, err
	}
	p, secrets, err := q.read(ctx, c, args)
	if err != nil {
		return nil, err
	}
	o.Secrets = secrets
	return backup.Restored(p, o)
}

// read reads the backup, with the Secrets of its file.
func (q *backupSource) read(ctx context.Context, c *common, args []string) (*backup.Plan, []*unstructured.Unstructured, error) {
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
		err = p.CheckTime(c.env.Now())
	}
	return p, secrets, err
}

// parseMap reads FROM=TO.
func parseMap(flag string, pairs []string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range pairs {
		from, to, ok := strings.Cut(pair, "=")
		if !ok || from == "" || to == "" {
			return nil, fmt.Errorf("%s %s: expected FROM=TO", flag, pair)
		}
		out[from] = to
	}
	return out, nil
}

// tellRestore writes what a restore leaves out.
func (c *common) tellRestore(r *backup.Restore) {
	c.notes(r.Notes)
	for _, u := range r.Unrestored {
		if u.Hint != "" {
			fmt.Fprintln(c.env.ErrOut, safe("hint: "+u.Object.String()+": "+u.Hint))
		}
	}
	for _, ref := range r.Inputs {
		c.Note(ref.String() + " must exist before")
	}
}

type restorePlanOptions struct {
	*common
	question restoreQuestion
}

func newRestorePlan(env Env) *cobra.Command {
	o := &restorePlanOptions{common: newCommon(env, "table", "json", "yaml", "name")}
	cmd := o.command("plan [NAME]", between(0, 1, "the NAME of a backup, or --file FILE"), o.completeSystem, func(ctx context.Context, args []string) error {
		r, err := o.question.plan(ctx, o.common, args)
		if err != nil {
			return err
		}
		if err := o.write(view.Restore(r)); err != nil {
			return err
		}
		o.tellRestore(r)
		return nil
	})
	o.connecting(cmd)
	o.writing(cmd)
	o.question.flags(cmd)
	return cmd
}
