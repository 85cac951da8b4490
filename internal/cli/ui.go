package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type uiOptions struct {
	*common
	args     []string
	selector string
	prices   string
	rules    app.HealthRuleOptions
	past     pastOptions
	// catalogues are those whose operators the composer offers.
	catalogues catalogueOptions
	open       bool
	port       int
}

// pastOptions say whom to ask about the past.
type pastOptions struct{ prometheus, matchers, tokenFile string }

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
	f.StringVar(&o.past.prometheus, "prometheus", "", "the source of costs over time: the URL of Prometheus (or a server with its API), or svc:NAMESPACE/NAME[:PORT] through the API server")
	f.StringVar(&o.past.tokenFile, "prometheus-token-file", "", "a FILE with the bearer token for a --prometheus URL")
	f.StringVar(&o.past.matchers, "prometheus-matchers", "", `PromQL label matchers for every query, if a server has the series of several clusters (cluster="eu-1")`)
	o.catalogues.findingFlags(cmd)
	f.BoolVar(&o.open, "open", false, "open it in the browser")
	f.IntVar(&o.port, "port", 0, "the port at 127.0.0.1 (0: any that is free)")
	must(cmd.RegisterFlagCompletionFunc("port", cobra.NoFileCompletions))
	f.StringVarP(&o.output, "output", "o", "", "json writes the address for a program; without it, for people")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// surveyed reads the flags that the survey is about.
func (o *uiOptions) surveyed(ctx context.Context) (*app.Page, error) {
	if o.output != "" && o.output != "json" {
		return nil, hint.With(fmt.Errorf("unknown output format %q", o.output), "write json, or leave it out; graph, health, metrics and stacks write the page as a file: -o html")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.port < 0 || o.port > 65535 {
		return nil, fmt.Errorf("--port %d: expected 0 to 65535", o.port)
	}
	if err := o.past.validate(); err != nil {
		return nil, err
	}
	return o.drawnFrom(ctx, o.args, o.selector, o.prices, &o.rules)
}

func (p *pastOptions) validate() error {
	switch {
	case p.prometheus == "" && p.matchers != "":
		return hint.With(errors.New("--prometheus-matchers is for queries: there is no --prometheus"), "add --prometheus URL")
	case p.tokenFile != "" && !strings.HasPrefix(p.prometheus, "http"):
		return hint.With(errors.New("--prometheus-token-file is for a --prometheus URL: requests through the API server carry no token"), "add --prometheus https://HOST")
	}
	return nil
}

func (o *uiOptions) run(ctx context.Context) error {
	v, err := o.surveyed(ctx)
	if err != nil {
		return err
	}
	if len(o.catalogues.catalogs) > 0 { // what is wrong with them is said now, and not to the page alone
		if _, err := o.catalogues.catalogued(ctx, o.common); err != nil {
			return err
		}
	}
	v.Mode, v.MissingSources = "live", map[string]string{}
	if o.past.prometheus == "" {
		v.MissingSources["history"] = "costs over time need Prometheus: --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT"
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	if err := v.Open(ctx); err != nil {
		return err
	}
	first, err := v.Observe(ctx)
	if err != nil {
		return err
	}
	v.Session.ReportGaps(v.Last.Graph)
	l, err := listenLocally(ctx, o.port)
	if err != nil {
		return err
	}
	var file entrance
	defer file.remove()
	a := &uiAPI{o: o, v: v}
	server, err := web.New(l, web.Options{Questions: a.questions(), Compose: a.composed, Idle: pageIdle, Opened: file.remove, Log: func(format string, args ...any) {
		fmt.Fprintf(o.env.ErrOut, "warning: %s\n", safe(fmt.Sprintf(format, args...)))
	}})
	if err != nil {
		_ = l.Close()
		return err
	}
	server.Publish(first)
	if err := o.printAddress(server.Address(), l.Addr(), &file); err != nil {
		_ = l.Close()
		return err
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		o.followPage(ctx, v, server)
	}()
	err = server.Serve(ctx)
	stop()
	<-followed
	if errors.Is(err, web.ErrIdle) {
		fmt.Fprintf(o.env.ErrOut, "the page was not open for %s: the server stops\n", pageIdle)
		return nil
	}
	return err
}

// listenLocally listens at a port of this machine alone.
func listenLocally(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		// What is left of it is not said twice.
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return nil, hint.With(fmt.Errorf("listen at 127.0.0.1:%d: %w", port, err), "choose another --port, or leave it out for any that is free")
	}
	return l, nil
}

// servedDocument says where the page is (docs/schema/ui.json).
type servedDocument struct {
	view.Head `json:",inline"`
	// URL is what a browser opens. It works once.
	URL     string `json:"url"`
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// printAddress says where the page is.
func (o *uiOptions) printAddress(url string, at net.Addr, file *entrance) error {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return err
	}
	if o.output == "json" {
		doc := servedDocument{Head: view.Head{APIVersion: view.APIVersion, Kind: "Served"}, URL: url, Address: host}
		if doc.Port, err = strconv.Atoi(port); err != nil {
			return err
		}
		if err := o.write(view.Output{Document: doc}); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(o.env.Out, "the page: %s\n", url); err != nil {
		return err
	}
	if o.open {
		if err := file.open(url); err != nil {
			fmt.Fprintf(o.env.ErrOut, "warning: no browser could be opened: %s: open the address yourself\n", safe(err.Error()))
		}
	}
	fmt.Fprintln(o.env.ErrOut, "Ctrl-C ends it")
	return nil
}

// viewer is who shows what a survey sees.
type viewer interface {
	Publish(*uistate.State)
	Stale(reason string)
}

// followPage reads again after a change, or after ripening, until ctx ends. It reports failures to
// the page, and retries.
func (c *common) followPage(ctx context.Context, v *app.Page, to viewer) {
	if v.Live == nil {
		return
	}
	trouble := &watchNotices{c: c, live: v.Live, said: v.Last.Graph.Gaps()}
	for trouble.await(ctx) {
		p, err := v.Observe(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.failure(err)
		trouble.reportTrouble()
		down := v.Live.Trouble()
		switch {
		case err != nil:
			to.Stale(err.Error())
		case len(down) > 0:
			to.Publish(p)
			to.Stale(unseen(down))
		default:
			trouble.gaps(v.Last.Graph.Gaps())
			to.Publish(p)
			to.Stale("")
		}
	}
}

// unseen says what is not watched, by the first of it.
func unseen(down []object.Gap) string {
	more := ""
	if n := len(down) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("watch interrupted: %s%s%s (%s): %s", down[0].Resource, inNamespace(down[0].Namespace), more, down[0].Reason, down[0].Message)
}
