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

// NewCommon returns the flags of a command that writes its answer in these formats; the first is the
// usual one.
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

// RequestTimeout is that of --request-timeout; 0 if it is not given.
func (c *Common) RequestTimeout() (time.Duration, error) {
	timeout, err := clientcmd.ParseTimeout(*c.Config.Timeout)
	if err != nil {
		return 0, fmt.Errorf("--request-timeout: %w", err)
	}
	return timeout, nil
}
