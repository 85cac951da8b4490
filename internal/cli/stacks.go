package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

type stacksOptions struct {
	*command.Common
	selector string
	sortBy   string
	all      bool
	prices   string
	rules    app.HealthRuleOptions
	by, tone string // of the map
}

// The values of --by and --tone, the default first.
var mapRegions, mapTones = []string{"namespace", "app"}, []string{"none", "cost"}

func newStacks(env command.Env) *cobra.Command {
	o := &stacksOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "csv", "svg", "html", "name")}
	cmd := o.NewCommand("stacks", noRoots, cobra.NoFileCompletions, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, "only stacks with a root that has these labels")
	f.StringVar(&o.sortBy, "sort-by", "name", "order of the stacks: "+strings.Join(app.StackOrders(), ", "))
	f.BoolVar(&o.all, "all", false, "also list the stacks of the cluster system, and the objects in no stack with the reason")
	f.StringVar(&o.by, "by", mapRegions[0], "regions of the map (-o html, svg): "+strings.Join(mapRegions, ", ")+", which is the System app of the label app.kubernetes.io/part-of or of an adopted System")
	f.StringVar(&o.tone, "tone", mapTones[0], "what darker cards of the map (-o html, svg) say: "+strings.Join(mapTones, ", "))
	command.AddHealthRuleFlags(cmd, &o.rules, o.Common)
	metricscmd.PricesFlag(cmd, &o.prices)
	command.Offer(cmd, "sort-by", app.StackOrders()...)
	command.Offer(cmd, "by", mapRegions...)
	command.Offer(cmd, "tone", mapTones...)
	return cmd
}

func noRoots(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return hint.With(fmt.Errorf("%s: stacks takes no roots", args[0]), "kubectl sysop health "+args[0]+" shows one; -l selects stacks by label")
}

func (o *stacksOptions) run(ctx context.Context, _ []string) error {
	selector, err := o.validateFlags()
	if err != nil {
		return err
	}
	if o.IsDrawing() {
		return o.draw(ctx)
	}
	q := app.StacksRequest{Selector: selector, All: o.all, SortBy: o.sortBy}
	if q.Book, err = app.ReadPrices(ctx, o.prices); err != nil {
		return err
	}
	if q.Rules, err = o.rules.Read(ctx); err != nil {
		return err
	}
	l, err := o.Stacks(ctx, q)
	if err != nil {
		return err
	}
	var lines []string
	if o.Output != "name" {
		lines = summary.Stacks(l, o.ForPeople())
	}
	return o.Finish(l.Session, l.Graph, stacksOutput(l, render.ShapeOf(o.Output)), lines...)
}

// validateFlags checks the flags, before anything is read.
func (o *stacksOptions) validateFlags() (labels.Selector, error) {
	for _, f := range []struct {
		flag, value string
		valid       []string
		ofMap       bool
	}{{"--sort-by", o.sortBy, app.StackOrders(), false}, {"--by", o.by, mapRegions, true}, {"--tone", o.tone, mapTones, true}} {
		if _, err := command.OneOf(f.flag, f.value, f.valid); err != nil {
			return nil, err
		}
		if f.ofMap && f.value != f.valid[0] && !o.IsDrawing() {
			return nil, hint.With(fmt.Errorf("%s %s: only the map has it", f.flag, f.value), "-o html and -o svg write the map")
		}
	}
	return app.ParseSelector(o.selector)
}

// stacksOutput is what is shown, in the wanted shape.
func stacksOutput(l *app.StacksResult, shape view.Shape) view.Output {
	return view.Stacks(l.Rows, &l.Total, view.StacksOptions{
		Namespace: l.CommonNamespace(), Now: l.Session.AsOf(), Kind: l.Session.Typed, Reading: l.Reading, Prices: l.Request.Book.Name,
		Money: cost.Round(l.Report, cost.ColumnMonth, 2), Currency: l.Report.Currency, Gaps: l.Graph.Gaps(),
		Rest: l.Rest, Others: l.Others, Shape: shape, SharedAmong: l.SharedAmong(),
	})
}
