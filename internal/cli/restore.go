package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
)

func newRestore(env command.Env) *cobra.Command {
	return command.Group("restore", newRestorePlan(env), newRestoreRun(env))
}

// restoreQuestion are the flags that say what is restored, and where.
type restoreQuestion struct {
	backupSource
	namespaces, storageClasses []string
	noOperators, onlyMissing   bool
	keepSchedules              bool
	replace                    string
}

func (q *restoreQuestion) flags(cmd *cobra.Command) {
	q.backupSource.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&q.namespaces, "namespace-map", nil, "restore the objects of one namespace in another one: FROM=TO")
	f.StringSliceVar(&q.storageClasses, "storage-class-map", nil, "use another storage class: FROM=TO")
	f.BoolVar(&q.onlyMissing, "only-missing", false, "restore only what does not exist, and leave the rest as it is")
	f.StringVar(&q.replace, "replace", "", "first delete what exists of the System NAME, with its data; the name confirms it")
	f.BoolVar(&q.keepSchedules, "keep-schedules", false, "let a copy back up to the stores of the original, which is gone")
	f.BoolVar(&q.noOperators, "no-operators", false, "do not install the operators that the apps need: they exist")
}

// plan reads a backup, and plans its restore.
func (q *restoreQuestion) plan(ctx context.Context, c *command.Common, args []string, run bool) (*backup.Restore, time.Time, error) {
	if q.replace != "" && q.onlyMissing {
		return nil, time.Time{}, errors.New("name --replace or --only-missing: the first deletes what exists, the other leaves it")
	}
	r := backups.RestoreRequest{OnlyMissing: q.onlyMissing, Replace: q.replace, Run: run}
	r.Options.NoOperators, r.Options.KeepSchedules = q.noOperators, q.keepSchedules
	var err error
	if r.Options.Namespaces, err = parseMap("--namespace-map", q.namespaces); err != nil {
		return nil, time.Time{}, err
	}
	if r.Options.StorageClasses, err = parseMap("--storage-class-map", q.storageClasses); err != nil {
		return nil, time.Time{}, err
	}
	if r.Plan, r.Options.Secrets, err = q.read(ctx, c, args); err != nil {
		return nil, time.Time{}, err
	}
	in := c.Input
	return backups.PlanRestore(ctx, &in, r)
}

// parseMap reads FROM=TO.
func parseMap(flag string, pairs []string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range pairs {
		from, to, ok := strings.Cut(pair, "=")
		if !ok || from == "" || to == "" {
			return nil, fmt.Errorf("%s %s: expected FROM=TO", flag, pair)
		}
		if was, twice := out[from]; twice && was != to {
			return nil, fmt.Errorf("%s: %s is mapped to %s and to %s: expected one", flag, from, was, to)
		}
		out[from] = to
	}
	return out, nil
}

// tellRestore writes what a restore leaves out.
func tellRestore(c *command.Common, r *backup.Restore) {
	c.Notes(r.Notes)
	for _, o := range r.Replaced {
		if o.Group == backup.SnapshotGroup {
			c.Warn(o.String() + " exists, and is deleted first; its data stays")
			continue
		}
		c.Warn(o.String() + " exists, and is deleted with its data first")
	}
	for _, u := range r.Unrestored {
		if u.Hint != "" {
			fmt.Fprintln(c.Env.ErrOut, command.Safe("hint: "+u.Object.String()+": "+u.Hint))
		}
	}
	for _, ref := range r.Inputs {
		c.Note(ref.String() + " must exist before")
	}
}
