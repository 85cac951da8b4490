package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type monitorPlanOptions struct {
	*command.Common
	file string
}

func newMonitorPlan(env command.Env) *cobra.Command {
	o := &monitorPlanOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("plan [ROOT...]", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	command.AddSystemFlag(cmd, &o.file)
	return cmd
}

func (o *monitorPlanOptions) run(ctx context.Context, args []string) error {
	plan, err := monitoringPlan(ctx, o.Common, args, o.file)
	if err != nil {
		return err
	}
	if err := o.Write(view.MonitorPlan(plan)); err != nil {
		return err
	}
	monitorNotes(o.Common, plan)
	return nil
}

// monitoringPlan plans how roots, or the System of a manifest, are monitored.
func monitoringPlan(ctx context.Context, c *command.Common, args []string, file string) (*monitor.Plan, error) {
	if err := checkMonitored(args, file); err != nil {
		return nil, err
	}
	req := monitoring.Request{Roots: args}
	if file != "" {
		var err error
		if req.System, err = systems.Read(ctx, &c.Input, file); err != nil {
			return nil, err
		}
	}
	plan, session, g, err := monitoring.New(ctx, &c.Input, req)
	if err != nil {
		return nil, err
	}
	session.PrintTimings(g)
	return plan, nil
}

// monitorNotes prints what a plan says beside its table; documents have it as fields.
func monitorNotes(c *command.Common, plan *monitor.Plan) {
	if !c.ForPeople() {
		return
	}
	notes, warnings := view.MonitorNotes(plan)
	for _, n := range notes {
		c.Note(n)
	}
	for _, w := range warnings {
		c.Warn(w)
	}
}
