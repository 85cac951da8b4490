package installer

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestGenerated(t *testing.T) {
	object := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop"}, "data": map[string]any{"value": "01"}}}
	}
	sys, text, err := Generated("shop-made", "shop", []*unstructured.Unstructured{object("a"), object("b")})
	if err != nil {
		t.Fatal(err)
	}
	app, ok := sys.App("shop-made")
	if !ok || sys.Namespace != "shop" || len(app.Resources) != 2 || app.Resources[1].GetName() != "b" || !strings.Contains(text, `value: "01"`) {
		t.Errorf("the System is %+v, of\n%s", sys, text)
	}
	if _, _, err := Generated("Not a name", "shop", []*unstructured.Unstructured{object("a")}); err == nil {
		t.Error("a System without a valid name is made")
	}
}
