package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

type healthOptions struct {
	*common
	args     []string
	selector string
	all      bool
	since    time.Duration
	exitCode bool
	rules    app.HealthRuleOptions

	watch   bool
	wait    string
	timeout time.Duration
}

func newHealth(env Env) *cobra.Command {
	o := &healthOptions{common: newCommon(env, "tree", "table", "wide", "json", "yaml", "svg", "html", "name")}
	cmd := &cobra.Command{
		Use:   "health [ROOT...]",
		Short: "Show the health of stacks, and the cause",
		Long: `Show the health of each stack: Healthy, Suspended, Unknown, Progressing, Missing or
Degraded. A stack is as healthy as the worst of its roots and of what they own and need,
at any depth. What is optional, and what only serves the stack, is shown but ignored,
except for an autoscaler that cannot scale it. Without a ROOT, these are the stacks of
the namespace, or of the cluster with -A.

HEALTH is what an object reports about itself, PARTS the worst of what it owns and
needs. A custom resource that reports nothing has the health of what it owns, and the
output says so. An object without any known sign of health is Unknown, never Healthy.

Unhealthy objects are shown with their last warnings; healthy ones are counted. A cause
is an unhealthy object none of whose parts is as unhealthy.

With --watch each change prints a line, until interrupted; with --wait the command ends
when all stacks have the status, or fails after --timeout.`,
		Example: `  # the health of the example's stacks
  kubectl sysop health --from demo

  # one of them, and why
  kubectl sysop health moodle/moodle-2 --from demo

  # its causes, one a line
  kubectl sysop health moodle/moodle-2 -o wide --from demo

  # every object, worst first
  kubectl sysop health -A --all --from demo

  # in a script: 0 if all is well, 2 if not
  kubectl sysop health moodle/moodle-1 --exit-code --from demo`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.writing(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.BoolVar(&o.all, "all", false, "show the health of every object, not only of stacks")
	f.DurationVar(&o.since, "since", 0, "also show what changed in this time, and leave out older warnings (30m)")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 unless at least one stack is found, and all are Healthy or Suspended")
	healthRuleFlags(cmd, &o.rules, o.common)
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	f.BoolVarP(&o.watch, "watch", "w", false, "print a line for each change, until interrupted")
	f.StringVar(&o.wait, "wait", "", "wait until every stack has this status")
	f.Lookup("wait").NoOptDefVal = string(health.Healthy)
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to --wait")
	must(cmd.RegisterFlagCompletionFunc("wait", cobra.FixedCompletions(statusNames(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *healthOptions) run(ctx context.Context) error {
	q, err := o.question(ctx)
	if err != nil {
		return err
	}
	if o.drawn() {
		return o.draw(ctx)
	}
	opening, stop := o.opening(ctx, q)
	defer stop()
	h, err := o.Health(opening, q)
	if err != nil {
		return o.late(opening, q, err)
	}
	if o.From == "" && (o.watch || q.Want != "") {
		return o.follow(ctx, opening, h)
	}
	if err := h.Evaluate(ctx); err != nil {
		return err
	}
	if err := o.show(ctx, h); err != nil {
		return err
	}
	switch {
	case q.Want != "":
		return h.Reached()
	case o.exitCode && !h.IsHealthy():
		return errNotFine
	}
	return nil
}

// show writes the whole answer.
func (o *healthOptions) show(ctx context.Context, h *app.HealthResult) error {
	h.Session.ReportGaps(h.Graph)
	if err := o.warnings(ctx, h); err != nil {
		return err
	}
	if err := o.write(h.Output(render.ShapeOf(o.output))); err != nil {
		return err
	}
	o.tellHealth(h)
	h.Session.PrintTimings(h.Graph)
	return nil
}
