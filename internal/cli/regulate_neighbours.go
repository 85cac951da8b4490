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
	cmd := &cobra.Command{
		Use:   "neighbours [SYSTEM] [APP...]",
		Short: "Show which apps are signalled when an app fails, and the evidence",
		Long: `Show for each app of a System, or for the named ones, which apps are signalled when it
fails: those that need it, with the evidence, and those that a rule names. With -f or
--system all arguments are apps.

An app needs another one if an object of the first needs an object of the second, also
through objects of neither, or if the manifest says so. Optional relations, and those of
objects that only serve or watch, do not count.`,
		Example: `  # which apps are held when one of the example System fails?
  kubectl sysop regulate neighbours -f demo --from demo

  # a drawing of which app needs which
  kubectl sysop regulate neighbours -f demo --from demo -o mermaid`,
		ValidArgsFunction: o.completeAppArgs(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	o.naming(cmd)
	o.appFlag(cmd, "only this app")
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.cascade, "cascade", false, "also show indirect dependents, at any depth")
	return cmd
}

func (o *regulateNeighboursOptions) run(ctx context.Context, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	name, apps, err := o.split(args, 0)
	if err != nil {
		return err
	}
	b, err := regulator.Neighbours(ctx, &o.Input, o.request(name), apps)
	if err != nil {
		return err
	}
	b.Session.ReportGaps(b.Graph)
	if err := o.write(view.Neighbours(b.State, view.NeighbourOptions{RegulationOptions: regulationOptions(b), Apps: apps, Cascade: o.cascade, Rules: view.NeighbourRules(b.System.Regulation.Rules)})); err != nil {
		return err
	}
	b.Session.PrintTimings(b.Graph)
	return nil
}
