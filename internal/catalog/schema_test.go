package catalog_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

func entrySchema(t *testing.T) func([]byte) error {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/entry.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
}

// TestSchemaOfEntries: every entry validates, as it is written by hand and as it is written
// by us.
func TestSchemaOfEntries(t *testing.T) {
	validate := entrySchema(t)
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	for _, file := range append(files, "testdata/widget.yaml", "testdata/csv/widget-operator.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		e, problems := catalog.Parse(strings.TrimSuffix(filepath.Base(file), ".yaml"), text)
		if len(problems) > 0 {
			t.Errorf("%s: %v", file, problems)
			continue
		}
		again, err := e.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(again); err != nil {
			t.Errorf("%s, written by us: %v", file, err)
		}
	}
}

// TestSchemaHasTheKeys: the schema has the keys that the types have, and requires the same.
func TestSchemaHasTheKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema/entry.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	// Of these it depends on other keys whether they are required, or whose key it is.
	others := map[string][]string{"": {"apiVersion", "kind"}, "$defs/entryHealth": {"source"}, "$defs/entryRelation": {"from"}}
	for path, value := range map[string]any{
		"": &catalog.Entry{}, "$defs/entryKind": &catalog.Kind{}, "$defs/entryHealth": &health.Rule{}, "$defs/entryRelation": &declare.Spec{},
		"$defs/entryVersion": &catalog.Version{}, "$defs/entryVersion/properties/provides/items": &solve.API{},
		"$defs/entryRequirement": catalog.Requirement, "$defs/entryVersion/properties/conflicts/items": catalog.Conflict,
		"$defs/entryVersion/properties/source": &catalog.Source{}, "$defs/entryChart": &catalog.ChartSource{},
		"$defs/entryVersion/properties/source/properties/manifests/items": &catalog.ManifestSource{},
		"$defs/entryVersion/properties/health/items":                      &catalog.Workload{},
	} {
		keys, required := others[""], others[path]
		if path != "" {
			keys = nil
		}
		for _, f := range (&strict.Mapping{}).FieldsOf(value, nil) {
			keys = append(keys, f.Name)
			if f.Required {
				required = append(required, f.Name)
			}
		}
		at := schema
		for step := range strings.SplitSeq(path, "/") {
			if below, ok := at[step].(map[string]any); ok {
				at = below
			}
		}
		properties, _ := at["properties"].(map[string]any)
		var demanded []string
		list, _ := at["required"].([]any)
		for _, key := range list {
			demanded = append(demanded, key.(string))
		}
		sort := func(all []string) string { return strings.Join(slices.Sorted(slices.Values(all)), " ") }
		if got, want := sort(slices.Collect(maps.Keys(properties))), sort(keys); got != want {
			t.Errorf("%s has the keys %s: want %s", path, got, want)
		}
		if got, want := sort(demanded), sort(required); got != want {
			t.Errorf("%s requires %s: want %s", path, got, want)
		}
	}
}

// TestSpoiled: each way to spoil an entry is refused, at its place, by the parser, and by the
// schema where a schema can know it.
func TestSpoiled(t *testing.T) {
	validate := entrySchema(t)
	text := widget(t)
	for _, s := range spoiled {
		if strings.Count(text, s.old) == 0 {
			t.Errorf("%q is not in the entry", s.old)
			continue
		}
		wrong := strings.Replace(text, s.old, s.new, 1)
		_, problems := catalog.Parse("widget", []byte(wrong))
		var told []string
		for _, p := range problems {
			told = append(told, p.String())
			if p.Line < 1 || p.Column < 1 {
				t.Errorf("%q for %q: no place: %+v", s.new, s.old, p)
			}
		}
		if got := strings.Join(told, "\n"); !strings.Contains(got, s.want) || got == "" {
			t.Errorf("%q for %q: got\n%s\nwant %s", s.new, s.old, got, s.want)
		}
		if err := validate([]byte(wrong)); (err != nil) != s.schema {
			t.Errorf("%q for %q: the schema says %v", s.new, s.old, err)
		}
	}
}
