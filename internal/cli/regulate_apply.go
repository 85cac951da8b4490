package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type regulateApplyOptions struct {
	*applyOptions
	wait    bool
	timeout time.Duration
}

func newRegulateApply(env Env) *cobra.Command {
	o := &regulateApplyOptions{applyOptions: newActing(env, "table", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "apply [SYSTEM]",
		Short: "Hold and recover apps as the rules require now",
		Long: `Hold and recover apps as the rules require now: what regulate plan shows is done, once.
The plan is shown and has to be confirmed, unless --yes is given.

Changes are written to the journal first; the next run resumes a run that was killed.

With --wait it continues until nothing is left to do: apps recover one after the other,
each when what it needs is Healthy. Then it waits until they are Healthy, or lists those
that are not (exit code 2).`,
		Example: `  # what would be done?
  kubectl sysop regulate apply -f demo --from demo --dry-run=client

  # do it, and wait until every app is recovered
  kubectl sysop regulate apply shop --yes --wait`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeSystems,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := o.systemOf(args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), name)
		},
	}
	o.naming(cmd)
	o.writing(cmd)
	o.doing(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.wait, "wait", false, "continue until nothing is left to do")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to --wait")
	return cmd
}

func (o *regulateApplyOptions) run(ctx context.Context, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	}
	b, err := o.begin(ctx, name)
	if err != nil {
		return err
	}
	d, err := o.confirmAndApply(ctx, b, byRules)
	if err != nil {
		return err
	}
	patience := glance
	if o.wait {
		patience = noLook // the end of the run checks all apps
	}
	if err := o.tellDone(ctx, b, d, patience); err != nil || !o.wait || d.declined || o.dryRun != "none" {
		return err
	}
	return o.waitForRest(ctx, b, d.out)
}

// waitForRest continues until nothing is left to do, and checks all recovered apps, starting with
// those of out.
func (o *regulateApplyOptions) waitForRest(ctx context.Context, b *systemSession, out *regulate.Outcome) error {
	all := &regulate.Outcome{}
	if out != nil {
		all.Restored = out.Restored
	}
	patience, stop := context.WithTimeoutCause(ctx, o.timeout, errTooLong)
	defer stop()
	w := newRegulateWatcher(o.applyOptions, b)
	w.did = func(d *applyResult) { all.Restored = append(all.Restored, d.out.Restored...) }
	err := w.run(patience, func(p *regulate.Plan) bool {
		return len(p.Steps) == 0 && len(p.Pending) == 0
	})
	if errors.Is(context.Cause(patience), errTooLong) {
		return hint.With(fmt.Errorf("steps remain after %s", o.timeout), "kubectl sysop regulate plan shows them; --timeout waits longer")
	}
	if err != nil {
		return err
	}
	report, err := o.lookAtRestored(ctx, b, all, o.timeout)
	if err == nil && report != nil && !report.Healthy {
		return errNotFine
	}
	return err
}

type regulateHandOptions struct {
	*applyOptions
	signal  string
	timeout time.Duration
}

func newRegulateStop(env Env) *cobra.Command {
	o := &regulateHandOptions{applyOptions: newActing(env, "table", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "stop [SYSTEM] APP",
		Short: "Hold an app until regulate recover",
		Example: `  # what would be done to hold WordPress?
  kubectl sysop regulate stop wordpress -f demo --from demo --dry-run=client

  # hold an app of an adopted System
  kubectl sysop regulate stop shop worker`,
		Args:              between(0, 2, "a SYSTEM and an APP"),
		ValidArgsFunction: o.completeAppArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, func(b *systemSession, app string, now time.Time) (*regulate.Plan, error) {
				return regulate.StopByHand(b.State, b.System, b.journal, app, o.signal, o.requester(), now), b.requireApp(app)
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.signal, "signal", system.Stop, "the signal to send: Stop, or one of the System's own")
	must(cmd.RegisterFlagCompletionFunc("signal", o.completeSignals))
	return cmd
}

func newRegulateRecover(env Env) *cobra.Command {
	o := &regulateHandOptions{applyOptions: newActing(env, "table", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "recover [SYSTEM] APP",
		Short: "Recover an app, whatever held it",
		Long: `Recover an app: everything done to hold it is undone. Fields that another client changed
stay, and are reported. Then it waits until the app is Healthy, for --timeout, and says
so, or lists what is not and which command helps (exit code 2).

While a rule still holds it, --force is required; the rule then ignores the app until its
cause has cleared once. --force also restores fields changed by others, including those
that an earlier recover left.`,
		Example: `  # what would be done to recover WordPress?
  kubectl sysop regulate recover wordpress -f demo --from demo --dry-run=client

  # recover an app of an adopted System
  kubectl sysop regulate recover shop worker`,
		Args:              between(0, 2, "a SYSTEM and an APP"),
		ValidArgsFunction: o.completeAppArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, func(b *systemSession, app string, now time.Time) (*regulate.Plan, error) {
				return regulate.RecoverByHand(b.State, b.System, b.journal, app, o.requester(), o.force, now), nil
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().DurationVar(&o.timeout, "timeout", recoverTimeout, "how long to wait until the app is Healthy; 0 checks once, briefly")
	cmd.Flags().BoolVar(&o.force, "force", false, "recover although a rule holds it, and also restore fields that others changed")
	return cmd
}

func (o *regulateHandOptions) flags(cmd *cobra.Command) {
	o.naming(cmd)
	o.appFlag(cmd, "the app")
	o.writing(cmd)
	o.doing(cmd)
}

func (o *regulateHandOptions) run(ctx context.Context, args []string, plan func(b *systemSession, app string, now time.Time) (*regulate.Plan, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	name, app, err := o.splitOne(args)
	if err != nil {
		return err
	}
	b, err := o.beginApp(ctx, name)
	if err != nil {
		return err
	}
	d, err := o.confirmAndApply(ctx, b, func(b *systemSession, now time.Time) (*regulate.Plan, error) { return plan(b, app, now) })
	if err != nil {
		return err
	}
	if err := o.tellDone(ctx, b, d, max(o.timeout, 0)); err != nil {
		return err
	}
	if d.restored != nil && !d.restored.Healthy {
		return errNotFine
	}
	return o.refusal(d)
}

// refusal is the error of a signal that was sent by hand and not executed: the caller must not take
// the app for held. Recovering an app that is not held is no error.
func (o *regulateHandOptions) refusal(d *applyResult) error {
	if o.dryRun == "client" || d.planned == nil || len(d.planned.Steps) > 0 {
		return nil
	}
	for i := range d.planned.Refused {
		if r := &d.planned.Refused[i]; r.Reason != regulate.BecauseNotHeld {
			return fmt.Errorf("%s: nothing was done: %s", r.App, r.Message)
		}
	}
	return nil
}
