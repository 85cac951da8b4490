package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscaler"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
)

func newAutoscale(env command.Env) *cobra.Command {
	return command.Group("autoscale", newAutoscalePlan(env), newAutoscaleApply(env), newAutoscaleStatus(env), newAutoscaleRemove(env))
}

// autoscaleOptions say what is scaled.
type autoscaleOptions struct {
	scaled string // the manifest of a System
	name   string
	prices string
}

func (o *autoscaleOptions) namingFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.scaled, "filename", "f", "", `a System: the FILE of its manifest, "-" or "demo", or the NAME of an adopted one`)
	f.StringVar(&o.name, "name", "", "the name of what is scaled: the System of the scalers is NAME"+autoscale.Suffix+" (default: that of the System, the one root, or the namespace)")
}

// request reads what is scaled.
func (o *autoscaleOptions) request(ctx context.Context, c *command.Common, args []string) (autoscaler.Request, error) {
	req := autoscaler.Request{Args: args, Name: o.name}
	var err error
	q := systems.Query{Name: o.scaled}
	if q.Name != "" {
		if len(args) > 0 {
			return req, hint.With(fmt.Errorf("-f has its own roots, and %s is another one", args[0]), "leave out one of them")
		}
		if _, err = q.Read(ctx, &c.Input, nil); err != nil {
			return req, err
		}
		req.System = q.System
	}
	req.Book, err = app.ReadPrices(ctx, q.Prices(o.prices))
	return req, err
}

// usageOptions say from which usage, and within which bounds.
type usageOptions struct {
	command.PrometheusOptions
	window, budget string
	stabilization  time.Duration
}

func (o *usageOptions) usageFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.window, "window", "", "take usage over a window of time, from --prometheus: 24h, 7d, lastweek (default: that of the moment)")
	f.StringVar(&o.budget, "budget", "", "what all may cost a month at the maxima, in the currency of the price book (default: as the System says)")
	f.DurationVar(&o.stabilization, "stabilization", autoscale.DefaultStabilization, "for how long usage must be lower before pods are removed")
	o.AddPrometheusFlags(cmd)
	command.Offer(cmd, "window", metricscmd.WindowNames()...)
}

// usage adds to a request where usage is from.
func (o *usageOptions) usage(ctx context.Context, c *command.Common, req *autoscaler.Request) error {
	const most = time.Hour // of the field in an HPA
	var err error
	if req.History, err = o.Server(ctx); err != nil {
		return err
	}
	switch {
	case req.History.Address == "" && o.window != "":
		return hint.With(fmt.Errorf("--window %s needs a history: there is no --prometheus", o.window), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	case req.History.Address != "" && o.window == "":
		return hint.With(fmt.Errorf("--prometheus is asked about a window: there is no --window"), "add --window 7d")
	case o.stabilization < 0 || o.stabilization > most:
		return fmt.Errorf("--stabilization %s: expected 0s to 1h", o.stabilization)
	}
	if o.budget != "" && !isAmount(o.budget) {
		return fmt.Errorf("--budget %q: expected an amount of money a month above 0, such as 250", o.budget)
	}
	req.History.Window, req.Budget, req.Stabilization = o.window, o.budget, o.stabilization
	req.Timeout, err = c.RequestTimeout()
	return err
}

// isAmount says whether a text is a decimal number above 0.
func isAmount(text string) bool {
	n, err := decimal.NewFromString(text)
	return err == nil && n.IsPositive()
}
