package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func embedded(context.Context) (*catalog.Catalogue, error) { return catalog.Embedded(), nil }

// alone is an API that checks a manifest by itself.
func alone() *API {
	in := &app.Input{From: "-", Config: genericclioptions.NewConfigFlags(true), Now: time.Now}
	return &API{Page: &app.Page{Input: in}, Catalog: embedded}
}

func composeOf(t *testing.T, given any) composition {
	t.Helper()
	body, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	text, err := alone().compose(t.Context(), body)
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

// TestComposeValidates holds that a manifest is checked as system validate checks it: against the
// CRDs and the objects of the page's source.
func TestComposeValidates(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: x, namespace: moodle}
spec:
  apps:
  - name: db
    operator: mysqll
    resources:
    - {apiVersion: mysql.presslabs.org/v1alpha1, kind: MysqlCluster, metadata: {name: a}, spec: {replicas: many, foo: 1}}
  - {name: web, roots: [deployment/wordpres]}
  - {name: lms, resources: [{apiVersion: moodlecontroller.kubeplus/v1, kind: Moodle, metadata: {name: b}}]}
  connections:
  - {from: {app: db, path: status.x}, to: {app: lms, path: spec.host}}
`
	a := &API{Page: demoPage(t), Catalog: embedded}
	body, err := json.Marshal(map[string]string{"yaml": text})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.compose(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	var c composition
	if err := json.Unmarshal(answer, &c); err != nil {
		t.Fatal(err)
	}
	in := a.Page.Input.Another("")
	in.AllNamespaces, in.Stdin = false, strings.NewReader(text)
	want, err := systems.Validate(t.Context(), in, systems.ValidateRequest{File: "-", Catalogue: catalog.Embedded()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, p := range c.Problems {
		got = append(got, strings.TrimPrefix(p.Path+": "+p.Message, ": "))
		if p.Line != want.Problems[i].Line || got[i] != want.Problems[i].Message {
			t.Errorf("line %d: %q, want %+v", p.Line, got[i], want.Problems[i])
		}
	}
	for _, says := range []string{
		`the catalog has no operator "mysqll"`, "there is no deployment/wordpres", "spec.apps[0].resources[0].spec.foo: the CRD has no such field",
		"spec.apps[0].resources[0].spec.replicas: it must be of type integer", "spec.apps[0].resources[0].spec.secretName: it is required",
	} {
		if !slices.ContainsFunc(got, func(m string) bool { return strings.Contains(m, says) }) {
			t.Errorf("not said: %s\n%s", says, strings.Join(got, "\n"))
		}
	}
	// What a connection fills in is not missing.
	if slices.ContainsFunc(got, func(m string) bool { return strings.Contains(m, "apps[2]") }) || len(c.Commands) > 0 {
		t.Errorf("%q, commands %q", got, c.Commands)
	}
}

// TestComposeDryRun holds that a dry run answers what the command prints: the plan, or what refuses it.
func TestComposeDryRun(t *testing.T) {
	planned := &install.Plan{
		Installation: install.Installation{Name: "shop"}, Action: install.Install, Notes: []string{"one"},
		Steps: []install.Step{{ID: "1", Kind: install.InstallRelease, Part: "db", Namespace: "shop", Release: "db"}},
	}
	var failure error
	var open *installer.Recovery
	a := &API{DryRun: func(context.Context, string) (*installer.Plan, *installer.Recovery, error) {
		return &installer.Plan{Planned: planned}, open, failure
	}}
	ask := func() (got trial) {
		t.Helper()
		text, err := a.dryRun(t.Context(), json.RawMessage(`{"yaml": "x"}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := ask()
	if got.Accepted != "the API server accepts all of it: nothing was stored" || len(got.Refused) > 0 || !reflect.DeepEqual(got.Steps, [][]string{{"install release", "shop/db", "", ""}}) || !reflect.DeepEqual(got.Lines, []string{"note: one"}) {
		t.Errorf("%+v", got)
	}
	planned.Refusals = []install.Refusal{{Part: "db", Message: "you may not create secrets", Hint: "ask for it"}}
	if got = ask(); got.Accepted != "" || !reflect.DeepEqual(got.Refused, []string{"db: you may not create secrets", "nothing was written"}) || !reflect.DeepEqual(got.Hints, []string{"ask for it"}) {
		t.Errorf("%+v", got)
	}
	claim := func(name string) object.Ref {
		return object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name}
	}
	planned.Refusals, planned.Steps[0].Data = nil, []object.Ref{claim("a")}
	open = &installer.Recovery{Installation: planned.Installation, Plan: install.RecoveryPlan{What: install.RecoveredUndone, Run: install.Run{Action: install.Install, By: "ada"}}, Losses: []object.Ref{claim("a"), claim("b")}}
	if got = ask(); !reflect.DeepEqual(got.Lines, []string{
		"an install of shop by ada did not finish: it is undone", "deleted with its data: PersistentVolumeClaim/shop/a", "deleted with its data: PersistentVolumeClaim/shop/b",
		"note: confirm it with --delete-data=shop", "note: one",
	}) {
		t.Errorf("%q", got.Lines)
	}
	planned.Refusals, failure = nil, hint.With(errors.New("no such chart"), "write another")
	if got = ask(); got.Accepted != "" || !reflect.DeepEqual(got.Refused, []string{"no such chart"}) || !reflect.DeepEqual(got.Hints, []string{"write another"}) {
		t.Errorf("%+v", got)
	}
	if _, ok := alone().Posts()["install"]; ok {
		t.Error("a snapshot is installed on")
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
		if text, err := alone().compose(t.Context(), json.RawMessage(body)); err == nil {
			t.Errorf("%.40s: answered %s", body, text)
		}
	}
}

func TestComposeCatalogue(t *testing.T) {
	v := demoPage(t)
	a := &API{Page: v, Catalog: embedded}
	text, err := a.catalogue(t.Context(), nil)
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

func TestComposeSchema(t *testing.T) {
	v := demoPage(t)
	a := &API{Page: v}
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
