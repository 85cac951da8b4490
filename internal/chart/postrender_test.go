package chart

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What a chart grants when it is applied has to be what was planned; other fields may be others.
func TestCompareRoles(t *testing.T) {
	role := func(verb, note string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"name": "web", "namespace": "shop", "annotations": map[string]any{"note": note}},
			"rules": []any{map[string]any{"verbs": []any{verb}, "apiGroups": []any{""}, "resources": []any{"pods"}}},
		}}
	}
	p := &PostRenderer{planned: &Rendered{Objects: []*unstructured.Unstructured{role("get", "a")}}}
	if err := p.compareRoles([]document{{object: role("get", "b")}}); err != nil {
		t.Error(err)
	}
	if err := p.compareRoles([]document{{object: role("delete", "a")}}); err == nil || !strings.Contains(err.Error(), "Role shop/web") {
		t.Errorf("other rights: %v", err)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "other"}}}
	if err := p.compareRoles([]document{{object: secret}}); err != nil {
		t.Error(err)
	}
}
