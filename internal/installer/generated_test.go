package installer

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestGenerated(t *testing.T) {
	t.Parallel()
	monitor := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}},
	}}
	sys, text, err := Generated("shop-monitoring", "shop", "what is scraped", "monitors", []*unstructured.Unstructured{monitor})
	if err != nil {
		t.Fatal(err)
	}
	if len(sys.Apps) != 1 || len(sys.Apps[0].Roots) != 1 || sys.Apps[0].Roots[0].Name != "web" {
		t.Errorf("the apps are %+v", sys.Apps)
	}
	if !strings.Contains(text, "kind: PodMonitor") || !strings.Contains(text, "app: web") {
		t.Errorf("the manifest is:\n%s", text)
	}
	if _, _, err := Generated("Not a name", "shop", "", "monitors", []*unstructured.Unstructured{monitor}); err == nil {
		t.Error("a name that is no DNS label is accepted")
	}
}
