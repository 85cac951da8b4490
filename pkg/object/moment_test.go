package object_test

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestNewest(t *testing.T) {
	fields := map[string]any{
		"metadata": map[string]any{"creationTimestamp": "2026-01-01T00:00:00Z"},
		"status": map[string]any{
			"notAfter":   "2027-01-01T00:00:00Z",
			"startTime":  "nonsense",
			"conditions": []any{map[string]any{"lastTransitionTime": "2026-02-01T00:00:00+01:00"}},
		},
	}
	if got, want := object.Newest(fields), time.Date(2026, 1, 31, 23, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("%v, want %v: what is to come does not count", got, want)
	}
	if got := object.Newest(nil); !got.IsZero() {
		t.Errorf("of nothing: %v", got)
	}
}
