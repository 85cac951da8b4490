package installer

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// The Secrets of a request come before the apps. An app brings none, since more users may read the
// manifest.
func TestSecretsOfRequest(t *testing.T) {
	t.Parallel()
	secret := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": "shop"}}}
	}
	load := func(app string, resource *unstructured.Unstructured) (*partLoader, error) {
		sys := &system.System{Name: "sys", Namespace: "shop", Apps: []system.App{{Name: app, Resources: []*unstructured.Unstructured{resource}}}}
		c := newPartLoader(&Request{System: sys, Secrets: []*unstructured.Unstructured{secret("web")}}, nil, source.BuiltInKinds(), "", nil)
		return c, c.apps(t.Context())
	}
	settings := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}}}
	c, err := load("web", settings)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.parts) != 2 || c.parts[0].Release != "sys-secrets" || len(c.parts[0].Rendered.Objects) != 1 || !slices.Equal(c.parts[1].Needs, []string{"secrets"}) {
		t.Errorf("the parts are %+v", c.parts)
	}
	if _, err := load("web", secret("other")); err == nil || !strings.Contains(err.Error(), "app web includes a Secret") {
		t.Errorf("an app with a Secret: %v", err)
	}
	if _, err := load("secrets", settings); err == nil || !strings.Contains(err.Error(), "has the name of the app of the Secrets") {
		t.Errorf("an app named secrets: %v", err)
	}
}
