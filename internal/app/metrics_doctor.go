package app

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// InspectMetrics asks a Prometheus which metrics for a window it has. It reads nothing else of the
// cluster. A query may take the timeout; 0 for the default.
func (i *Input) InspectMetrics(ctx context.Context, h HistorySource, w metrics.Window, timeout time.Duration) ([]metrics.MetricStatus, error) {
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
	history, err := s.newHistory(h, o)
	if err != nil {
		return nil, err
	}
	all, err := history.Inspect(ctx)
	return all, withRemedy(err)
}
