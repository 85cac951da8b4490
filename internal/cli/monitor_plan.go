package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitoring"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type monitorPlanOptions struct {
	*common
	file string
}

func newMonitorPlan(env Env) *cobra.Command {
	o := &monitorPlanOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.newCommand("plan [ROOT...]", cobra.ArbitraryArgs, o.completeRoots, o.run)
	o.reading(cmd)
	o.writing(cmd)
	systemFlag(cmd, &o.file)
	return cmd
}

func (o *monitorPlanOptions) run(ctx context.Context, args []string) error {
	plan, err := monitoringPlan(ctx, o.common, args, o.file)
	if err != nil {
		return err
	}
	if err := o.write(view.MonitorPlan(plan)); err != nil {
		return err
	}
	monitorNotes(o.common, plan)
	return nil
}

// monitoringPlan plans how roots, or the System of a manifest, are monitored.
func monitoringPlan(ctx context.Context, c *common, args []string, file string) (*monitor.Plan, error) {
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
func monitorNotes(c *common, plan *monitor.Plan) {
	if !c.human() {
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
