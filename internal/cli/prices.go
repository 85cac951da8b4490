package cli

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func newPrices(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prices",
		Short: "Show the prices that costs are based on, and validate a price book",
		Long: `Costs are based on a price book: your own (--prices FILE), or else OpenCost's public
default prices, in USD. A book is a YAML file, or one of OpenCost's: its JSON
configuration or its CSV. docs/price-book.md describes the format.`,
	}
	holds(cmd)
	cmd.AddCommand(newPricesShow(env), newPricesValidate(env))
	return cmd
}

// pricesFlag adds --prices.
func pricesFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "prices", "", `price book: a YAML FILE, or OpenCost's JSON or CSV; without it, or with "default", OpenCost's public prices`)
	must(cmd.RegisterFlagCompletionFunc("prices", fileOr(app.DefaultPrices+"\tOpenCost's public prices", "yaml", "yml", "json", "csv")))
}

type pricesShowOptions struct {
	*common
	prices  string
	nodes   bool
	forNode string
}

func newPricesShow(env Env) *cobra.Command {
	o := &pricesShowOptions{common: newCommon(env, "table", "wide", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the price book, or the prices of nodes",
		Long: `Show the price book, line by line: the price of a unit for an hour, the price after
discounts, and the scope of an override. With -o yaml it is written in its normal form,
which --prices reads: this converts a book of OpenCost's to this format. No cluster is
read.

With --nodes or --node: the price of a core, a GiB of memory and a GPU on each node, and
the overrides that apply. The price of a whole node is split in the ratio of the prices
that apply without it. -n names the namespace whose prices are used.`,
		Example: `  # the default prices
  kubectl sysop prices show

  # a book to start from
  kubectl sysop prices show -o yaml

  # what the nodes cost
  kubectl sysop prices show --nodes --from demo
  kubectl sysop prices show --node worker-a -o json --from demo`,
		Args:              between(0, 0, "a book with --prices FILE, and no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connecting(cmd)
	o.writing(cmd)
	pricesFlag(cmd, &o.prices)
	cmd.Flags().BoolVar(&o.nodes, "nodes", false, "show the prices of each node")
	cmd.Flags().StringVar(&o.forNode, "node", "", "show the prices of the node with this NAME")
	must(cmd.RegisterFlagCompletionFunc("node", o.completeNodes))
	aliasFlag(cmd, "for-node", "node")
	return cmd
}

func (o *pricesShowOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	book, err := app.ReadPrices(ctx, o.prices)
	if err != nil {
		return err
	}
	switch {
	case o.nodes && o.forNode != "":
		return fmt.Errorf("--nodes and --node exclude each other")
	case o.nodes || o.forNode != "":
		return o.showNodes(ctx, book)
	case o.From != "" || app.Given(o.Config.Namespace):
		return hint.With(fmt.Errorf("a price book does not depend on a cluster"), "add --nodes, to see what its nodes cost")
	}
	if err := o.write(view.Prices(book)); err != nil {
		return err
	}
	o.tellBook(book)
	return nil
}

// tellBook says which book it was.
func (o *pricesShowOptions) tellBook(book *cost.Book) {
	about := fmt.Sprintf("prices of %s, in %s", safe(book.Name), book.Currency)
	if o.prices == "" || o.prices == app.DefaultPrices {
		about = "OpenCost's default prices, in " + book.Currency + " (--prices FILE reads yours)"
	}
	fmt.Fprintln(o.env.ErrOut, about)
}

func (o *pricesShowOptions) showNodes(ctx context.Context, book *cost.Book) error {
	nodes, gaps, err := o.Nodes(ctx)
	if err != nil {
		return err
	}
	if o.forNode != "" {
		var names []string
		for i := range nodes {
			names = append(names, nodes[i].Name)
		}
		nodes = slices.DeleteFunc(nodes, func(n metrics.Node) bool { return n.Name != o.forNode })
		if len(nodes) == 0 && len(gaps) == 0 {
			return fmt.Errorf("there is no node %s%s", o.forNode, object.DidYouMean(object.Nearest(o.forNode, names)))
		}
	}
	namespace := ""
	if app.Given(o.Config.Namespace) {
		namespace = *o.Config.Namespace
	}
	o.Gaps(gaps)
	if err := o.write(view.NodePrices(book, nodes, namespace, gaps)); err != nil {
		return err
	}
	if len(nodes) == 0 {
		fmt.Fprintln(o.env.ErrOut, "no nodes are known: the prices without node overrides apply (prices show)")
	}
	o.tellBook(book)
	return nil
}

func newPricesValidate(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Validate price books",
		Long: `Validate price books, in any form that --prices reads, and print a line for each that is
valid. For every other book all errors are reported with line and column, and the exit
code is 1. No cluster is read. To start a book, run
"kubectl sysop prices show -o yaml > prices.yaml".`,
		Example: `  # the default prices; for a book of your own write its file
  kubectl sysop prices validate default`,
		Args: between(1, math.MaxInt, "a FILE, or several"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{app.DefaultPrices + "\tOpenCost's public prices"}, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return validatePrices(cmd.Context(), env, args) },
	}
}

// validatePrices checks every file, whatever is wrong with another.
func validatePrices(ctx context.Context, env Env, files []string) error {
	var wrong []string
	for _, name := range files {
		book, problems, err := app.ParsePrices(ctx, name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			wrong = append(wrong, err.Error())
		case len(problems) > 0:
			wrong = append(wrong, hint.Placed(name, problems)...)
		default:
			fmt.Fprintf(env.Out, "%s: valid: %d prices in %s\n", safe(name), len(book.Lines()), book.Currency)
		}
	}
	if len(wrong) > 0 {
		return hint.With(&hint.Lines{Lines: wrong}, app.PriceBookHint)
	}
	return nil
}
