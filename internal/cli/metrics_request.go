package cli

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

// weightNote is the annotation by which a stack takes more or less of what it shares.
const weightNote = "sysop.dev/share-weight"

// question is what the flags of the metrics command mean.
type question struct {
	args       []string // the roots; none for all stacks of the namespace or the cluster
	selector   labels.Selector
	by, key    string // of --by label:KEY
	sortBy     string
	top        int // how many rows, and the others as one; 0 for all
	containers bool
	rows       systemRows
	window     *metrics.Window // nil for an instant
	history    historySource   // that is asked about the window
	timeout    time.Duration   // with a query of Prometheus; 0 where it is not said
	book       *cost.Book
	options    cost.Options
	// find finds the stacks that are asked about; nil for those that have pods, claims or
	// load balancers.
	find func(*metricsResult) []metrics.Stack
	// through puts others in the place of the sources of usage; nil leaves them.
	through func([]metrics.Source) []metrics.Source
	// brief asks for CPU and memory alone: no kubelet is asked for the rest.
	brief bool
}

// historySource says which Prometheus is asked, and about which window.
type historySource struct {
	window                       string // as the user wrote it; empty for an instant
	address, matchers, tokenFile string
}

// setWindow computes the window: one that ends now ends later when the question is asked again.
func (q *question) setWindow(now time.Time) error {
	if q.history.window == "" {
		return nil
	}
	w, err := metrics.ParseWindow(q.history.window, now)
	if err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	q.window = &w
	return nil
}

// group reads the value of --by: KIND, or KIND:KEY.
func (q *question) group(by string) error {
	q.by, q.key, _ = strings.Cut(by, ":")
	switch q.by {
	case "stack", "resource", "namespace", "node", "creator":
		if q.key == "" {
			return nil
		}
	case "label", "annotation":
		if len(validation.IsQualifiedName(q.key)) == 0 {
			return nil
		}
		return hint.With(fmt.Errorf("--by %s: expected the key of a %s after the colon", by, q.by), "as in --by "+q.by+":app.kubernetes.io/name")
	}
	return hint.With(fmt.Errorf("unknown value %q of --by", by), "write one of stack, resource, namespace, node, creator, label:KEY, annotation:KEY")
}
