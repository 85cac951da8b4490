package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
)

type uiOptions struct {
	*common
	args     []string
	selector string
	prices   string
	rules    app.HealthRuleOptions
	prometheusOptions
	// catalogues are those whose operators the composer offers.
	catalogues catalogueOptions
	open       bool
	port       int
}

// pageIdle is how long the page is served without a viewer.
const pageIdle = 8 * time.Hour

func newUI(env Env) *cobra.Command {
	o := &uiOptions{common: newCommon(env, "", "json")}
	cmd := &cobra.Command{
		Use:   "ui [ROOT...]",
		Short: "Serve a page that shows stacks as a tree and as a graph, with evidence, health and cost",
		Long: `Serve one page for the browser of this machine: the stacks of the namespace, or of the
cluster with -A, or those of the roots. It shows each as a tree and as a graph, its
health and the cause, its usage and cost, and for every edge the field of the object
behind it; paths between two objects, the impact of a deletion, the findings of check,
and the apps that regulation holds; and it composes the manifest of a System, with the
operators of the embedded catalog, of the settings and of --catalog.

The page follows the cluster: changes show within seconds. It has your permissions,
writes nothing, and shows no values of Secrets; of variables and annotations it shows
only the names behind an edge.

It is served at 127.0.0.1 only. The printed address works once, and lets in one page
with the tabs beside it; all other clients of the port are refused. --open hands the
address to the browser in a file that only you may read. It ends with Ctrl-C, or after 8
hours without an open page.

To share a picture, graph, health, metrics and stacks write the same page as one file
that needs no server and no network (-o html), or as a drawing (-o svg).`,
		Example: `  # the stacks of the example
  kubectl sysop ui --from demo

  # all namespaces, in the browser at once
  kubectl sysop ui -A --open

  # one stack, and what it cost in the last day
  kubectl sysop ui moodle/moodle-1 --prometheus svc:monitoring/prometheus:9090

  # for a program that opens the address
  kubectl sysop ui -o json --from demo`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.selector, "selector", "l", "", "select the roots of a TYPE by label; without a ROOT, the stacks with such a root")
	must(cmd.RegisterFlagCompletionFunc("selector", o.completeSelector))
	f.BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	healthRuleFlags(cmd, &o.rules, o.common)
	pricesFlag(cmd, &o.prices)
	o.prometheusFlags(cmd)
	o.catalogues.findingFlags(cmd)
	f.BoolVar(&o.open, "open", false, "open it in the browser")
	f.IntVar(&o.port, "port", 0, "the port at 127.0.0.1 (0: any that is free)")
	must(cmd.RegisterFlagCompletionFunc("port", cobra.NoFileCompletions))
	f.StringVarP(&o.output, "output", "o", "", "json writes the address for a program; without it, for people")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *uiOptions) validate() error {
	if o.output != "" && o.output != "json" {
		return hint.With(fmt.Errorf("unknown output format %q", o.output), "write json, or leave it out; graph, health, metrics and stacks write the page as a file: -o html")
	}
	if o.port < 0 || o.port > 65535 {
		return fmt.Errorf("--port %d: expected 0 to 65535", o.port)
	}
	return o.common.validate()
}

func (o *uiOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	past, err := o.server(ctx)
	if err != nil {
		return err
	}
	v, err := o.StacksPage(ctx, o.args, o.selector, o.prices, &o.rules)
	if err != nil {
		return err
	}
	if len(o.catalogues.catalogs) > 0 { // what is wrong with them is said now, and not to the page alone
		if _, err := o.catalogEntries(ctx); err != nil {
			return err
		}
	}
	v.Mode, v.MissingSources = "live", map[string]string{}
	if past.Address == "" {
		v.MissingSources["history"] = "costs over time need Prometheus: --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT"
	}
	a := &web.API{Page: v, History: past, Catalog: o.catalogEntries, CatalogFlags: o.catalogues.shellFlags()}
	return web.ServePage(ctx, a, web.PageOptions{Port: o.port, Idle: pageIdle, Open: o.open, Ready: o.printAddress})
}

// catalogEntries are the operators that the composer offers.
func (o *uiOptions) catalogEntries(ctx context.Context) ([]catalog.Entry, error) {
	all, err := o.catalogues.catalogued(ctx, o.common)
	if err != nil {
		return nil, err
	}
	return all.Entries(), nil
}
