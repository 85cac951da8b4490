package cli

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func composeOf(t *testing.T, given any) composition {
	t.Helper()
	body, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	text, err := (&uiAPI{o: &uiOptions{}}).composed(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	var c composition
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

const smallSystem = "# why\napiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata:\n  name: shop # mine\nspec:\n  apps:\n  - name: db\n    roots: [statefulset/db]\n"

// TestComposeKeepsText holds that what was written stays as it is, right or wrong.
func TestComposeKeepsText(t *testing.T) {
	for name, tc := range map[string]struct {
		text     string
		line     int
		path     string
		manifest bool
	}{
		"right":       {smallSystem, 0, "", true},
		"wrong value": {smallSystem + "    gitops: perhaps\n", 10, "spec.apps[0].gitops", true},
		"wrong key":   {smallSystem + "    root: [x]\n", 10, "spec.apps[0]", true},
		"not YAML":    {smallSystem + "  - [\n", 10, "", false},
		"an alias":    {smallSystem + "  values: {a: &a 1, b: *a}\n", 10, "spec.values.b", false},
		"empty":       {"", 1, "", false},
		"a list":      {"- a\n", 1, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := composeOf(t, map[string]any{"yaml": tc.text})
			if c.YAML != tc.text {
				t.Errorf("the text became %q", c.YAML)
			}
			if (c.Manifest != nil) != tc.manifest {
				t.Errorf("manifest: %v", c.Manifest)
			}
			if (len(c.Problems) == 0) != (tc.line == 0) || (len(c.Commands) > 0) != (tc.line == 0) {
				t.Fatalf("problems %v, commands %v", c.Problems, c.Commands)
			}
			if tc.line > 0 && (c.Problems[0].Line != tc.line || c.Problems[0].Path != tc.path || c.Problems[0].Message == "") {
				t.Errorf("got %+v", c.Problems[0])
			}
		})
	}
}

// TestComposeWrites holds that values are written as they were given, and come back.
func TestComposeWrites(t *testing.T) {
	example, err := os.ReadFile("../../examples/demo-system.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{smallSystem, string(example)} {
		first := composeOf(t, map[string]any{"yaml": text})
		second := composeOf(t, map[string]any{"manifest": first.Manifest})
		sys, problems := system.Parse("x", []byte(text))
		if len(problems) > 0 || len(second.Problems) > 0 {
			t.Fatal(problems, second.Problems)
		}
		// It says what was given, and no default besides: both mean the same.
		again, problems := system.Parse("x", []byte(second.YAML))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		want, err := sys.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.YAML(); err != nil || string(got) != string(want) {
			t.Errorf("%v: got\n%s\nwant\n%s", err, got, want)
		}
		if !reflect.DeepEqual(second.Manifest, first.Manifest) {
			t.Errorf("got %v, want %v", second.Manifest, first.Manifest)
		}
		if third := composeOf(t, map[string]any{"manifest": second.Manifest}); third.YAML != second.YAML {
			t.Errorf("written again it is\n%s", third.YAML)
		}
	}
}

// TestComposeHalf holds that what is not finished is written all the same, templates as they are.
func TestComposeHalf(t *testing.T) {
	app := map[string]any{"name": "new"}
	manifest := map[string]any{"spec": map[string]any{"apps": []any{app}}, "kind": "System", "metadata": map[string]any{"name": "s"}, "apiVersion": "sysop.dev/v1alpha1"}
	c := composeOf(t, map[string]any{"manifest": manifest})
	if want := "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata:\n  name: s\nspec:\n  apps:\n  - name: new\n"; strings.ReplaceAll(c.YAML, "    - name", "  - name") != want {
		t.Errorf("got\n%s", c.YAML)
	}
	if len(c.Problems) != 1 || c.Problems[0].Path != "spec.apps[0]" {
		t.Errorf("problems: %+v", c.Problems)
	}
	app["resources"] = []any{map[string]any{"template": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .System }}-a'}\n"}}
	c = composeOf(t, map[string]any{"manifest": manifest})
	if len(c.Problems) > 0 || !strings.Contains(c.YAML, "{{ .System }}") {
		t.Errorf("%v\n%s", c.Problems, c.YAML)
	}
}

func TestComposeRefuses(t *testing.T) {
	for _, body := range []string{`{}`, `[]`, `{"yaml":"a","manifest":{}}`, `{"yaml":1}`, `{"manifest":[]}`, `{"yaml":"","more":1}`, `{"yaml":"` + strings.Repeat("x", maxComposedBytes) + `"}`} {
		if text, err := (&uiAPI{o: &uiOptions{}}).composed(t.Context(), json.RawMessage(body)); err == nil {
			t.Errorf("%.40s: answered %s", body, text)
		}
	}
}

func TestComposeCatalogue(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	text, err := (&uiAPI{o: uiOptionsOf(v), v: v}).catalogue(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer catalogAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	versions, served := 0, 0
	for _, e := range answer.Entries {
		versions += len(e.Versions)
		for _, k := range e.Kinds {
			if k.Served {
				served++
			}
		}
		if e.Name == "" || e.Title == "" {
			t.Errorf("an entry without a name: %+v", e)
		}
	}
	if len(answer.Entries) < 10 || versions == 0 {
		t.Errorf("%d entries with %d versions", len(answer.Entries), versions)
	}
	if served == 0 {
		t.Error("the example has kinds of the catalog, and none is said to be served")
	}
}

// The composer offers what install would take: also the operators of --catalog and of the settings.
// One of the settings that cannot be read hides no other.
func TestComposeFurtherCatalogues(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	settings := filepath.Join(t.TempDir(), "config.yaml")
	hello, err := filepath.Abs("../../examples/hello/catalogue")
	if err != nil {
		t.Fatal(err)
	}
	offers := func(o *uiOptions) bool {
		t.Helper()
		text, err := (&uiAPI{o: o, v: v}).catalogue(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var answer catalogAnswer
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Entries) < 10 {
			t.Errorf("%d entries", len(answer.Entries))
		}
		return slices.ContainsFunc(answer.Entries, func(e catalogEntry) bool {
			return e.Name == "hello" && len(e.Versions) > 0 && slices.ContainsFunc(e.Kinds, func(k catalogKind) bool { return k.Kind == "Greeting" })
		})
	}
	o := uiOptionsOf(v)
	if offers(o) {
		t.Error("the embedded catalogue has hello")
	}
	further := &uiOptions{common: o.common, catalogues: catalogueOptions{catalogs: []string{hello}}}
	if !offers(further) {
		t.Error("what --catalog has is not offered")
	}
	o.env.Getenv = func(name string) string {
		if name == catalogs.SettingsVariable {
			return settings
		}
		return ""
	}
	text := "apiVersion: sysop.dev/v1alpha1\nkind: Config\ncatalogs:\n- address: " + filepath.Join(t.TempDir(), "nothing") + "\n- address: " + hello + "\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if !offers(o) {
		t.Error("what a catalogue of the settings has is not offered")
	}

	body, err := json.Marshal(map[string]any{"yaml": smallSystem})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&uiAPI{o: further}).composed(t.Context(), body)
	if err != nil || !strings.Contains(string(answer), "install -f system.yaml --catalog='"+hello+"'") {
		t.Errorf("%s, %v: the commands want the catalogue", answer, err)
	}
}

