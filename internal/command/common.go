package command

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

// Common is what every command that reads objects takes.
type Common struct {
	app.Input
	Env Env
	// AllGaps is what lists every gap, where it is not -o json.
	AllGaps string

	Output    string
	Formats   []string
	color     string
	NoHeaders bool
}

func NewCommon(env Env, formats ...string) *Common {
	c := &Common{Env: env, Formats: formats, Input: app.Input{Clock: app.NewStopwatch(env.Now), Version: env.Version, Stdin: env.In, Demo: env.Demo, Now: env.Now}}
	c.Report = c
	c.Configure()
	return c
}

// AddReadFlags adds the flags of what is read.
func (c *Common) AddReadFlags(cmd *cobra.Command) {
	c.AddConnectionFlags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&c.RulesFiles, "rules", nil, "your own relationship rules, from a YAML FILE; may be repeated")
	f.BoolVarP(&c.AllNamespaces, "all-namespaces", "A", false, "read all namespaces")
	f.BoolVar(&c.ShowTimings, "timings", false, "print to stderr the time of each stage and the amount read")
}

// AddConnectionFlags adds the flags of where it is read.
func (c *Common) AddConnectionFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.From, "from", "", `read a snapshot instead of a cluster: FILE, DIR, "-" or "demo"`)
	c.Config.AddFlags(f)
	c.completeConnection(cmd)
}

// AddOutputFlags adds the flags of how it is shown.
func (c *Common) AddOutputFlags(cmd *cobra.Command) {
	c.AddFormatFlags(cmd)
	cmd.Flags().BoolVar(&c.NoHeaders, "no-headers", false, "leave out column headers")
}

// AddFormatFlags adds those of them that also an answer without columns has.
func (c *Common) AddFormatFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&c.Output, "output", "o", c.Formats[0], "output format: "+strings.Join(c.Formats, ", "))
	f.StringVar(&c.color, "color", "auto", "color: auto, always or never")
	Offer(cmd, "output", c.Formats...)
	Offer(cmd, "color", "auto", "always", "never")
}

// Must is for what only a mistake in our own code can break.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// Validate checks the flags before anything is read.
func (c *Common) Validate() error {
	if c.Output != "" && c.Formats != nil && !slices.Contains(c.Formats, c.Output) {
		return hint.With(fmt.Errorf("unknown output format %q", c.Output), "write one of "+strings.Join(c.Formats, ", "))
	}
	if c.color != "" && !slices.Contains([]string{"auto", "always", "never"}, c.color) {
		return hint.With(fmt.Errorf("unknown value %q of --color", c.color), "write auto, always or never")
	}
	if app.Given(c.Config.Namespace) && c.AllNamespaces {
		return fmt.Errorf("--namespace and --all-namespaces exclude each other")
	}
	return nil
}

// ForPeople says whether the answer is laid out for people.
func (c *Common) ForPeople() bool {
	return c.Output == "tree" || c.Output == "table" || c.Output == "wide"
}

func (c *Common) Write(a view.Output) error { return c.WriteUnder(a, !c.NoHeaders) }

// Finish writes an answer, prints the lines beside it, and the timings of a session.
func (c *Common) Finish(s *app.Session, g *graph.Graph, a view.Output, lines ...string) error {
	if err := c.Write(a); err != nil {
		return err
	}
	c.Say(lines...)
	s.PrintTimings(g)
	return nil
}

// WriteUnder writes an answer with the heads of its columns, or what follows it without.
func (c *Common) WriteUnder(a view.Output, heads bool) error {
	defer c.Clock.Stage("write")()
	o := render.Options{Width: c.Env.Width, NoHeaders: !heads}
	o.Color = c.Colored()
	return render.Write(c.Env.Out, c.Output, a, o)
}

// RequestTimeout is that of --request-timeout; 0 if it is not given.
func (c *Common) RequestTimeout() (time.Duration, error) {
	timeout, err := clientcmd.ParseTimeout(*c.Config.Timeout)
	if err != nil {
		return 0, fmt.Errorf("--request-timeout: %w", err)
	}
	return timeout, nil
}

// Colored reports whether the answer has colors.
func (c *Common) Colored() bool {
	return c.color == "always" || c.color != "never" && c.Env.Color
}
