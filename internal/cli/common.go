package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// common is what every command that reads objects takes.
type common struct {
	app.Input
	env Env
	// allGaps is what lists every gap, where it is not -o json.
	allGaps string

	output    string
	formats   []string
	color     string
	noHeaders bool
}

func newCommon(env Env, formats ...string) *common {
	c := &common{env: env, formats: formats, Input: app.Input{Clock: app.NewStopwatch(env.Now), Version: env.Version, Stdin: env.In, Demo: env.Demo, Now: env.Now}}
	c.Report = c
	c.Configure()
	return c
}

// reading adds the flags of what is read.
func (c *common) reading(cmd *cobra.Command) {
	c.connecting(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&c.RulesFiles, "rules", nil, "your own relationship rules, from a YAML FILE; may be repeated")
	f.BoolVarP(&c.AllNamespaces, "all-namespaces", "A", false, "read all namespaces")
	f.BoolVar(&c.ShowTimings, "timings", false, "print to stderr the time of each stage and the amount read")
}

// connecting adds the flags of where it is read.
func (c *common) connecting(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.From, "from", "", `read a snapshot instead of a cluster: FILE, DIR, "-" or "demo"`)
	c.Config.AddFlags(f)
	c.completeConnection(cmd)
}

// writing adds the flags of how it is shown.
func (c *common) writing(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.output, "output", "o", c.formats[0], "output format: "+strings.Join(c.formats, ", "))
	f.StringVar(&c.color, "color", "auto", "color: auto, always or never")
	f.BoolVar(&c.noHeaders, "no-headers", false, "leave out column headers")
	offer(cmd, "output", c.formats...)
	offer(cmd, "color", "auto", "always", "never")
}

// must is for what only a mistake in our own code can break.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// validate checks the flags before anything is read.
func (c *common) validate() error {
	if c.output != "" && c.formats != nil && !slices.Contains(c.formats, c.output) {
		return hint.With(fmt.Errorf("unknown output format %q", c.output), "write one of "+strings.Join(c.formats, ", "))
	}
	if c.color != "" && !slices.Contains([]string{"auto", "always", "never"}, c.color) {
		return hint.With(fmt.Errorf("unknown value %q of --color", c.color), "write auto, always or never")
	}
	if app.Given(c.Config.Namespace) && c.AllNamespaces {
		return fmt.Errorf("--namespace and --all-namespaces exclude each other")
	}
	return nil
}

// human says whether the answer is laid out for people.
func (c *common) human() bool {
	return c.output == "tree" || c.output == "table" || c.output == "wide"
}

func (c *common) write(a view.Output) error { return c.writeUnder(a, !c.noHeaders) }

// finish writes an answer, prints the lines beside it, and the timings of a session.
func (c *common) finish(s *app.Session, g *graph.Graph, a view.Output, lines ...string) error {
	if err := c.write(a); err != nil {
		return err
	}
	c.say(lines...)
	s.PrintTimings(g)
	return nil
}

// writeUnder writes an answer with the heads of its columns, or what follows it without.
func (c *common) writeUnder(a view.Output, heads bool) error {
	defer c.Clock.Stage("write")()
	o := render.Options{Width: c.env.Width, NoHeaders: !heads}
	o.Color = c.color == "always" || (c.color != "never" && c.env.Color)
	return render.Write(c.env.Out, c.output, a, o)
}

// requestTimeout is that of --request-timeout; 0 if it is not given.
func (c *common) requestTimeout() (time.Duration, error) {
	timeout, err := clientcmd.ParseTimeout(*c.Config.Timeout)
	if err != nil {
		return 0, fmt.Errorf("--request-timeout: %w", err)
	}
	return timeout, nil
}
