package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type regulateHistoryOptions struct {
	*regulateOptions
	since time.Duration
}

func newRegulateHistory(env Env) *cobra.Command {
	o := &regulateHistoryOptions{regulateOptions: newRegulating(env, "table", "json", "yaml")}
	cmd := o.command("history [SYSTEM] [APP]", between(0, 2, "a SYSTEM and an APP, or fewer"), o.completeAppArgs(1), o.run)
	o.naming(cmd)
	o.writing(cmd)
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
	b, records, err := regulator.History(ctx, &o.Input, o.request(name), first(apps), o.since)
	if err != nil {
		return err
	}
	return o.write(view.RegulationHistory(records, view.RegulationOptions{System: b.System.Name, Namespace: b.Namespace}))
}
