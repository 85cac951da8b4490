package regulatecmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
)

type regulateStatusOptions struct {
	*regulateOptions
	exitCode bool
}

func newRegulateStatus(env command.Env) *cobra.Command {
	o := &regulateStatusOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "name")}
	cmd := o.ofSystem("status [SYSTEM]", o.run)
	o.naming(cmd)
	o.AddOutputFlags(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if an app is held")
	return cmd
}

func (o *regulateStatusOptions) run(ctx context.Context, name string) error {
	b, p, err := regulator.Status(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	b.Session.ReportGaps(b.Graph)
	var lines []string
	if len(b.Journal.Holds) == 0 && o.Output == "table" {
		lines = []string{"no app of " + b.System.Name + " is held"}
	}
	err = o.Finish(b.Session, b.Graph, regulation.Status(b.Journal, p, b.State, b.Session.AsOf(), regulationOptions(b)), lines...)
	if err == nil && o.exitCode && len(b.Journal.Holds) > 0 {
		return command.ErrNotFine
	}
	return err
}

type regulateHistoryOptions struct {
	*regulateOptions
	since time.Duration
}

func newRegulateHistory(env command.Env) *cobra.Command {
	o := &regulateHistoryOptions{regulateOptions: newRegulating(env, "table", "json", "yaml")}
	cmd := o.NewCommand("history [SYSTEM] [APP]", command.RangeArgs(0, 2, "a SYSTEM and an APP, or fewer"), o.completeAppArgs(1), o.run)
	o.naming(cmd)
	o.AddOutputFlags(cmd)
	o.appFlag(cmd, "only what was done to this app")
	cmd.Flags().DurationVar(&o.since, "since", 0, "only what was done in this time (1h)")
	return cmd
}

func (o *regulateHistoryOptions) run(ctx context.Context, args []string) error {
	name, apps, err := o.split(args, 1)
	if err != nil {
		return err
	}
	if o.since < 0 {
		return fmt.Errorf("--since %s: expected a duration in the past, such as 1h", o.since)
	}
	b, records, err := regulator.History(ctx, &o.Input, o.request(name), command.FirstArg(apps), o.since)
	if err != nil {
		return err
	}
	return o.Write(regulation.History(records, regulation.Options{System: b.System.Name, Namespace: b.Namespace}))
}

type regulateNeighboursOptions struct {
	*regulateOptions
	cascade bool
}

func newRegulateNeighbours(env command.Env) *cobra.Command {
	o := &regulateNeighboursOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "dot", "mermaid", "name")}
	cmd := o.NewCommand("neighbours [SYSTEM] [APP...]", cobra.ArbitraryArgs, o.completeAppArgs(0), o.run)
	o.naming(cmd)
	o.appFlag(cmd, "only this app")
	o.AddOutputFlags(cmd)
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
	return o.Finish(b.Session, b.Graph, regulation.Neighbours(b.State, regulation.NeighbourOptions{Options: regulationOptions(b), Apps: apps, Cascade: o.cascade, Rules: regulation.NeighbourRules(b.System.Regulation.Rules)}))
}
