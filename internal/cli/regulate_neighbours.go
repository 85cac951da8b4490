package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type regulateNeighboursOptions struct {
	*regulateOptions
	cascade bool
}

func newRegulateNeighbours(env Env) *cobra.Command {
	o := &regulateNeighboursOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := o.command("neighbours [SYSTEM] [APP...]", cobra.ArbitraryArgs, o.completeAppArgs(0), o.run)
	o.naming(cmd)
	o.appFlag(cmd, "only this app")
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.cascade, "cascade", false, "also show indirect dependents, at any depth")
	return cmd
}

func (o *regulateNeighboursOptions) run(ctx context.Context, args []string) error {
	name, apps, err := o.split(args, 0)
	if err != nil {
		return err
	}
	b, err := regulator.Neighbours(ctx, &o.Input, o.request(name), apps)
	if err != nil {
		return err
	}
	b.Session.ReportGaps(b.Graph)
	return o.finish(b.Session, b.Graph, view.Neighbours(b.State, view.NeighbourOptions{RegulationOptions: regulationOptions(b), Apps: apps, Cascade: o.cascade, Rules: view.NeighbourRules(b.System.Regulation.Rules)}))
}
