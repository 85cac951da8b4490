package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
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

func statusNames() []string {
	var names []string
	for _, s := range health.Statuses() {
		names = append(names, string(s))
	}
	return names
}

// statusNamed is the status of a name, in letters of any case; empty for none.
func statusNamed(name string) health.Status {
	for _, s := range health.Statuses() {
		if strings.EqualFold(string(s), name) {
			return s
		}
	}
	return ""
}

func (o *healthOptions) question(ctx context.Context) (*app.HealthRequest, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	selector, err := app.ParseSelector(o.selector)
	if err != nil {
		return nil, err
	}
	q := &app.HealthRequest{Args: o.args, All: o.all, Since: o.since, Watch: o.watch, Selector: selector}
	if q.Rules, err = o.rules.Read(ctx); err != nil {
		return nil, err
	}
	if o.wait != "" {
		if q.Want = statusNamed(o.wait); q.Want == "" {
			return nil, hint.With(fmt.Errorf("unknown status %q of --wait", o.wait), "write one of "+strings.Join(statusNames(), ", "))
		}
	}
	switch {
	case o.since < 0:
		return nil, fmt.Errorf("--since %s: expected a duration in the past, such as 30m", o.since)
	case o.timeout <= 0:
		return nil, fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	case o.watch && q.Want != "":
		return nil, errors.New("--watch and --wait exclude each other")
	case o.watch && o.From != "":
		return nil, errors.New("--watch: a snapshot does not change")
	case o.all && (len(o.args) > 0 || q.Want != ""):
		return nil, errors.New("--all shows every object: it takes no ROOT and no --wait")
	case q.Want != "" && len(o.args) == 1 && statusNamed(o.args[0]) != "":
		return nil, hint.With(fmt.Errorf("%s is not a root", o.args[0]), "write --wait="+o.args[0])
	case o.selector != "" && len(o.args) == 0:
		return nil, errors.New("--selector chooses among all of a TYPE: name one")
	}
	return q, nil
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

// tellHealth sums up on stderr, for people.
func (o *healthOptions) tellHealth(h *app.HealthResult) {
	if !o.human() || o.all {
		return
	}
	if len(h.Stacks) == 0 {
		fmt.Fprintln(o.env.ErrOut, "no stacks found")
		return
	}
	counts := map[health.Status]int{}
	for _, s := range h.Stacks {
		counts[s.Health.Status]++
	}
	var parts []string
	for _, s := range health.Statuses() {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	noun := "stacks"
	if len(h.Stacks) == 1 {
		noun = "stack"
	}
	fmt.Fprintf(o.env.ErrOut, "%d %s: %s\n", len(h.Stacks), noun, strings.Join(parts, ", "))
}

// warnings asks for the last Warning events about the causes, and tells where they cannot be read.
func (o *healthOptions) warnings(ctx context.Context, h *app.HealthResult) error {
	gap, err := h.ReadWarnings(ctx)
	if gap != nil {
		o.Gaps([]object.Gap{*gap})
	}
	return err
}
