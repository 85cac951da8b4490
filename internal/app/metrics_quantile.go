package app

import "github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Quantile evaluates a quantile of what pods use together over the window of the request.
func (m *MetricsResult) Quantile(ctx context.Context, q metrics.QuantileQuery) (value int64, known bool, err error) {
	h, err := m.history()
	if err != nil {
		return 0, false, err
	}
	value, known, err = h.Quantile(ctx, q)
	return value, known, prometheus.WithRemedy(err)
}
