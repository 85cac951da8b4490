package metricscmd

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

type metricsOptions struct {
	*command.Common
	args       []string
	selector   string
	depth      int
	by         []string
	filter     []string
	sortBy     string
	top        int
	containers bool

	window string
	every  string
	step   time.Duration
	command.PrometheusOptions

	prices          string
	share           string
	shareIdle       bool
	shareNamespaces []string
	shareOverhead   string
	shareBy         string

	watch    bool
	interval time.Duration
	listen   string
	focus    focusOptions

	of systems.Query
	// shareChosen says that --share was written.
	shareChosen bool
	// froms and contexts are the clusters of one report.
	froms, contexts repeatedFlag
	// byChosen says that --by was written.
	byChosen bool
}

func New(env command.Env) *cobra.Command {
	o := &metricsOptions{Common: command.NewCommon(env, "tree", "table", "wide", "json", "yaml", "csv", "openmetrics", "focus", "svg", "html", "name")}
	cmd := &cobra.Command{
		Use:               "metrics [ROOT...]",
		Args:              cobra.ArbitraryArgs, // it has a subcommand besides
		ValidArgsFunction: o.CompleteRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.shareChosen, o.byChosen = args, cmd.Flags().Changed("share"), cmd.Flags().Changed("by")
			return o.run(cmd.Context())
		},
	}
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.flags(cmd)
	cmd.AddCommand(newMetricsRules(env), newMetricsDoctor(env))
	return cmd
}

func (o *metricsOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.AddSelectorFlags(cmd, &o.selector, command.OfType)
	f.IntVar(&o.depth, "depth", 0, "how many levels tree, wide and csv show, each row with the sums of what is below (0: all)")
	o.keyFlags(cmd)
	f.StringVar(&o.sortBy, "sort-by", "", "order of the rows: "+strings.Join(cost.SortKeys(), ", ")+" (with --top: cost)")
	f.IntVar(&o.top, "top", 0, "show only this many rows, and the others as one (0: all); with --every, the same ones in each period: those of the window")
	f.BoolVar(&o.containers, "containers", false, "show the containers of pods")

	f.StringVar(&o.window, "window", "", "add up over a window of time, from Prometheus: 24h, 7d, week, month, lastmonth, 2026-11-01/2026-11-15")
	f.StringVar(&o.every, "every", "", "divide a --window into rows that add up to it: day, week (from Monday) or month, in UTC")
	f.DurationVar(&o.step, "step", 0, "the step in which a --window is summed: 1m, 5m, 15m or 60m (default: by its length)")
	o.AddPrometheusFlags(cmd)

	PricesFlag(cmd, &o.prices)
	f.StringVar(&o.share, "share", "even", "how to split what several stacks need: even, usage, requests, weight (annotation "+app.WeightAnnotation+"), or none: it has rows of its own")
	f.BoolVar(&o.shareIdle, "share-idle", false, "split the idle cost of a node among the stacks that pay there")
	f.StringSliceVar(&o.shareNamespaces, "share-namespace", nil, "namespaces that all stacks pay for")
	f.StringVar(&o.shareOverhead, "share-overhead", "0", "money per hour that all stacks pay in addition")
	f.StringVar(&o.shareBy, "share-by", "", "how to split shared cost and overhead: even or weighted (by what each pays otherwise) (default: as the price book says, or even)")

	f.BoolVarP(&o.watch, "watch", "w", false, "repeat the output, until interrupted")
	f.DurationVar(&o.interval, "interval", time.Minute, "how often to measure, with --watch and at most with --listen")
	f.StringVar(&o.listen, "listen", "", "serve the metrics to Prometheus at this address (127.0.0.1:9808), until interrupted")
	o.focus.flags(cmd)
	o.AddSystemQueryFlag(cmd, &o.of.Name, "with its prices, sharing, weights and tenant")

	for flag, values := range map[string][]string{
		"sort-by": cost.SortKeys(), "share": sharings(), "share-by": {"even", "weighted"}, "step": {"1m", "5m", "15m", "60m"},
		"window": WindowNames(), "every": {"day", "week", "month"},
	} {
		command.Offer(cmd, flag, values...)
	}
	command.Complete(cmd, "share-namespace", o.CompleteNamespaces)
}
