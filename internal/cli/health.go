package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type healthOptions struct {
	*command.Common
	args     []string
	selector string
	all      bool
	since    time.Duration
	exitCode bool
	rules    app.HealthRuleOptions
	command.PrometheusOptions
	server app.HistorySource

	watch   bool
	wait    string
	timeout time.Duration
}

func newHealth(env command.Env) *cobra.Command {
	o := &healthOptions{Common: command.NewCommon(env, "tree", "table", "wide", "json", "yaml", "svg", "html", "name")}
	cmd := o.NewCommand("health [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, command.OfType)
	f.BoolVar(&o.all, "all", false, "show the health of every object, not only of stacks")
	f.DurationVar(&o.since, "since", 0, "also show what changed in this time, and leave out older warnings (30m)")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 unless at least one stack is found, and all are Healthy or Suspended")
	command.AddHealthRuleFlags(cmd, &o.rules, o.Common)
	o.AddPrometheusFlags(cmd)
	f.BoolVarP(&o.watch, "watch", "w", false, "print a line for each change, until interrupted")
	f.StringVar(&o.wait, "wait", "", "wait until every stack has this status")
	f.Lookup("wait").NoOptDefVal = string(health.Healthy)
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to --wait")
	command.Offer(cmd, "wait", statusNames()...)
	return cmd
}

func (o *healthOptions) run(ctx context.Context, args []string) error {
	o.args = args
	q, err := o.question(ctx)
	if err != nil {
		return err
	}
	if o.IsDrawing() {
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
		return command.ErrNotFine
	}
	return nil
}

// show writes the whole answer.
func (o *healthOptions) show(ctx context.Context, h *app.HealthResult) error {
	h.Session.ReportGaps(h.Graph)
	gap, err := h.ReadWarnings(ctx)
	if gap != nil {
		o.Gaps([]object.Gap{*gap})
	}
	if err != nil {
		return err
	}
	if err := o.ask(ctx, h); err != nil {
		return err
	}
	var lines []string
	if o.ForPeople() && !o.all {
		lines = []string{summary.Health(h)}
	}
	return o.Finish(h.Session, h.Graph, h.Output(render.ShapeOf(o.Output)), lines...)
}

// ask adds what the Prometheus of the flags says.
func (o *healthOptions) ask(ctx context.Context, h *app.HealthResult) error {
	if o.server.Address == "" {
		return nil
	}
	timeout, err := o.RequestTimeout()
	if err != nil {
		return err
	}
	gap, err := h.AskPrometheus(ctx, o.server, timeout)
	if gap != nil {
		o.Warn("no evidence of Prometheus: " + gap.Message)
	}
	return err
}
