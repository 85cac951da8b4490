package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type graphOptions struct {
	*command.Common
	args      []string
	selector  string
	depth     int
	up        bool
	connected bool
	boundary  bool
	why       bool
	relations []string
	kinds     []string
	include   []string
	problems  bool
	exitCode  bool
	manifest  bool
}

func newGraph(env command.Env) *cobra.Command {
	o := &graphOptions{Common: command.NewCommon(env, "tree", "table", "wide", "json", "yaml", "dot", "mermaid", "svg", "html", "name")}
	cmd := o.NewCommand("graph ROOT...", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.flags(cmd)
	return cmd
}

func (o *graphOptions) run(ctx context.Context, args []string) error {
	o.args = args
	if len(o.args) == 0 {
		return hint.With(fmt.Errorf("name a root: TYPE/NAME, TYPE NAME or TYPE"), "kubectl sysop graph --help has examples; try: kubectl sysop graph moodle/moodle-1 --from demo")
	}
	opts, selector, err := o.typedFlags()
	if err != nil {
		return err
	}
	if o.IsDrawing() {
		return o.draw(ctx)
	}
	r, err := o.Graph(ctx, app.GraphRequest{
		Args: o.args, Selector: selector, Options: opts, Kinds: o.kinds, Include: o.include, Manifest: o.manifest,
		Diagnose: o.ForPeople() || o.Output == "json" || o.Output == "yaml" || o.problems || o.exitCode,
	})
	if err != nil {
		return err
	}
	if len(r.Stack.Roots()) == 0 {
		o.Say("none found")
	}
	if o.problems {
		r.Problems = r.ShownProblems()
	}
	lines := summary.Graph(r, summary.GraphOptions{People: o.ForPeople(), Terminal: o.Env.Talk, Up: o.up, Boundary: o.boundary, ProblemsOnly: o.problems})
	err = o.Finish(r.Session, r.Graph, o.answer(r), lines...)
	if err == nil && o.exitCode && slices.ContainsFunc(r.Problems, summary.Serious) {
		return command.ErrNotFine
	}
	return err
}

func (o *graphOptions) answer(r *app.GraphResult) view.Output {
	if o.problems {
		return view.Problems(r.Stack, r.Problems, r.Home)
	}
	return view.Stack(r.Stack, view.StackOptions{
		Depth: o.depth, Kinds: r.Show, Boundary: o.boundary, Why: o.why, Namespace: r.Home, Problems: r.Problems, Shape: render.ShapeOf(o.Output),
	})
}
