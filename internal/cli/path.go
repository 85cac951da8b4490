package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

type pathOptions struct{ *common }

func newPath(env Env) *cobra.Command {
	o := &pathOptions{newCommon(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := o.newCommand("path A B", exactly(2, "two objects, each TYPE/NAME"), o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	o.inferring(cmd)
	return cmd
}

func (o *pathOptions) run(ctx context.Context, args []string) error {
	o.Named = true
	opts := graph.StackOptions{NoInferred: o.NoInferred}
	s, g, ids, err := o.Objects(ctx, args, opts)
	if err != nil {
		return err
	}
	steps, found := g.Path(ids[0], ids[1], opts)
	var lines []string
	if !found {
		lines = []string{fmt.Sprintf("no relationship leads from %s to %s", g.Ref(ids[0]), g.Ref(ids[1]))}
	}
	return o.finish(s, g, view.Path(g, ids[0], ids[1], steps, found), lines...)
}
