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
