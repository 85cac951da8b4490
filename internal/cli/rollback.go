package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type rollbackOptions struct {
	*installOptions
	unfinished bool
}

func newRollback(env Env) *cobra.Command {
	o := &rollbackOptions{installOptions: newInstallOptions(env, install.Rollback)}
	cmd := &cobra.Command{
		Use:   "rollback NAME [REVISION]",
		Short: "Roll an installation back to an earlier revision",
		Long: `Return every release to its revision after a run of the history (kubectl sysop history
NAME); by default the last complete run before the current one, never forward. The
revision is shown before you confirm.

What was installed since is removed, but not operators that have custom resources. What
was removed since is recreated from Helm's records, without its data. CRDs stay, since an
older schema could lose fields. Data created since is deleted only with --delete-data.

--unfinished only undoes a run that was killed.`,
		Example: `  # back to the revision before the last upgrade
  kubectl sysop rollback shop

  # undo a run that was killed
  kubectl sysop rollback shop --unfinished --yes`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: o.completeInstalled,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "remove operators installed since, even if their dependents are unknown")
	cmd.Flags().BoolVar(&o.unfinished, "unfinished", false, "only undo a run that was killed")
	return cmd
}

func (o *rollbackOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.named(args[0]); err != nil {
		return err
	}
	revision := 0
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return hint.With(fmt.Errorf("%q is not a revision", args[1]), "kubectl sysop history "+args[0]+" shows them")
		}
		revision = n
	}
	c, err := o.installCluster(ctx)
	if err != nil {
		return err
	}
	f, err := o.find(ctx, c, args[0])
	if err != nil {
		return err
	}
	f, died, err := o.settle(ctx, c, f, args[0])
	if err != nil {
		return err
	}
	switch {
	case f.journal.Run != nil && o.unfinished:
		return o.endOpen(ctx, c, f, died)
	case f.journal.Run != nil && f.journal.Run.Action != install.Rollback && o.writes():
		return notEnded(f)
	case o.unfinished:
		fmt.Fprintf(o.env.ErrOut, "%s has no unfinished run\n", safe(f.of.Name))
		return nil
	}
	history, err := f.runner.History(ctx)
	if err != nil {
		return err
	}
	to, err := history.Target(revision)
	if err != nil {
		return hint.With(fmt.Errorf("%s: %w", f.of.Name, err), "kubectl sysop history "+f.of.Name+" shows the revisions")
	}
	return o.rollBackTo(ctx, c, f, to, died)
}

// writes says whether something may be written.
func (o *rollbackOptions) writes() bool { return o.dryRun == "none" && !o.printRBAC }

// notEnded refuses to go back while another run is not ended: there is nothing to go back to before.
func notEnded(f *foundInstallation) error {
	run := f.journal.Run
	return hint.With(fmt.Errorf("the %s by %s did not finish", run.Action, run.By), "--unfinished undoes it; the same command with the same arguments continues it")
}

// endOpen undoes the run that is not ended, if its process died.
func (o *rollbackOptions) endOpen(ctx context.Context, c *installCluster, f *foundInstallation, died bool) error {
	open, err := o.openRun(ctx, c, f, died, "")
	switch {
	case err != nil:
		return err
	case o.printRBAC:
		return (&installPlan{o: o.installOptions, cluster: c, of: f.of, planned: &install.Plan{Installation: f.of}}).role(open)
	case o.dryRun != "none" || open == nil:
		return nil
	}
	what, report, err := open.do(ctx)
	if err == nil && what == install.RecoveredDone {
		fmt.Fprintf(o.env.ErrOut, "%s: all steps of the %s were done, there is nothing to undo\n", safe(f.of.Name), report.Action)
		return nil
	}
	return o.finish(f.of, report, err)
}

// plan says what going back to a run of the history takes.
func (o *rollbackOptions) plan(ctx context.Context, c *installCluster, f *foundInstallation, to install.RunRecord) (*install.Plan, install.State, error) {
	state, err := install.ReadState(ctx, c.reader, install.StateRequest{Installation: f.of, Action: install.Rollback, Kinds: c.kinds, Before: f.last(), To: to.Releases})
	if err != nil {
		return nil, state, err
	}
	options := install.PlanOptions{
		Timeout: o.timeout, Before: f.last(), To: to.Releases, ToRevision: to.Revision, Arguments: digestOf(struct{ Force bool }{o.force}),
	}
	if f.journal.Run != nil {
		options.Resume = f.journal.Run.ID
		for _, s := range f.journal.Run.Steps {
			if s.Release != "" {
				options.Waiting = append(options.Waiting, s.Part)
			}
		}
	}
	if err := o.neededByOthers(ctx, c, f, &options); err != nil {
		return nil, state, err
	}
	planned := install.NewPlan(install.Rollback, f.of, nil, state, options)
	planned.MadeOf(f.journal)
	planned.Needs = to.Needs
	return planned, state, nil
}