func TestComposeSchema(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	a := &uiAPI{v: v}
	ask := func(kind string) (answer schemaAnswer) {
		text, err := a.schema(t.Context(), url.Values{"kind": {kind}})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for kind, why := range map[string]string{"Deployment.apps": "built in", "ConfigMap": "built in", "Nothing.example.com": "not served"} {
		if got := ask(kind); got.Schema != nil || !strings.Contains(got.Unavailable, why) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	found := 0
	for _, k := range v.Last.Session.Kinds.All() {
		if k.Custom && ask(k.GroupKind().String()).Schema["properties"] != nil {
			found++
		}
	}
	if found == 0 {
		t.Error("no custom kind of the example has a schema")
	}
	for _, kind := range []string{"", "*.example.com", "a b", "<b>"} {
		if _, err := a.schema(t.Context(), url.Values{"kind": {kind}}); err == nil {
			t.Errorf("%q was answered", kind)
		}
	}
}

// TestFormSchema holds what a form does not get: examples, defaults that may be secret, more than it can show.
func TestFormSchema(t *testing.T) {
	deep := map[string]any{"type": "string"}
	for range maxFieldDepth + 3 {
		deep = map[string]any{"type": "object", "properties": map[string]any{"a": deep}}
	}
	got := formSchema(map[string]any{"type": "object", "example": "e", "required": []any{"n"}, "properties": map[string]any{
		"n":        map[string]any{"type": "integer", "minimum": int64(1), "default": int64(3), "description": strings.Repeat("x ", 600)},
		"password": map[string]any{"type": "string", "default": "hunter2"},
		"deep":     deep,
	}})
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"hunter2", `"example"`, strings.Repeat(`{"a":`, 1) + strings.Repeat(`{"properties":{"a":`, maxFieldDepth+1)} {
		if strings.Contains(string(text), no) {
			t.Errorf("%s is in %s", no, text)
		}
	}
	if n := strings.Count(string(text), "preserve-unknown"); n != 1 {
		t.Errorf("%d places are cut", n)
	}
	if !strings.Contains(string(text), `"default":3`) || !strings.Contains(string(text), `"minimum":1`) || len(text) > 3000 {
		t.Errorf("got %s", text)
	}
}
