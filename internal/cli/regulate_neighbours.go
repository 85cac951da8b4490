package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
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
	if err := o.write(view.Neighbours(b.State, view.NeighbourOptions{RegulationOptions: regulationOptions(b), Apps: apps, Cascade: o.cascade, Rules: neighbourRules(b.System)})); err != nil {
		return err
	}
	b.Session.PrintTimings(b.Graph)
	return nil
}

func neighbourRules(s *system.System) []view.NeighbourRule {
	var out []view.NeighbourRule
	for i := range s.Regulation.Rules {
		r := &s.Regulation.Rules[i]
		out = append(out, view.NeighbourRule{Name: r.Name, Signal: r.Signal, App: r.App, To: r.To, Cascade: r.Cascade})
	}
	return out
}
