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
	name       string
	revision   int // 0 for the one before the current one
	unfinished bool
	// to is the run of the history that is rolled back to. It is chosen once: ending a rollback that
	// was killed adds a run to the history.
	to *install.RunRecord
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
	o.name = args[0]
	if err := o.named(o.name); err != nil {
		return err
	}
	if len(args) == 2 {
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return hint.With(fmt.Errorf("%q is not a revision", args[1]), "kubectl sysop history "+o.name+" shows them")
		}
		o.revision = n
	}
	if o.unfinished {
		return o.endOpen(ctx)
	}
	return o.change(ctx, o)
}

// propose makes the plan of going back to a run of the history. A run that did not finish is only
// continued, if it is a rollback with the same arguments.
func (o *rollbackOptions) propose(ctx context.Context) (*installPlan, error) {
	p, err := o.installation(ctx, o.name)
	if err != nil {
		return nil, err
	}
	open := p.journal.Run
	if open != nil && open.Action != install.Rollback && o.writes() {
		return nil, notEnded(open)
	}
	if o.to == nil {
		history, err := p.runner.History(ctx)
		if err != nil {
			return nil, err
		}
		to, err := history.Target(o.revision)
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", p.of.Name, err), "kubectl sysop history "+p.of.Name+" shows the revisions")
		}
		o.to = &to
	}
	if err := o.plan(ctx, p); err != nil {
		return nil, err
	}
	if open != nil && o.writes() && (open.Undoing || open.Fingerprint != p.planned.Fingerprint) {
		return nil, notEnded(open)
	}
	return p, nil
}

// writes says whether something may be written.
func (o *rollbackOptions) writes() bool { return o.dryRun == "none" && !o.printRBAC }

// notEnded refuses to go back while another run is not ended: there is nothing to go back to before.
func notEnded(run *install.Run) error {
	return hint.With(fmt.Errorf("the %s by %s did not finish", run.Action, run.By), "--unfinished undoes it; the same command with the same arguments continues it")
}

// endOpen undoes the run that did not finish, if its process died.
func (o *rollbackOptions) endOpen(ctx context.Context) error {
	p, err := o.installation(ctx, o.name)
	if err != nil {
		return err
	}
	if p.journal.Run == nil {
		fmt.Fprintf(o.env.ErrOut, "%s has no unfinished run\n", safe(p.of.Name))
		return nil
	}
	var open *recovering
	if p.died {
		if open, err = p.recovering(ctx, ""); err != nil {
			return err
		}
	}
	switch {
	case o.printRBAC:
		p.planned = &install.Plan{Installation: p.of}
		return p.role(open)
	case o.dryRun != "none" || open == nil:
		return nil
	}
	outcome, report, err := open.do(ctx)
	if err == nil && outcome == install.RecoveredDone {
		fmt.Fprintf(o.env.ErrOut, "%s: all steps of the %s were done, there is nothing to undo\n", safe(p.of.Name), report.Action)
		return nil
	}
	return o.finish(p.of, report, err)
}

// plan makes the plan over what is there.
func (o *rollbackOptions) plan(ctx context.Context, p *installPlan) error {
	before, to := p.at.last(), o.to
	var err error
	p.state, err = install.ReadState(ctx, p.cluster.reader, install.StateRequest{Installation: p.of, Action: install.Rollback, Kinds: p.cluster.Kinds, Before: before, To: to.Releases})
	if err != nil {
		return err
	}
	options := install.PlanOptions{
		Timeout: o.timeout, Before: before, To: to.Releases, ToRevision: to.Revision, Arguments: digestOf(struct{ Force bool }{o.force}),
	}
	options.Resume, options.Waiting = p.resumed()
	if err := o.neededByOthers(ctx, p.cluster, p.at, &options); err != nil {
		return err
	}
	p.planned = install.NewPlan(install.Rollback, p.of, nil, p.state, options)
	p.planned.MadeOf(p.journal)
	p.planned.Needs = to.Needs
	return nil
}

// agree shows the plan, and asks. A killed run that had done all of it is closed without asking.
func (o *rollbackOptions) agree(ctx context.Context, p *installPlan, open *recovering) (bool, error) {
	planned := p.planned
	if sys, regulated := p.at.regulated(); regulated {
		o.noteHeld(ctx, sys, planned)
	}
	fmt.Fprintf(o.env.ErrOut, "%s is rolled back to revision %d: %s\n", safe(p.of.Name), o.to.Revision, safe(pastLine(*o.to)))
	if err := o.showPlan(planned, nil); err != nil {
		return false, err
	}
	if refused := refusalError(planned); refused != nil {
		return false, refused
	}
	switch closing := p.journal.Run != nil && o.writes(); {
	case len(planned.Steps) > 0:
		question := fmt.Sprintf("roll %s back to revision %d: %s. Do it?", p.of.Name, o.to.Revision, plural(len(planned.Steps), "step"))
		return o.consent(ctx, p.of, planned, question, open.continuedLosses()...)
	case !closing:
		fmt.Fprintf(o.env.ErrOut, "%s is already in that state: nothing to do\n", safe(p.of.Name))
		return false, nil
	}
	return true, nil
}

// apply goes back, with neighbours held where the System says so.
func (o *rollbackOptions) apply(ctx context.Context, p *installPlan) error {
	if sys, regulated := p.at.regulated(); regulated {
		p.runner.Hold = o.holding(sys, p.of)
	}
	report, err := p.do(ctx)
	return o.finish(p.of, report, err)
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

// neededByOthers finds the packages of an installation that others need, or may need in namespaces
// that cannot be read: these stay.
func (o *rollbackOptions) neededByOthers(ctx context.Context, c *installCluster, f *foundInstallation, options *install.PlanOptions) error {
	namespaces := []string{c.Namespace, f.of.Namespace}
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
