package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// backupScheduleOptions are those of the backup that the CronJob runs, and of when.
type backupScheduleOptions struct {
	*backupRunOptions
	schedule backups.CronJob
	format   string
}

func newBackupSchedule(env command.Env) *cobra.Command {
	o := &backupScheduleOptions{backupRunOptions: &backupRunOptions{installOptions: newInstallOptions(env, install.Install)}}
	cmd := o.NewCommand("schedule [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddConnectionFlags(cmd)
	o.findingFlags(cmd)
	o.question.flags(cmd, o.Common)
	f, formats := cmd.Flags(), []string{"yaml", "json"}
	f.StringVarP(&o.format, "output", "o", formats[0], "output format: "+strings.Join(formats, ", "))
	f.StringVar(&o.schedule.Cron, "schedule", "", `when to back up, as in a CronJob: "0 2 * * *" is at two every night`)
	f.StringVar(&o.schedule.TimeZone, "time-zone", "", "the time zone of --schedule: Europe/Vienna (default: that of the kube-controller-manager)")
	f.StringVar(&o.schedule.Name, "name", "", "the NAME of the CronJob (default: sysop-SOURCE-backup)")
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "timeout of each step of a backup")
	o.out.hiddenFlags(cmd)
	command.AddImageFlag(cmd, &o.schedule.Image)
	command.Must(cmd.MarkFlagRequired("schedule"))
	pauseFlag(cmd, &o.pause)
	retentionFlags(cmd, &o.retention, "then delete, of the backups of the same source,")
	command.Offer(cmd, "output", formats...)
	return cmd
}

func (o *backupScheduleOptions) run(ctx context.Context, args []string) error {
	o.dryRun, o.printRBAC = "none", true // plans a run, and writes nothing
	if err := o.check(); err != nil {
		return err
	}
	if err := cmp.Or(o.out.refuse(), o.schedule.Check(o.Env.Now()), o.checkRun()); err != nil {
		return err
	}
	if err := o.prepare(ctx, args); err != nil {
		return err
	}
	in := o.Input // the plan reads with its own questions
	p, err := o.question.plan(ctx, o.Common, &o.catalogueOptions, args, "")
	if err != nil {
		return err
	}
	o.Input = in
	needed, err := o.permissions(ctx, p)
	if err != nil {
		return err
	}
	o.schedule.Options = o.arguments()
	list, err := o.schedule.Manifests(ctx, &in, backups.Request{System: cmp.Or(o.question.file, o.question.system), Roots: args}, p, needed)
	if err != nil {
		return err
	}
	tellPlan(o.Common, p)
	return o.WriteManifests(o.format, list)
}

// permissions are those of a run.
func (o *backupScheduleOptions) permissions(ctx context.Context, p *backup.Plan) ([]permission.Permission, error) {
	var paused []permission.Permission
	if o.quiesce != nil {
		o.quiesce.Copy(p)
		var err error
		if paused, err = o.quiesce.Pause().Permissions(ctx); err != nil {
			return nil, err
		}
	}
	req := o.request()
	req.Wait = true
	var err error
	if req.System, req.Manifest, err = backups.System(p); err != nil {
		return nil, err
	}
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return nil, err
	}
	needed, err := o.installer(cats).Permissions(ctx, req)
	return append(needed, paused...), err
}

// arguments are the flags of backup run that differ from their defaults.
func (o *backupScheduleOptions) arguments() []string {
	var out []string
	add := func(differs bool, format string, value any) {
		if differs {
			out = append(out, fmt.Sprintf(format, value))
		}
	}
	add(o.question.consistency != levels[0], "--consistency=%s", o.question.consistency)
	add(o.question.engine != engines[0], "--engine=%s", o.question.engine)
	add(o.question.strict, "--strict=%t", true)
	add(o.pause != defaultPause, "--pause-at-most=%s", o.pause)
	add(o.timeout != defaultTimeout, "--timeout=%s", o.timeout)
	add(o.retention.Keep > 0, "--keep=%d", o.retention.Keep)
	add(o.retention.KeepFor > 0, "--keep-for=%s", o.retention.KeepFor)
	return out
}
