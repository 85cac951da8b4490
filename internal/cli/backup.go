package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

func newBackup(env command.Env) *cobra.Command {
	return command.Group("backup", newBackupPlan(env), newBackupRun(env), newBackupSchedule(env), newBackupList(env), newBackupShow(env), newBackupVerify(env), newBackupDelete(env))
}

// backupQuestion are the flags that say what is backed up.
type backupQuestion struct {
	system, file, consistency, engine string
	strict                            bool
}

// levels are the values of --consistency.
var levels = []string{string(backup.Application), string(backup.Crash), string(backup.Quiesced)}

// engines are the values of --engine.
var engines = []string{"sysop", string(backup.ByVelero)}

func (q *backupQuestion) flags(cmd *cobra.Command, c *command.Common) {
	c.AddSystemQueryFlag(cmd, &q.system, "which is backed up")
	command.AddSystemFlag(cmd, &q.file)
	f := cmd.Flags()
	f.StringVar(&q.consistency, "consistency", levels[0], "app: the backups of the operators, and snapshots of other claims; crash: snapshots of all claims at once; quiesced: as app, while the apps that write are stopped")
	f.StringVar(&q.engine, "engine", engines[0], "sysop: the operators and the snapshot controller save each part; velero: Velero saves the namespaces")
	f.BoolVar(&q.strict, "strict", false, "fail if a part cannot be saved")
	command.Offer(cmd, "consistency", levels...)
	command.Offer(cmd, "engine", engines...)
}

// method is the consistency, and whether Velero saves it.
func (q *backupQuestion) method() (level backup.Consistency, velero bool, err error) {
	name, err := command.OneOf("--consistency", q.consistency, levels)
	if err != nil {
		return "", false, err
	}
	engine, err := command.OneOf("--engine", q.engine, engines)
	level, velero = backup.Consistency(name), engine == string(backup.ByVelero)
	if level == backup.Quiesced && velero {
		err = hint.With(errors.New("--consistency quiesced stops apps until their snapshots are taken, and Velero does not say when it takes its own"), "leave out --engine velero, or --consistency quiesced")
	}
	return level, velero, err
}

// plan plans a backup, and writes what it leaves out to stderr.
func (q *backupQuestion) plan(ctx context.Context, c *command.Common, cats *catalogueOptions, roots []string, name string) (*backup.Plan, error) {
	level, velero, err := q.method()
	if err != nil {
		return nil, err
	}
	if q.file != "" && q.system != "" {
		return nil, errors.New("name a System with -f or with --system, and not with both")
	}
	known, err := cats.catalogued(ctx, c)
	if err != nil {
		return nil, err
	}
	return backups.Make(ctx, &c.Input, backups.Request{
		System: cmp.Or(q.file, q.system), Roots: roots, Name: name, Consistency: level, Velero: velero, Strict: q.strict, Catalogue: known.Catalogue,
		Versions: func(ctx context.Context) (map[string]string, error) { return installedVersions(ctx, c, known) },
	})
}

// tellPlan writes what a plan notes.
func tellPlan(c *command.Common, p *backup.Plan) {
	c.Notes(p.Notes)
	shown := map[string]bool{}
	for _, u := range p.Unsaved {
		if u.Hint != "" && !shown[u.Hint] {
			shown[u.Hint] = true
			fmt.Fprintln(c.Env.ErrOut, command.Safe("hint: "+u.Hint))
		}
	}
	var secrets []string
	for _, ref := range p.Inputs {
		secrets = append(secrets, ref.String())
	}
	if len(secrets) > 0 {
		c.Note("the record has no data of " + strings.Join(secrets, ", ") + ": --file FILE with --recipient saves Secrets, encrypted")
	}
}
