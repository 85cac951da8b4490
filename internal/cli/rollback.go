package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

type rollbackOptions struct {
	*installOptions
	unfinished bool
}

func newRollback(env Env) *cobra.Command {
	o := &rollbackOptions{installOptions: newInstallOptions(env, install.Rollback)}
	cmd := &cobra.Command{
		Use:   "rollback NAME [REVISION]",
		Short: "Go back to what an installation was, all of it or nothing",
		Long: `Take every release of an installation back to the revision that it had after a run of
its history (kubectl sysop history NAME). Without a REVISION that is the last one that was
whole before the one that is live: after a rollback, the one before what it went back to,
so that it never goes forward. Which one it is, is said before it is asked for.

What was installed since is removed, but not operators that have custom resources. What was
removed since is made again of the records that were kept of it; data that went with it
does not come back. Definitions stay as they are: going back could lose fields. What holds
data and was made since goes with --delete-data alone, as with uninstall.

--unfinished undoes a run that was killed, and nothing else.`,
		Example: `  # back to what it was before the last upgrade
  kubectl sysop rollback shop

  # undo what a killed run has left
  kubectl sysop rollback shop --unfinished --yes`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: o.completeInstalled,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	cmd.Flags().BoolVar(&o.unfinished, "unfinished", false, "undo a run that was killed, and nothing else")
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
			return withHint(fmt.Errorf("%q is no revision", args[1]), "kubectl sysop history "+args[0]+" shows them")
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
	o.wire(f.runner, c)
	if f, err = o.settle(ctx, c, f, args[0]); err != nil {
		return err
	}
	if f.journal.Run != nil && (o.unfinished || o.dryRun == "none" && !o.printRBAC) {
		return o.endOpen(ctx, c, f)
	}
	if o.unfinished {
		fmt.Fprintf(o.env.ErrOut, "%s has no run that was not ended\n", safe(f.of.Name))
		return nil
	}
	history, err := f.runner.History(ctx)
	if err != nil {
		return err
	}
	to, err := history.Target(revision)
	if err != nil {
		return withHint(fmt.Errorf("%s: %w", f.of.Name, err), "kubectl sysop history "+f.of.Name+" shows the revisions")
	}
	return o.rollBackTo(ctx, c, f, to)
}

// settle waits for a run whose process is alive; what is undone is one that died.
func (o *rollbackOptions) settle(ctx context.Context, c *installCluster, f *foundInstallation, name string) (*foundInstallation, error) {
	if f.journal.Run == nil {
		return f, nil
	}
	alive, err := o.unlocked(ctx, c, f.of)
	if err != nil || alive {
		return f, err
	}
	again, err := o.find(ctx, c, name)
	if err != nil {
		return nil, err
	}
	o.wire(again.runner, c)
	return again, nil
}

// endOpen undoes the run that is not ended; there is nothing to go back to before.
func (o *rollbackOptions) endOpen(ctx context.Context, c *installCluster, f *foundInstallation) error {
	if !o.unfinished {
		return withHint(fmt.Errorf("an %s by %s is not ended", f.journal.Run.Action, f.journal.Run.By), "--unfinished undoes it; the same command again goes on with it")
	}
	open, err := o.recovering(ctx, c, f.runner, f.of, "", o.runOptions(c))
	switch {
	case err != nil:
		return err
	case o.printRBAC:
		return (&installPlan{o: o.installOptions, cluster: c, of: f.of, planned: &install.Plan{Installation: f.of}}).role(open)
	case o.dryRun != "none":
		return nil
	}
	what, report, err := open.do(ctx)
	if err == nil && what == install.RecoveredDone {
		fmt.Fprintf(o.env.ErrOut, "%s: all of the %s had been done, there is nothing to undo\n", safe(f.of.Name), report.Action)
		return nil
	}
	return o.finish(f.of, report, err)
}

func (o *rollbackOptions) rollBackTo(ctx context.Context, c *installCluster, f *foundInstallation, to install.RunRecord) error {
	state, err := install.ReadState(ctx, c.reader, install.StateRequest{Installation: f.of, Action: install.Rollback, Kinds: c.kinds, Before: f.last(), To: to.Releases})
	if err != nil {
		return err
	}
	needed, err := o.neededByOthers(ctx, c, f)
	if err != nil {
		return err
	}
	planned := install.NewPlan(install.Rollback, f.of, nil, state, install.PlanOptions{Timeout: o.timeout, Before: f.last(), To: to.Releases, ToRevision: to.Revision, Needed: needed})
	planned.MadeOf(f.journal)
	planned.Needs = to.Needs
	p := &installPlan{o: o.installOptions, cluster: c, of: f.of, state: state, planned: planned}
	if o.printRBAC {
		return p.role(nil)
	}
	if o.dryRun != "client" {
		if err := p.rights(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(o.env.ErrOut, "%s goes back to revision %d: %s\n", safe(f.of.Name), to.Revision, safe(pastLine(to)))
	if err := o.showPlan(planned, nil); err != nil {
		return err
	}
	if refused := refusalError(planned); refused != nil {
		return refused
	}
	if len(planned.Steps) == 0 {
		fmt.Fprintf(o.env.ErrOut, "%s is as it was then: nothing to do\n", safe(f.of.Name))
		return nil
	}
	question := fmt.Sprintf("roll %s back to revision %d: %s. Do it?", f.of.Name, to.Revision, plural(len(planned.Steps), "step"))
	if goOn, err := o.consent(ctx, f.of, planned, question); err != nil || !goOn {
		return err
	}
	if sys, problems := system.Parse("the manifest of "+f.of.Name, []byte(f.journal.Manifest)); len(problems) == 0 && sys.Upgrade.Regulate && f.journal.Trust() == journal.Verified {
		sys.Namespace = f.of.Namespace
		f.runner.Hold = o.holding(sys, f.of)
	}
	report, err := f.runner.Do(ctx, planned, o.runOptions(c))
	return o.finish(f.of, report, err)
}

// pastLine says what a run of the history was.
func pastLine(p install.RunRecord) string {
	var releases []string
	for _, r := range p.Releases {
		releases = append(releases, strings.TrimSpace(r.Part+" "+r.Version))
	}
	return fmt.Sprintf("the %s by %s at %s (%s)", p.Action, p.By, p.Started.UTC().Format(time.RFC3339), strings.Join(releases, ", "))
}

// neededByOthers are the packages of an installation that others need, which stay for them.
func (o *rollbackOptions) neededByOthers(ctx context.Context, c *installCluster, f *foundInstallation) (map[string][]string, error) {
	namespaces := []string{c.namespace, f.of.Namespace}
	var names []string
	for _, r := range f.last() {
		if !r.App {
			names, namespaces = append(names, r.Part), append(namespaces, r.Namespace)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	d, err := c.readDependants(ctx, f.cats, f.there, distinctTexts(namespaces))
	if err != nil {
		return nil, err
	}
	return d.neededBy(f.of, names)
}

func newHistory(env Env) *cobra.Command {
	o := newInstallOptions(env, "")
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Show what was done to an installation",
		Long: `Show the runs of an installation: what was done, by whom, how it ended, and which
version each of its releases had then. A run that is not ended has no revision, and is
running, or interrupted where nobody renews its lock. The
revisions are what rollback goes back to; helm history shows those of each release.`,
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
