package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/restored"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// applyOptions is what every command takes that writes to the apps of a System.
type applyOptions struct {
	*regulateOptions
	yes       bool
	dryRun    string
	allowExec bool
	force     bool
	// acceptUnsigned acts by a journal that is not signed.
	acceptUnsigned bool
}

func newActing(env Env, formats ...string) *applyOptions {
	return &applyOptions{regulateOptions: newRegulating(env, formats...)}
}

// leastLease is the shortest time in which a lease can be renewed before it ends.
const leastLease = 2 * time.Second

// doing adds the flags of what is written.
func (o *applyOptions) doing(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.StringVar(&o.dryRun, "dry-run", "none", "none, client (show what would be done) or server (dry run on the API server; nothing is stored)")
	f.Lookup("dry-run").NoOptDefVal = "client"
	f.BoolVar(&o.allowExec, "allow-exec", false, "run the commands under exec of the manifest, on this machine")
	o.trusting(cmd)
	o.locking(cmd)
	o.progress.flag(cmd)
	must(cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp)))
}

func (o *regulateOptions) locking(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.lease, "lock-lease", 15*time.Second, "how long a killed run blocks others")
}

// check validates the flags before anything is read.
func (o *applyOptions) check() error {
	if err := errors.Join(o.validate(), o.progress.check()); err != nil {
		return err
	}
	switch {
	case !slices.Contains(dryRuns, o.dryRun):
		return hint.With(fmt.Errorf("unknown value %q of --dry-run", o.dryRun), "write none, client or server")
	case o.From != "" && o.dryRun != "client":
		return hint.With(errors.New("--from: a snapshot cannot be regulated"), "--dry-run=client shows what would be done")
	}
	return o.checkLease()
}

func (o *regulateOptions) checkLease() error {
	if o.lease < leastLease {
		return fmt.Errorf("--lock-lease %s: expected at least %s", o.lease, leastLease)
	}
	return nil
}

// planner says what is to be done, given how all is.
type planner func(b *systemSession, now time.Time) (*regulate.Plan, error)

// byRules plans what the rules of the System ask for.
func byRules(b *systemSession, now time.Time) (*regulate.Plan, error) {
	return regulate.NewPlan(b.State, b.System, b.journal, now), nil
}

// planned reads the apps and makes the plan.
func (b *systemSession) planned(ctx context.Context, plan planner) (*regulate.Plan, error) {
	if err := b.observe(ctx); err != nil {
		return nil, err
	}
	return plan(b, b.Session.AsOf())
}

// errChanged is that what was confirmed is not what would be done by now.
var errChanged = errors.New("the plan is outdated: nothing was done")

// applyResult is what became of a plan.
type applyResult struct {
	planned *regulate.Plan
	// out is nil where nothing was done.
	out *regulate.Outcome
	// declined says that the user answered no.
	declined bool
	// restored says how the apps are that were recovered; nil where there are none.
	restored *restored.Report
}

// confirmAndApply shows what is planned, asks, and does it.
func (o *applyOptions) confirmAndApply(ctx context.Context, b *systemSession, plan planner) (*applyResult, error) {
	d := &applyResult{}
	if !o.yes || o.dryRun == "client" {
		p, err := b.planned(ctx, plan)
		if err != nil {
			return nil, err
		}
		b.Session.ReportGaps(b.Graph)
		d.planned = p
		sure, err := o.confirm(ctx, p, b)
		if err != nil || !sure {
			d.declined = err == nil && len(p.Steps) > 0 && o.dryRun == "none"
			return d, err
		}
	}
	locked := b.locked
	if o.dryRun == "server" {
		locked = unlocked
	}
	err := locked(ctx, func(ctx context.Context) error {
		p, err := b.planned(ctx, plan)
		if err != nil {
			return err
		}
		switch {
		case d.planned == nil:
			b.Session.ReportGaps(b.Graph)
		case signature(p) != signature(d.planned):
			return hint.With(errChanged, "plan again: kubectl sysop regulate plan")
		}
		d.planned = p
		d.out, err = o.carryOut(ctx, b, p)
		return err
	})
	return d, b.explainPermissions(ctx, plan, err)
}

// explainPermissions lists all missing permissions if the lock was refused: the lock is only the
// first of them.
func (b *systemSession) explainPermissions(ctx context.Context, plan planner, err error) error {
	if !apierrors.IsForbidden(err) || b.State != nil && b.journal == nil {
		return err
	}
	p, unplanned := b.planned(ctx, plan)
	if unplanned != nil {
		return err // which comes first
	}
	if missing := b.allowed(ctx, p); missing != nil {
		return missing
	}
	return err
}

