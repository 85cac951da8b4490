package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

type pathOptions struct {
	*common
	args []string
}

func newPath(env Env) *cobra.Command {
	o := &pathOptions{common: newCommon(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := &cobra.Command{
		Use:               "path A B",
		Args:              exactly(2, "two objects, each TYPE/NAME"),
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.Named = args, true
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.NoInferred, "no-inferred", false, "leave out inferred relations")
	return cmd
}

func exactly(n int, expected string) cobra.PositionalArgs { return between(n, n, expected) }

func between(least, most int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return hint.With(fmt.Errorf("expected %s", expected), cmd.CommandPath()+" --help has examples")
		}
		return nil
	}
}

func (o *pathOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	opts := graph.StackOptions{NoInferred: o.NoInferred}
	s, g, ids, err := o.Objects(ctx, o.args, opts)
	if err != nil {
		return err
	}
	steps, found := g.Path(ids[0], ids[1], opts)
	if err := o.write(view.Path(g, ids[0], ids[1], steps, found)); err != nil {
		return err
	}
	if !found {
		fmt.Fprintf(o.env.ErrOut, "no relationship leads from %s to %s\n", safe(g.Ref(ids[0]).String()), safe(g.Ref(ids[1]).String()))
	}
	s.PrintTimings(g)
	return nil
}
