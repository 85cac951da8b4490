package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type checkOptions struct {
	*command.Common
	args       []string
	selector   string
	categories []string
	waivers    string
	failOn     string
	all        bool

	// colocation reports the placement of the pods of stacks instead.
	colocation bool

	atomic atomicOptions
	of     systems.Query
}

func newCheck(env command.Env) *cobra.Command {
	o := &checkOptions{Common: command.NewCommon(env, "tree", "table", "wide", "json", "yaml", "name", "sarif", "junit")}
	o.atomic.Common = o.Common
	cmd := o.NewCommand("check [KIND|OPERATOR|ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.flags(cmd)
	return cmd
}

// flags adds the flags of the check command.
func (o *checkOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, "of a TYPE without a name, only objects with these labels")
	f.StringSliceVar(&o.categories, "category", nil, "only rules of these categories: "+strings.Join(app.CategoryNames(), ", "))
	f.StringVar(&o.waivers, "waivers", "", "accepted findings, from a YAML FILE")
	f.StringVar(&o.failOn, "fail-on", "", "exit with code 2 if a finding has at least this level: error or warning")
	f.BoolVar(&o.all, "all", false, "list every finding of every subject")
	f.BoolVar(&o.colocation, "colocation", false, "show how the pods of stacks are placed on nodes and in zones, and whether a stack fits on one node")
	o.atomic.flags(cmd)
	o.AddSystemQueryFlag(cmd, &o.of.Name, "with its waivers")
	command.Offer(cmd, "category", app.CategoryNames()...)
	command.Offer(cmd, "fail-on", "error", "warning")
}

func (o *checkOptions) run(ctx context.Context, args []string) error {
	o.args = args
	var err error
	if o.args, err = o.of.Read(ctx, &o.Input, o.args); err != nil {
		return err
	}
	q, err := o.question(ctx)
	if err != nil {
		return err
	}
	failOn, err := o.failLevel()
	if err != nil {
		return err
	}
	if o.atomic.on {
		return o.atomic.run(ctx, o.args, failOn)
	}
	c, err := app.Check(ctx, &o.Input, q)
	if err != nil {
		return err
	}
	if o.colocation {
		return o.showColocation(ctx, c)
	}
	report, err := c.NewReport(ctx)
	if err != nil {
		return err
	}
	c.Session.ReportGaps(c.Graph)
	// Of one subject every finding is shown, of many the scores first, unless all is asked for.
	shown := view.CheckOptions{Namespace: c.Home, Level: c.Level(report, o.of.Source()), All: o.all, Summary: c.Targets.Everything && !o.all, Version: o.Env.Version, Shape: render.ShapeOf(o.Output)}
	var lines []string
	if o.ForPeople() {
		lines = summary.Check(c, report, o.args, o.selector)
	}
	err = o.Finish(c.Session, c.Graph, view.Check(report, shown), lines...)
	if err == nil && failOn != 0 && report.Worst(failOn) {
		return command.ErrNotFine
	}
	return err
}
