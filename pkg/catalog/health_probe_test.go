package catalog_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/catalog"
)

// TestHealthProbe: no expression of the catalogue fails on an object of its kind, whichever
// of the fields that it reads are absent, null or empty.
func TestHealthProbe(t *testing.T) {
	for _, r := range catalog.Health(nil) {
		failures, err := r.Probe()
		if err != nil {
			t.Errorf("%s: %v", r.Kind, err)
		}
		for _, f := range failures {
			t.Error(f.Error())
		}
	}
}
