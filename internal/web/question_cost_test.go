package web

import (
	"net/url"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
)

// TestHistoryShorterThanStep has a window without a whole step: an error, as of its cost.
func TestHistoryShorterThanStep(t *testing.T) {
	a := &API{Page: demoPage(t), History: app.HistorySource{Address: "http://127.0.0.1:1"}}
	query := url.Values{"window": {"2026-09-01T00:00:01Z/2026-09-01T00:00:30Z"}, "by": {"stack"}}
	_, ofCost := a.cost(t.Context(), query)
	_, err := a.history(t.Context(), query)
	if err == nil || ofCost == nil || err.Error() != ofCost.Error() || !strings.Contains(err.Error(), "no whole step") {
		t.Errorf("error is %v, of the cost %v", err, ofCost)
	}
}

// TestCostByUnread has groups of what the page does not read: annotations, who created an object,
// and labels of namespaces.
func TestCostByUnread(t *testing.T) {
	a := &API{Page: demoPage(t)}
	for _, by := range []string{"annotation:team", "creator", "nslabel:team", "nothing"} {
		_, err := a.cost(t.Context(), url.Values{"by": {by}})
		if err == nil || !strings.Contains(err.Error(), "expected stack, resource, namespace, node, or label:KEY") {
			t.Errorf("by=%s: error is %v", by, err)
		}
	}
}
