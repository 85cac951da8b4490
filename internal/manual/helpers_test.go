package manual_test

import (
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// fields reads YAML as a server's JSON is read: whole numbers as int64.
func fields(t testing.TB, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m
}

// spec is the schema of an object whose spec has the given schema.
func spec(t testing.TB, text string) map[string]any {
	t.Helper()
	return map[string]any{"type": "object", "properties": map[string]any{"spec": fields(t, text), "status": map[string]any{"type": "object"}}}
}

// define makes the definition of a Thing with that schema.
func define(t testing.TB, schema map[string]any) (manual.Definition, manual.Resource) {
	t.Helper()
	d := manual.NewDefinition(map[string]any{
		"metadata": map[string]any{"name": "things.example.com"},
		"spec": map[string]any{"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema},
		}}},
	})
	return d, d.Resource(object.Resource{Group: "example.com", Version: "v1", Kind: "Thing", Plural: "things", Singular: "thing", Namespaced: true, Custom: true})
}