// signature is what is done to whom.
func signature(p *regulate.Plan) string {
	var b strings.Builder
	for i := range p.Steps {
		s := &p.Steps[i]
		fmt.Fprintf(&b, "%s %s %s %d\n", s.Verb, s.App, s.Signal, s.Hold)
	}
	return b.String()
}

// confirm shows a plan and asks. It is false where nothing is to be done.
func (o *applyOptions) confirm(ctx context.Context, p *regulate.Plan, b *systemSession) (bool, error) {
	if o.dryRun == "client" || len(p.Steps) == 0 {
		return false, o.showPlan(p, b)
	}
	if o.dryRun == "server" {
		return true, nil // What is shown is what the API server says.
	}
	if err := o.env.canAsk(writtenTo(p) + " would be changed"); err != nil {
		return false, err
	}
	if err := o.showPlan(p, b); err != nil {
		return false, err
	}
	sure, err := o.env.ask(ctx, "Do it?")
	if err == nil && sure {
		b.accept()
	}
	return sure, err
}

// showPlan writes a plan where there are no done things to show instead.
func (o *applyOptions) showPlan(p *regulate.Plan, b *systemSession) error {
	shown := *o.common
	if shown.output == "table" {
		shown.output = "tree"
	}
	return shown.write(view.Plan(p, b.State, b.options()))
}

func writtenTo(p *regulate.Plan) string {
	var apps []string
	for i := range p.Steps {
		if !slices.Contains(apps, p.Steps[i].App) {
			apps = append(apps, p.Steps[i].App)
		}
	}
	slices.Sort(apps)
	return strings.Join(apps, ", ")
}

// carryOut does what is planned. The lock is held.
func (o *applyOptions) carryOut(ctx context.Context, b *systemSession, p *regulate.Plan) (*regulate.Outcome, error) {
	if err := o.believed(b); err != nil {
		return nil, err
	}
	if err := b.allowed(ctx, p); err != nil {
		return nil, err
	}
	client, err := regulate.NewClient(b.config)
	if err != nil {
		return nil, err
	}
	events := o.progress.print
	if o.dryRun != "server" {
		var flush func()
		events, flush = regulate.RecordEvents(b.config, events)
		defer flush()
	}
	runner := &regulate.Runner{
		Client: client, Store: b.store, Events: events, Kinds: b.Session.Kinds, System: b.System, World: b.State, Now: o.env.Now,
		Signals: b.SignalsOf(b.Session.Kinds), Pods: b.podsOf,
		AllowExec: o.allowExec, Force: o.force, DryRun: o.dryRun == "server", Output: o.heard,
	}
	return runner.Do(ctx, p, b.journal)
}

// heard shows what a command of an app wrote, each line with the app before it.
func (o *applyOptions) heard(app, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(o.env.ErrOut, "%s: %s\n", safe(app), safe(strings.TrimRight(line, "\r\n")))
	}
}

// tellUnwritten says of steps for which no object had to be written that they were done.
func (o *applyOptions) tellUnwritten(d *applyResult) {
	if len(d.out.Done)+len(d.out.Failed) > 0 {
		return
	}
	for i := range d.planned.Steps {
		result := "is held" // and was so before
		switch d.planned.Steps[i].Verb {
		case regulate.AddCause:
			result = "is already held, and now also for this"
		case regulate.RemoveCause:
			result = "is still held for another cause"
		case regulate.RecoverApp:
			result = "recovered: nothing had been changed"
		}
		fmt.Fprintf(o.env.ErrOut, "%s %s\n", safe(d.planned.Steps[i].App), result)
	}
}

// tellDone shows what was done, and waits for what was recovered, unless that is noLook.
// It is an error if anything failed.
func (o *applyOptions) tellDone(ctx context.Context, b *systemSession, d *applyResult, patience time.Duration) (err error) {
	out := d.out
	if out == nil {
		return nil
	}
	looked := patience == noLook
	if !o.human() && !looked { // a document has all of it
		looked = true
		if d.restored, err = o.lookAtRestored(ctx, b, out, patience); err != nil {
			return err
		}
	}
	if err := o.write(view.RegulationDone(out, d.planned, d.restored, b.options())); err != nil {
		return err
	}
	o.tellUnwritten(d)
	if o.dryRun == "server" {
		fmt.Fprintln(o.env.ErrOut, "dry run: the API server accepted it, and stored nothing")
	}
	if !looked {
		if d.restored, err = o.lookAtRestored(ctx, b, out, patience); err != nil {
			return err
		}
	}
	if n := len(out.Failed); n > 0 {
		return hint.With(fmt.Errorf("%d of %d could not be done: %s", n, n+len(out.Done), out.Failed[0].Result), "kubectl sysop regulate status shows what is held")
	}
	return nil
}
