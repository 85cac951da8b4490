package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

type stacksOptions struct {
	*common
	selector string
	sortBy   string
	all      bool
	prices   string
	rules    app.HealthRuleOptions
}

func newStacks(env Env) *cobra.Command {
	o := &stacksOptions{common: newCommon(env, "table", "wide", "json", "yaml", "csv", "svg", "html", "name")}
	cmd := &cobra.Command{
		Use:   "stacks",
		Short: "List application stacks with health, usage and cost",
		Long: `Find the application stacks of the namespace, or of the cluster with -A, and show of
each its health and the cause, its healthy pods, its usage and its cost a month. Each
NAME is a ROOT for the other commands.

A stack starts at an object that no other object owns or needs: a workload, or a custom
resource, also one whose operator has not created anything yet. Objects that declare
that they belong together are one stack: by their ApplySet, their Helm release
(helm/NAME), or their label app.kubernetes.io/instance (app/NAME).

Objects that exist for others are no stack: monitors, scalers and other configuration of
what they serve, accessories of a running resource of the same operator (a topic of its
broker), GitOps managers, and cluster-wide custom resources that own nothing. These, and
all other objects that are in no stack, are counted, and listed with --all; so are the
stacks of kube-system, unless -n names it.

HEALTH is the worst of what the stack owns and needs, and CAUSE the reason. PODS are the
Healthy ones, of all. "-" is unknown, and "≥" means that not every pod was measured. The
cost of what several stacks have is split evenly, and listed in SHARED WITH OTHERS
(-o wide).`,
		Example: `  # which stacks are there?
  kubectl sysop stacks --from demo

  # unhealthy ones first, or the most expensive
  kubectl sysop stacks -A --sort-by health --from demo
  kubectl sysop stacks -A --sort-by cost --from demo

  # what is in none of them?
  kubectl sysop stacks -A --all --from demo

  # all that is known, and for a program
  kubectl sysop stacks -o wide --from demo
  kubectl sysop stacks -A -o json --from demo

  # names that other commands take
  kubectl sysop stacks -A -o name --from demo`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return hint.With(fmt.Errorf("%s: stacks takes no roots", args[0]), "kubectl sysop health "+args[0]+" shows one; -l selects stacks by label")
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.reading(cmd)
	o.writing(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "only stacks with a root that has these labels")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.StringVar(&o.sortBy, "sort-by", "name", "order of the stacks: "+strings.Join(app.StackOrders(), ", "))
	f.BoolVar(&o.all, "all", false, "also list the stacks of the cluster system, and the objects in no stack with the reason")
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	healthRuleFlags(cmd, &o.rules, o.common)
	pricesFlag(cmd, &o.prices)
	must(cmd.RegisterFlagCompletionFunc("sort-by", cobra.FixedCompletions(app.StackOrders(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *stacksOptions) run(ctx context.Context) error {
	selector, err := o.validateFlags()
	if err != nil {
		return err
	}
	if o.drawn() {
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
	if err := o.write(stacksOutput(l, render.ShapeOf(o.output))); err != nil {
		return err
	}
	o.tellStacks(l)
	l.Session.PrintTimings(l.Graph)
	return nil
}

// validateFlags checks the flags, before anything is read.
func (o *stacksOptions) validateFlags() (labels.Selector, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if !slices.Contains(app.StackOrders(), o.sortBy) {
		return nil, hint.With(fmt.Errorf("unknown value %q of --sort-by", o.sortBy), "write one of "+strings.Join(app.StackOrders(), ", "))
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
