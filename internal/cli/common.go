package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
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
	c := &common{env: env, formats: formats, Input: app.Input{Clock: app.NewStopwatch(env.Now), Version: buildVersion(), Stdin: env.In, Demo: env.Demo, Now: env.Now}}
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
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(c.formats, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp)))
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

// writeUnder writes an answer with the heads of its columns, or what follows it without.
func (c *common) writeUnder(a view.Output, heads bool) error {
	defer c.Clock.Stage("write")()
	o := render.Options{Width: c.env.Width, NoHeaders: !heads}
	o.Color = c.color == "always" || (c.color != "never" && c.env.Color)
	return render.Write(c.env.Out, c.output, a, o)
}

// Warn tells of something that may make the answer wrong or incomplete.
func (c *common) Warn(text string) { fmt.Fprintf(c.env.ErrOut, "warning: %s\n", safe(text)) }

// Note tells of something that explains the answer.
func (c *common) Note(text string) { fmt.Fprintf(c.env.ErrOut, "note: %s\n", safe(text)) }

// Progress tells what is being done; it is for people alone.
func (c *common) Progress(text string) {
	if c.env.Talk {
		fmt.Fprintln(c.env.ErrOut, safe(text))
	}
}

// Timings prints what each stage took.
func (c *common) Timings(text string) { fmt.Fprint(c.env.ErrOut, text) }

// Gaps says what could not be read. Many of one reason become one line.
func (c *common) Gaps(gaps []object.Gap) {
	byReason := map[string][]object.Gap{}
	var reasons []string
	for _, g := range gaps {
		if byReason[g.Reason] == nil {
			reasons = append(reasons, g.Reason)
		}
		byReason[g.Reason] = append(byReason[g.Reason], g)
	}
	const maxShown, shown = 4, 6
	for _, reason := range reasons {
		list := byReason[reason]
		if len(list) <= maxShown {
			for _, g := range list {
				fmt.Fprintf(c.env.ErrOut, "warning: not read: %s%s (%s): %s\n", safe(g.Resource), inNamespace(g.Namespace), safe(reason), safe(g.Message))
			}
			continue
		}
		var names []string
		for _, g := range list {
			names = append(names, safe(g.Resource)+inNamespace(g.Namespace))
		}
		more := ""
		if len(names) > shown {
			names, more = names[:shown], fmt.Sprintf(" and %d more (all of them: %s)", len(names)-shown, cmp.Or(c.allGaps, "-o json"))
		}
		fmt.Fprintf(c.env.ErrOut, "warning: not read (%s): %d resources: %s%s\n", safe(reason), len(list), strings.Join(names, ", "), more)
	}
}

func inNamespace(ns string) string {
	if ns == "" {
		return ""
	}
	return " in " + safe(ns)
}

// safe makes text of the cluster harmless for a terminal.
func safe(s string) string { return render.Escape(s) }
