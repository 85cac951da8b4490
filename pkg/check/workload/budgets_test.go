package workload

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestAllowed holds the arithmetic of budgets against what the API documentation
// says: a percentage is rounded up, of those that may go as of those that must stay.
func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		max, min string
		pods     int
		want     int
	}{
		{max: "1", pods: 3, want: 1},
		{max: "0", pods: 3},
		{max: "30%", pods: 7, want: 3},
		{max: "50%", pods: 1, want: 1},
		{max: "5", pods: 3, want: 3},
		{min: "2", pods: 3, want: 1},
		{min: "50%", pods: 7, want: 3},
		{min: "100%", pods: 4},
		{min: "4", pods: 3},
		{pods: 3},
	} {
		b := &policyv1.PodDisruptionBudget{}
		if tt.max != "" {
			v := intstr.Parse(tt.max)
			b.Spec.MaxUnavailable = &v
		}
		if tt.min != "" {
			v := intstr.Parse(tt.min)
			b.Spec.MinAvailable = &v
		}
		if got, err := allowedEvictions(b, tt.pods); err != nil || got != tt.want {
			t.Errorf("max %q, min %q of %d: %d, %v", tt.max, tt.min, tt.pods, got, err)
		}
	}
}
