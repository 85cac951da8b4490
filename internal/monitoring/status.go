package monitoring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
)

// Status asks a Prometheus for the targets and alerts of a plan. Without an address it is the one
// that selects the monitors.
func Status(ctx context.Context, in *app.Input, plan *monitor.Plan, server app.HistorySource, timeout time.Duration) (*monitor.Status, error) {
	if server.Address == "" && in.From == "" {
		server.Address = plan.Server()
	}
	if server.Address == "" {
		return nil, hint.With(errors.New("no Prometheus is known that selects the monitors"), "add --prometheus URL, or --prometheus svc:NAMESPACE/NAME:PORT")
	}
	var targets monitor.Targets
	var alerts monitor.Alerts
	if err := in.AskPrometheus(ctx, server, timeout, map[string]any{"targets": &targets, "alerts": &alerts}); err != nil {
		return nil, fmt.Errorf("monitoring of %s: %w", plan.Name, err)
	}
	return plan.Evaluate(targets, alerts), nil
}
