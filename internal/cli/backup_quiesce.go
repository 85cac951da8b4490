package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backups"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// defaultPause is how long apps are stopped at most.
const defaultPause = 5 * time.Minute

// pauseFlag adds the flag of how long apps are stopped at most.
func pauseFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "pause-at-most", defaultPause, "with --consistency quiesced: recover the stopped apps after this time, saved or not")
}

// pausingUser stops apps once a plan is confirmed: all that refuses it comes before.
type pausingUser struct {
	*installUser
	begin func(context.Context) error
	// declined says that the user did not agree.
	declined bool
}

// Confirm shows a plan, asks whether it is run, and stops the apps.
func (u *pausingUser) Confirm(ctx context.Context, p *installer.Plan, losses []object.Ref) (bool, error) {
	agreed, err := u.installUser.Confirm(ctx, p, losses)
	if err != nil || !agreed {
		u.declined = len(p.Planned.Steps) > 0
		return agreed, err
	}
	return true, u.begin(ctx)
}

// ConfirmRecovery asks whether the open run is ended, and stops the apps: it may be continued.
func (u *pausingUser) ConfirmRecovery(ctx context.Context, r *installer.Recovery) (bool, error) {
	agreed, err := u.installUser.ConfirmRecovery(ctx, r)
	if err != nil || !agreed {
		return agreed, err
	}
	return true, u.begin(ctx)
}

// prepare opens the pause of a quiesced backup, and ends those of killed ones.
func (o *backupRunOptions) prepare(ctx context.Context, roots []string) (err error) {
	if level, _, err := o.question.method(); err != nil || level != backup.Quiesced {
		return err
	}
	in := o.Input
	r := backups.Request{System: cmp.Or(o.question.file, o.question.system), Roots: roots, Name: o.name}
	if o.quiesce, err = backups.NewQuiesce(ctx, &in, r, o.pause, o.regulation()); err != nil || o.dryRun != "none" || o.printRBAC {
		return err
	}
	return o.quiesce.EndOthers(ctx)
}

// saved creates the objects of a backup; quiesced, while the apps that write to the parts are
// stopped.
func (o *backupRunOptions) saved(ctx context.Context, p *backup.Plan, req installer.Request) error {
	if o.quiesce == nil {
		return o.changeNamed(ctx, req)
	}
	q := o.quiesce
	q.Copy(p)
	if err := o.announcePause(ctx, q.Pause()); err != nil {
		return errors.Join(err, o.abandon(ctx))
	}
	q.Stopped = func(p *regulator.Pause) { o.Say("stopped: " + listOr(p.Apps, "no app")) }
	q.Released = o.released
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return errors.Join(err, o.abandon(ctx))
	}
	user := &pausingUser{installUser: &installUser{o.installOptions, cats}, begin: q.Begin}
	err = o.changeAs(ctx, cats, req, user)
	if o.dryRun != "none" {
		return err
	}
	return errors.Join(err, q.End(ctx, err == nil && !user.declined))
}

// announcePause says which apps are stopped, before anything is asked.
func (o *backupRunOptions) announcePause(ctx context.Context, p *regulator.Pause) error {
	plan, err := p.Plan(ctx)
	if err != nil {
		return err
	}
	var apps []string
	for i := range plan.Steps {
		apps = append(apps, plan.Steps[i].App)
	}
	slices.Sort(apps)
	o.Note(fmt.Sprintf("stopped while the parts are copied, for %s at most: %s", o.pause, listOr(slices.Compact(apps), "no app, since none needs what is saved")))
	if len(p.Serving) > 0 {
		o.Note(strings.Join(p.Serving, ", ") + " runs meanwhile, without the apps that need it: on.Stop of the app stops it as well")
	}
	return nil
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}
