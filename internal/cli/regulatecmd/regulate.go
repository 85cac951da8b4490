package regulatecmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
)

func New(env command.Env) *cobra.Command {
	o := &regulatePlanOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:               "regulate [SYSTEM]",
		ValidArgsFunction: o.completeSystems,
		Args:              cobra.ArbitraryArgs,

		SuggestionsMinimumDistance: 3,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && !o.isNamed():
			return cmd.Help()
		case len(args) > 1:
			return command.UnknownCommand(cmd, args[0])
		}
		name, err := o.systemOf(args)
		if err != nil {
			return err
		}
		if err := o.Validate(); err != nil {
			return err
		}
		err = o.run(cmd.Context(), name)
		if near := cmd.SuggestionsFor(command.FirstArg(args)); err != nil && o.file == "" && len(near) > 0 && !errors.Is(err, command.ErrNotFine) {
			return hint.With(err, "the commands are "+near[0]+"; kubectl sysop regulate --help lists them")
		}
		return err
	}
	o.flags(cmd)
	cmd.AddCommand(
		newRegulatePlan(env), newRegulateApply(env), newRegulateStop(env), newRegulateRecover(env), newRegulateRun(env), newRegulateWatch(env),
		newRegulateStatus(env), newRegulateHistory(env), newRegulateNeighbours(env), newRegulateSignals(env), newRegulateManifests(env),
	)
	return cmd
}

type regulatePlanOptions struct {
	*regulateOptions
	exitCode bool
}

func newRegulatePlan(env command.Env) *cobra.Command {
	o := &regulatePlanOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "name")}
	cmd := o.ofSystem("plan [SYSTEM]", o.run)
	o.flags(cmd)
	return cmd
}

func (o *regulatePlanOptions) flags(cmd *cobra.Command) {
	o.naming(cmd)
	o.AddOutputFlags(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if there is something to do")
}

func (o *regulatePlanOptions) run(ctx context.Context, name string) error {
	b, p, err := regulator.Status(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	b.Session.ReportGaps(b.Graph)
	err = o.Finish(b.Session, b.Graph, regulation.Plan(p, b.State, regulationOptions(b)))
	if err == nil && o.exitCode && len(p.Steps) > 0 {
		return command.ErrNotFine
	}
	return err
}
