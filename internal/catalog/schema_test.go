package catalog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
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
