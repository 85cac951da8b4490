package metricscmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type pricesShowOptions struct {
	*command.Common
	prices  string
	nodes   bool
	forNode string
}

func newPricesShow(env command.Env) *cobra.Command {
	o := &pricesShowOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml")}
	cmd := o.NewCommand("show", command.RangeArgs(0, 0, "a book with --prices FILE, and no arguments"), cobra.NoFileCompletions, o.run)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	PricesFlag(cmd, &o.prices)
	cmd.Flags().BoolVar(&o.nodes, "nodes", false, "show the prices of each node")
	cmd.Flags().StringVar(&o.forNode, "node", "", "show the prices of the node with this NAME")
	command.Complete(cmd, "node", o.CompleteWith(completion.Nodes))
	command.AliasFlag(cmd, "for-node", "node")
	return cmd
}

func (o *pricesShowOptions) run(ctx context.Context, _ []string) error {
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
	if err := o.Write(view.Prices(book)); err != nil {
		return err
	}
	o.tellBook(book)
	return nil
}

// tellBook says which book it was.
func (o *pricesShowOptions) tellBook(book *cost.Book) {
	about := fmt.Sprintf("prices of %s, in %s", command.Safe(book.Name), book.Currency)
	if o.prices == "" || o.prices == app.DefaultPrices {
		about = "OpenCost's default prices, in " + book.Currency + " (--prices FILE reads yours)"
	}
	fmt.Fprintln(o.Env.ErrOut, about)
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
	if err := o.Write(view.NodePrices(book.For(o.ClusterName()), nodes, namespace, gaps)); err != nil {
		return err
	}
	if len(nodes) == 0 {
		o.Say("no nodes are known: the prices without node overrides apply (prices show)")
	}
	o.tellBook(book)
	return nil
}
