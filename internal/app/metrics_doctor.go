package app

import "github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// InspectMetrics asks a Prometheus which metrics for a window it has. It reads nothing else of the
// cluster. A query may take the timeout; 0 for the default.
func (i *Input) InspectMetrics(ctx context.Context, h HistorySource, w metrics.Window, timeout time.Duration) ([]metrics.MetricStatus, error) {
	history, err := i.asking(ctx, h, w, timeout)
	if err != nil {
		return nil, err
	}
	all, err := history.Inspect(ctx)
	return all, prometheus.WithRemedy(err)
}

// AskPrometheus asks a Prometheus for what is no query, by paths below /api/v1, and decodes the data
// of its answers.
func (i *Input) AskPrometheus(ctx context.Context, h HistorySource, timeout time.Duration, into map[string]any) error {
	now := i.Now()
	history, err := i.asking(ctx, h, metrics.Window{From: now.Add(-time.Hour), To: now}, timeout)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(into)) {
		if err := history.API(ctx, path, nil, into[path]); err != nil {
			return prometheus.WithRemedy(err)
		}
	}
	return nil
}

// asking is a Prometheus that is asked without reading anything else of the cluster.
func (i *Input) asking(ctx context.Context, h HistorySource, w metrics.Window, timeout time.Duration) (*metrics.History, error) {
	h = h.ForCluster(i.ClusterName())
	o := metrics.HistoryOptions{Window: w, Matchers: h.Matchers, Timeout: timeout, Progress: func(answered, needed int) {
		i.Report.Progress(fmt.Sprintf("%d of %d queries answered", answered, needed))
	}}
	s := &Session{Input: i}
	if h.isService() && i.From == "" {
		var err error
		if s.Source, _, err = i.Source(ctx); err != nil {
			return nil, err
		}
	}
	return s.newHistory(h, o)
}
