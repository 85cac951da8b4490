package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/cli/metricscmd"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
)

type uiOptions struct {
	*command.Common
	args     []string
	flags    *pflag.FlagSet
	selector string
	prices   string
	rules    app.HealthRuleOptions
	command.PrometheusOptions
	// catalogues are those whose operators the composer offers.
	catalogues catalogueOptions
	open       bool
	port       int
}

// pageIdle is how long the page is served without a viewer.
const pageIdle = 8 * time.Hour

func newUI(env command.Env) *cobra.Command {
	o := &uiOptions{Common: command.NewCommon(env, "", "json")}
	cmd := command.New("ui [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	f := cmd.Flags()
	o.flags = f
	o.AddSelectorFlags(cmd, &o.selector, "select the roots of a TYPE by label; without a ROOT, the stacks with such a root")
	command.AddHealthRuleFlags(cmd, &o.rules, o.Common)
	metricscmd.PricesFlag(cmd, &o.prices)
	o.AddPrometheusFlags(cmd)
	o.catalogues.findingFlags(cmd)
	f.BoolVar(&o.open, "open", false, "open it in the browser")
	f.IntVar(&o.port, "port", 0, "the port at 127.0.0.1 (0: any that is free)")
	command.Complete(cmd, "port", cobra.NoFileCompletions)
	f.StringVarP(&o.Output, "output", "o", "", "json writes the address for a program; without it, for people")
	command.Offer(cmd, "output", "json")
	return cmd
}

// check finds what the page does not take, before anything is read.
func (o *uiOptions) check() error {
	if o.Output != "" && o.Output != "json" {
		return hint.With(fmt.Errorf("unknown output format %q", o.Output), "write json, or leave it out; graph, health, metrics and stacks write the page as a file: -o html")
	}
	if o.port < 0 || o.port > 65535 {
		return fmt.Errorf("--port %d: expected 0 to 65535", o.port)
	}
	return o.Validate()
}

func (o *uiOptions) run(ctx context.Context, args []string) error {
	o.args = args
	if err := o.check(); err != nil {
		return err
	}
	past, err := o.Server(ctx)
	if err != nil {
		return err
	}
	v, err := o.StacksPage(ctx, o.args, o.selector, o.prices, &o.rules)
	if err != nil {
		return err
	}
	if len(o.catalogues.Addresses) > 0 { // what is wrong with them is said now, and not to the page alone
		if _, err := o.catalogue(ctx); err != nil {
			return err
		}
	}
	v.Mode, v.MissingSources, v.Flags = "live", map[string]string{}, o.typed()
	if past.Address == "" {
		v.MissingSources["history"] = "costs over time need Prometheus: --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT"
	}
	a := &web.API{Page: v, History: past, Catalog: o.catalogue}
	a.InstallFlags = shellFlags(v.Flags, connectionFlags...) + o.catalogues.ShellFlags()
	a.ValidateFlags = shellFlags(v.Flags, "from") + a.InstallFlags
	if o.From == "" {
		a.DryRun = o.dryRun
	}
	return web.ServePage(ctx, a, web.PageOptions{Port: o.port, Idle: pageIdle, Open: o.open, Ready: o.printAddress})
}

// connectionFlags say which cluster a command connects to, and as whom. Credentials are not among them.
var connectionFlags = []string{"context", "kubeconfig", "cluster", "user", "server", "as", "as-uid", "as-group"}

// typed are the flags that make another command read the same, as they were typed. An
// address that may hold a secret is left out, and so is standard input, which was read. Each value of a
// flag that repeats has a line.
func (o *uiOptions) typed() map[string]string {
	out := map[string]string{}
	for _, name := range append([]string{"from", "prices", "health-rules", "prometheus"}, connectionFlags...) {
		f := o.flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		value := f.Value.String()
		if values, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(values.GetSlice(), "\n")
		}
		isName := name != "server" && slices.Contains(connectionFlags, name)
		if at, err := url.Parse(value); value == "-" || !isName && (err != nil || at.User != nil || at.RawQuery != "") {
			continue
		}
		out[name] = value
	}
	return out
}
