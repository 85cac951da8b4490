package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newRegulate(env Env) *cobra.Command {
	o := &regulatePlanOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "regulate [SYSTEM]",
		Short: "Hold dependent apps while one fails or is upgraded, then recover them",
		Long: `Hold dependent apps while one fails or is upgraded, and recover them afterwards. A System
is a manifest that names applications; its rules say when which signal is sent to which
app. Each app says what it does on a signal: it is paused, scaled, or cut off from
traffic. Which app needs which comes from the graph.

The previous state is kept in a journal in the cluster, and restored exactly. With a
System and no command it shows the plan. See docs/regulation.md.`,
		Example: `  # what would be done to the example System now?
  kubectl sysop regulate -f demo --from demo`,
		ValidArgsFunction: o.completeSystems,
		Args:              cobra.ArbitraryArgs,

		SuggestionsMinimumDistance: 3,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && !o.isNamed():
			return cmd.Help()
		case len(args) > 1:
			return unknownCommand(cmd, args[0])
		}
		name, err := o.systemOf(args)
		if err != nil {
			return err
		}
		err = o.run(cmd.Context(), name)
		if near := cmd.SuggestionsFor(first(args)); err != nil && o.file == "" && len(near) > 0 && !errors.Is(err, errNotFine) {
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

func newRegulatePlan(env Env) *cobra.Command {
	o := &regulatePlanOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "plan [SYSTEM]",
		Short: "Show which apps would be held or recovered now, and why",
		Long: `Show which apps would be held or recovered now, and why, and which not, and why not.
Nothing is written.

Steps with the same number are done in parallel, those of the next number after them:
apps that need others are held first, and recovered last.`,
		Example: `  # what would be done to the example System now?
  kubectl sysop regulate plan -f demo --from demo

  # in a script: exit code 2 if there is something to do
  kubectl sysop regulate plan shop --exit-code -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeSystems,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := o.systemOf(args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), name)
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *regulatePlanOptions) flags(cmd *cobra.Command) {
	o.naming(cmd)
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if there is something to do")
}

// first is the first argument; empty for none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (o *regulatePlanOptions) run(ctx context.Context, name string) error {
	if err := o.validate(); err != nil {
		return err
	}
	b, p, err := regulator.Status(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	b.Session.ReportGaps(b.Graph)
	if err := o.write(view.Plan(p, b.State, regulationOptions(b))); err != nil {
		return err
	}
	b.Session.PrintTimings(b.Graph)
	if o.exitCode && len(p.Steps) > 0 {
		return errNotFine
	}
	return nil
}
