package app

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// WeightAnnotation is the annotation that weights the part of a stack in what it shares.
const WeightAnnotation = "sysop.dev/share-weight"

// MetricsRequest holds the flags of metrics.
type MetricsRequest struct {
	Args       []string // the roots; none for all stacks of the namespace or the cluster
	Selector   labels.Selector
	By, Key    string // of --by label:KEY
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
	Access            PrometheusAccess // to a URL
	Step              time.Duration    // 0 for that of the window's length
}

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

// Group reads the value of --by: KIND, or KIND:KEY.
func (q *MetricsRequest) Group(text string) error {
	q.By, q.Key, _ = strings.Cut(text, ":")
	switch q.By {
	case "stack", "resource", "namespace", "node", "creator":
		if q.Key == "" {
			return nil
		}
	case "label", "nslabel", "annotation":
		if len(validation.IsQualifiedName(q.Key)) == 0 {
			return nil
		}
		return hint.With(fmt.Errorf("--by %s: expected the key of a %s after the colon", text, strings.TrimPrefix(q.By, "ns")), "as in --by "+q.By+":app.kubernetes.io/name")
	}
	return hint.With(fmt.Errorf("unknown value %q of --by", text), "write one of stack, resource, namespace, node, creator, label:KEY, nslabel:KEY, annotation:KEY")
}
