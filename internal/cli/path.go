package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

type pathOptions struct{ *command.Common }

func newPath(env command.Env) *cobra.Command {
	o := &pathOptions{command.NewCommon(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := o.NewCommand("path A B", command.ExactArgs(2, "two objects, each TYPE/NAME"), o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.AddInferredFlag(cmd)
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
	return o.Finish(s, g, view.Path(g, ids[0], ids[1], steps, found), lines...)
}
