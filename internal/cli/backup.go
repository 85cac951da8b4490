package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newBackup(env Env) *cobra.Command {
	return group("backup", newBackupPlan(env), newBackupRun(env), newBackupSchedule(env), newBackupList(env), newBackupShow(env), newBackupVerify(env), newBackupDelete(env))
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

func (q *backupQuestion) flags(cmd *cobra.Command, c *common) {
	c.systemQueryFlag(cmd, &q.system, "which is backed up")
	systemFlag(cmd, &q.file)
	f := cmd.Flags()
	f.StringVar(&q.consistency, "consistency", levels[0], "app: the backups of the operators, and snapshots of other claims; crash: snapshots of all claims at once; quiesced: as app, while the apps that write are stopped")
	f.StringVar(&q.engine, "engine", engines[0], "sysop: the operators and the snapshot controller save each part; velero: Velero saves the namespaces")
	f.BoolVar(&q.strict, "strict", false, "fail if a part cannot be saved")
	offer(cmd, "consistency", levels...)
	offer(cmd, "engine", engines...)
}

// plan plans a backup, and writes what it leaves out to stderr.
func (q *backupQuestion) plan(ctx context.Context, c *common, cats *catalogueOptions, roots []string, name string) (*backup.Plan, error) {
	level, err := oneOf("--consistency", q.consistency, levels)
	if err != nil {
		return nil, err
	}
	engine, err := oneOf("--engine", q.engine, engines)
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
		System: cmp.Or(q.file, q.system), Roots: roots, Name: name, Consistency: backup.Consistency(level), Velero: engine == string(backup.ByVelero), Strict: q.strict, Catalogue: known.Catalogue,
		Versions: func(ctx context.Context) (map[string]string, error) { return c.installedVersions(ctx, known) },
	})
}

// tellPlan writes what a plan notes.
func (c *common) tellPlan(p *backup.Plan) {
	c.notes(p.Notes)
	shown := map[string]bool{}
	for _, u := range p.Unsaved {
		if u.Hint != "" && !shown[u.Hint] {
			shown[u.Hint] = true
			fmt.Fprintln(c.env.ErrOut, safe("hint: "+u.Hint))
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

type backupPlanOptions struct {
	*common
	catalogueOptions
	question backupQuestion
	prices   string
}

func newBackupPlan(env Env) *cobra.Command {
	o := &backupPlanOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.command("plan [ROOT...]", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	o.findingFlags(cmd)
	o.question.flags(cmd, o.common)
	pricesFlag(cmd, &o.prices)
	return cmd
}

func (o *backupPlanOptions) run(ctx context.Context, args []string) error {
	book, err := app.ReadPrices(ctx, o.prices)
	if err != nil {
		return err
	}
	p, err := o.question.plan(ctx, o.common, &o.catalogueOptions, args, "")
	if p != nil {
		backups.AddPrices(p, book)
		if wrong := o.write(view.Backup(p)); wrong != nil {
			return wrong
		}
		o.tellPlan(p)
		if o.human() {
			fmt.Fprintln(o.env.ErrOut, safe(p.Source+": "+view.BackupSummary(p)))
		}
	}
	return err
}