// rollBackTo goes back to a run of the history, or continues to, where a rollback with the same arguments
// was killed.
func (o *rollbackOptions) rollBackTo(ctx context.Context, c *installCluster, f *foundInstallation, to install.RunRecord, died bool) error {
	planned, state, err := o.plan(ctx, c, f, to)
	if err != nil {
		return err
	}
	if run := f.journal.Run; run != nil && o.writes() && (run.Undoing || run.Fingerprint != planned.Fingerprint) {
		return notEnded(f)
	}
	open, err := o.openRun(ctx, c, f, died, planned.Fingerprint)
	if err != nil {
		return err
	}
	p := &installPlan{o: o.installOptions, cluster: c, of: f.of, state: state, planned: planned}
	if o.printRBAC {
		return p.role(open)
	}
	decide := func() (bool, error) { return o.agree(ctx, f, p, to, open) }
	if open != nil && o.writes() {
		if goOn, err := open.agree(ctx, p, decide); err != nil || !goOn {
			return err
		}
		if f, err = o.recovered(ctx, open, f.of.Name); err != nil {
			return err
		}
		if p.planned, p.state, err = o.plan(ctx, c, f, to); err != nil { // over what is there now
			return err
		}
	}
	if !open.covers(p.planned) {
		if err := p.review(ctx); err != nil {
			return err
		}
		if goOn, err := decide(); err != nil || !goOn {
			return err
		}
	}
	return o.do(ctx, c, f, p.planned)
}

// agree shows what going back does, and asks; open is the run that it continues, if there is one. A
// killed run that had done all of it is closed without asking.
func (o *rollbackOptions) agree(ctx context.Context, f *foundInstallation, p *installPlan, to install.RunRecord, open *recovering) (bool, error) {
	planned := p.planned
	if sys, regulated := f.regulated(); regulated {
		o.noteHeld(ctx, sys, planned)
	}
	fmt.Fprintf(o.env.ErrOut, "%s is rolled back to revision %d: %s\n", safe(f.of.Name), to.Revision, safe(pastLine(to)))
	if err := o.showPlan(planned, nil); err != nil {
		return false, err
	}
	if refused := refusalError(planned); refused != nil {
		return false, refused
	}
	switch closing := f.journal.Run != nil && o.writes(); {
	case len(planned.Steps) > 0:
		question := fmt.Sprintf("roll %s back to revision %d: %s. Do it?", f.of.Name, to.Revision, plural(len(planned.Steps), "step"))
		return o.consent(ctx, f.of, planned, question, open.continuedLosses()...)
	case !closing:
		fmt.Fprintf(o.env.ErrOut, "%s is already in that state: nothing to do\n", safe(f.of.Name))
		return false, nil
	}
	return true, nil
}

// do goes back, with neighbours held where the System says so.
func (o *rollbackOptions) do(ctx context.Context, c *installCluster, f *foundInstallation, planned *install.Plan) error {
	if sys, regulated := f.regulated(); regulated {
		f.runner.Hold = o.holding(sys, f.of)
	}
	report, err := f.runner.Do(ctx, planned, o.runOptions(c))
	if err != nil {
		o.remember(ctx, c, f.runner, f.of, report)
	}
	return o.finish(f.of, report, err)
}

// regulated is the System of an installation, if it says that neighbours are held while its apps are
// changed.
func (f *foundInstallation) regulated() (*system.System, bool) {
	sys, problems := system.Parse("the manifest of "+f.of.Name, []byte(f.journal.Manifest))
	if len(problems) > 0 || !sys.Upgrade.Regulate || f.journal.Trust() != journal.Verified {
		return nil, false
	}
	sys.Namespace = f.of.Namespace
	return sys, true
}

// pastLine says what a run of the history was.
func pastLine(p install.RunRecord) string {
	var releases []string
	for _, r := range p.Releases {
		releases = append(releases, strings.TrimSpace(r.Part+" "+r.Version))
	}
	return fmt.Sprintf("the %s by %s at %s (%s)", p.Action, p.By, p.Started.UTC().Format(time.RFC3339), strings.Join(releases, ", "))
}

// neededByOthers finds the packages of an installation that others need, or may need where nobody
// may look: these stay.
func (o *rollbackOptions) neededByOthers(ctx context.Context, c *installCluster, f *foundInstallation, options *install.PlanOptions) error {
	namespaces := []string{c.namespace, f.of.Namespace}
	var names []string
	for _, r := range f.last() {
		if !r.App {
			names, namespaces = append(names, r.Part), append(namespaces, r.Namespace)
		}
	}
	if len(names) == 0 {
		return nil
	}
	d, err := c.readDependants(ctx, f.cats, f.there, distinctTexts(namespaces))
	if err != nil {
		return err
	}
	options.NeedsHidden, options.IgnoreHidden = strings.Join(d.hidden, "; "), o.force
	options.Needed, err = d.neededBy(f.of, names)
	return err
}

func newHistory(env Env) *cobra.Command {
	o := newInstallOptions(env, "")
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Show what was done to an installation",
		Long: `Show the runs of an installation: what was done, by whom, how it ended, and the version
of each release afterwards. A run that did not finish has no revision; it is running, or
interrupted if its lock is no longer renewed. rollback returns to these revisions; helm
history shows those of each release.`,
		Example:           `  kubectl sysop history shop`,
		Args:              exactly(1, "the NAME of an operator, or of a System"),
		ValidArgsFunction: o.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			c, err := o.installCluster(cmd.Context())
			if err != nil {
				return err
			}
			f, err := o.find(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			process := install.LivenessUnknown
			if f.journal.Run != nil {
				process = o.liveness(cmd.Context(), c, f.of)
			}
			return o.write(view.InstallHistory(f.journal, process, o.env.Now()))
		},
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.findingFlags(cmd)
	return cmd
}
