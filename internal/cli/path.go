package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

type pathOptions struct {
	*common
	args []string
}

func newPath(env Env) *cobra.Command {
	o := &pathOptions{common: newCommon(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := o.command("path A B", exactly(2, "two objects, each TYPE/NAME"), o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	o.inferring(cmd)
	return cmd
}

func (o *pathOptions) run(ctx context.Context, args []string) error {
	o.args, o.Named = args, true
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
