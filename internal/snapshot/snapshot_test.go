package snapshot

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
)

// TestTake: a stack comes with the definition of its kind and without Secrets' values, and a
// namespace that does not exist is an error.
func TestTake(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) }
	in := &app.Input{From: "demo", Demo: demotest.FS(), Now: now, Config: genericclioptions.NewConfigFlags(true)}
	taken, err := Take(t.Context(), in.Another("moodle"), &Request{Roots: []string{"moodle/moodle-1"}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, fields := range taken.Objects {
		u := unstructured.Unstructured{Object: fields}
		kinds[u.GetKind()]++
		if data, ok, _ := unstructured.NestedMap(fields, "data"); ok && u.GetKind() == "Secret" {
			t.Errorf("%s has data: %v", u.GetName(), data)
		}
	}
	for _, kind := range []string{"Moodle", "CustomResourceDefinition", "Pod", "PodMetrics"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s in %v", kind, kinds)
		}
	}
	if len(taken.Header.Covered) > 0 {
		t.Error("a stack covers no kind as a whole")
	}
	if _, err := Take(t.Context(), in.Another("nowhere"), &Request{}); err == nil || !strings.Contains(err.Error(), `namespace "nowhere"`) {
		t.Errorf("a namespace that does not exist: %v", err)
	}
}
