package app

import "github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// WeightAnnotation is the annotation that weights the part of a stack in what it shares.
const WeightAnnotation = "sysop.dev/share-weight"

// MetricsRequest holds the flags of metrics.
type MetricsRequest struct {
	Args       []string // the roots; none for all stacks of the namespace or the cluster
	Selector   labels.Selector
	Keys       []cost.Key  // of --by; none for stacks
	Filter     cost.Filter // of the things that are shown; none for all
	SortBy     string
	Top        int // how many rows, and the others as one; 0 for all
	Containers bool
	Rows       SystemRows
	Window     *metrics.Window  // nil for an instant
	History    HistorySource    // for the window
	Every      metrics.Calendar // divides the window; empty for one row
	Timeout    time.Duration    // with a query of Prometheus; 0 for the default
	Book       *cost.Book
	Options    cost.Options
	// ShareByChosen says that the user chose how shared cost is split; otherwise the price book says it.
	ShareByChosen bool
	// Clusters are those of one report; none for that of the Input.
	Clusters []ClusterSource
	// Applications selects the stacks that the stacks command lists; otherwise those that have
	// pods, claims or load balancers.
	Applications bool
	// Wrap replaces the sources of usage; nil keeps them.
	Wrap func([]metrics.Source) []metrics.Source
	// Brief limits the report to CPU and memory: no kubelet is queried.
	Brief bool
}

// HistorySource selects a Prometheus and a window.
type HistorySource struct {
	Window            string // as the user wrote it; empty for an instant
	Address, Matchers string
	Access            prometheus.Access
	Step              time.Duration // 0 for that of the window's length
}

// isService says that the server is a Service behind the API server.
func (h *HistorySource) isService() bool { return strings.HasPrefix(h.Address, "svc:") }

// SetWindow computes the window: one that ends now ends later when the request runs again.
func (q *MetricsRequest) SetWindow(now time.Time) error {
	if q.History.Window == "" {
		return nil
	}
	w, err := metrics.ParseWindow(q.History.Window, now)
	if err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	q.Window = &w
	return nil
}

// asksFor returns the keys of a kind that rows or the filter are by.
func (q *MetricsRequest) asksFor(kind func(cost.Key) bool) []cost.Key {
	var keys []cost.Key
	for _, k := range slices.Concat(q.Keys, q.Filter.Keys()) {
		if kind(k) && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// keyed says that rows or the filter are by a word.
func (q *MetricsRequest) keyed(kind string) bool {
	return len(q.asksFor(func(k cost.Key) bool { return k.By == kind })) > 0
}
