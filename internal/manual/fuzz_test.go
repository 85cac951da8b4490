package manual_test

import (
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
)

// FuzzSchema holds that whatever stands in a schema, fields and an example come
// of it, and that an example that is said to be valid is.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{database, `{oneOf: [{required: [a]}], properties: {a: {type: array, minItems: 3, items: {pattern: "(a|b){2,}"}}}}`, `{type: [string], required: 1, properties: {a: 1}, items: {}, additionalProperties: true}`, `{allOf: [{properties: {a: {default: {}}}}], maxItems: -1, minProperties: 1e300}`} {
		raw, err := yaml.YAMLToJSON([]byte(s))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s map[string]any
		if len(text) > 1<<12 || utiljson.Unmarshal([]byte(text), &s) != nil {
			return
		}
		schema := map[string]any{"type": "object", "properties": map[string]any{"spec": s}}
		d, r := define(t, schema)
		got := manual.Build(d, r)
		for _, c := range []manual.FieldSelection{{}, {All: true}, {Path: "spec"}} {
			if _, _, err := manual.Fields(schema, c); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), "not valid") && len(manual.Check(schema, got.Object)) > 0 {
			t.Errorf("said to be valid:\n%s", got.Manifest)
		}
	})
}
