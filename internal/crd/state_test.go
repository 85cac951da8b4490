package crd

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What a server adds is not a difference; what is wanted and not there is.
func TestSame(t *testing.T) {
	wanted := func() *unstructured.Unstructured {
		u := widgets(t, "{type: object, properties: {a: {type: string}}}")
		second(true, false, emptySpec)(t, u)
		u.SetLabels(map[string]string{"app": "shop"})
		return u
	}
	live := wanted()
	live.SetUID("1")
	live.SetResourceVersion("7")
	live.SetGeneration(2)
	live.SetLabels(map[string]string{"app": "shop", "of": "another"})
	live.SetAnnotations(map[string]string{"of": "another"})
	stored(live, "v1")
	inNames("listKind", "WidgetList")(t, live)
	inNames("singular", "widget")(t, live)
	inSpec("conversion", fields("strategy", "None"))(t, live)
	slices.Reverse(specAt(live)["versions"].([]any))
	if !Same(live, wanted()) {
		t.Error("what the server added is a difference")
	}
	for name, edit := range map[string]func(*testing.T, *unstructured.Unstructured){
		"a label":       func(_ *testing.T, u *unstructured.Unstructured) { u.SetLabels(map[string]string{"app": "till"}) },
		"an annotation": func(_ *testing.T, u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"a": "b"}) },
		"short names":   inNames("shortNames", []any{"wi"}),
		"list kind":     inNames("listKind", "Widgets"),
		"conversion":    inSpec("conversion", webhook("a")),
		"deprecation":   inVersion("deprecated", true),
		"a column":      inVersion("additionalPrinterColumns", []any{fields("name", "A")}),
		"an unknown":    inSpec("tomorrow", int64(1)),
		"a description": func(_ *testing.T, u *unstructured.Unstructured) {
			versionAt(u, 0)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["description"] = "d"
		},
		"no schema":     schemaless,
		"a version":     func(t *testing.T, u *unstructured.Unstructured) { addVersion(t, u, "v3", true, false, emptySpec) },
		"no definition": func(_ *testing.T, u *unstructured.Unstructured) { u.SetKind("ConfigMap") },
	} {
		u := wanted()
		edit(t, u)
		if Same(live, u) {
			t.Errorf("%s is no difference", name)
		}
	}
	injected := wanted()
	inSpec("conversion", webhook("a", "caBundle", "Y2E="))(t, injected)
	set(specAt(injected)["conversion"].(map[string]any)["webhook"].(map[string]any)["clientConfig"].(map[string]any)["service"].(map[string]any), "port", int64(443))
	plain := wanted()
	inSpec("conversion", webhook("a"))(t, plain)
	if !Same(injected, plain) || Same(plain, injected) {
		t.Error("an injected authority is a difference, or a wanted one is none")
	}
}

// Real definitions: what their projects changed from one release to another.
func TestRealDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		was, is string
		unsafe  []string
	}{
		"rules of Prometheus, grown stricter": {"prometheusrules-0.60.0.yaml", "prometheusrules-0.85.0.yaml", []string{
			"bound-added spec.groups[].name", "list-type-changed spec.groups", "pattern-changed spec.groups[].interval",
			"pattern-changed spec.groups[].partial_response_strategy", "pattern-changed spec.groups[].rules[].for",
		}},
		"rules of Prometheus, with a status": {"prometheusrules-0.85.0.yaml", "prometheusrules-0.93.1.yaml", nil},
		"taking the status back": {"prometheusrules-0.93.1.yaml", "prometheusrules-0.85.0.yaml", []string{
			"field-removed status", "status-withdrawn ",
		}},
		"requests of cert-manager": {"certificaterequests-1.14.0.yaml", "certificaterequests-1.21.2.yaml", nil},
		"putting them back": {"certificaterequests-1.21.2.yaml", "certificaterequests-1.14.0.yaml", []string{
			"selectable-field-removed spec.issuerRef.group", "selectable-field-removed spec.issuerRef.kind", "selectable-field-removed spec.issuerRef.name",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			changes := compared(t, real(t, c.was), real(t, c.is))
			if len(changes) == 0 {
				t.Error("nothing changed")
			}
			var got []string
			for _, u := range unsafeOf(changes) {
				got = append(got, u.Rule+" "+u.Field)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.unsafe) {
				t.Errorf("unsafe %q, want %q", got, c.unsafe)
			}
		})
	}
}

func real(t testing.TB, name string) *unstructured.Unstructured {
	t.Helper()
	b, err := os.ReadFile("testdata/real/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b))
}

// What is malformed is refused, with its place.
func TestMalformed(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*testing.T, *unstructured.Unstructured)
		says string
	}{
		"another kind":      {func(_ *testing.T, u *unstructured.Unstructured) { u.SetKind("ConfigMap") }, "not a CustomResourceDefinition"},
		"an old version":    {func(_ *testing.T, u *unstructured.Unstructured) { u.SetAPIVersion("apiextensions.k8s.io/v1beta1") }, "v1beta1"},
		"no spec":           {func(_ *testing.T, u *unstructured.Unstructured) { u.Object["spec"] = "x" }, "spec is x"},
		"no versions":       {inSpec("versions", []any{}), "spec.versions is not a list"},
		"a bad version":     {inSpec("versions", []any{"v1"}), "spec.versions[0] is not an object"},
		"no name":           {inVersion("name", ""), "spec.versions[0] has no name"},
		"no storage":        {inVersion("storage", false), "no storage version"},
		"two storages":      {func(t *testing.T, u *unstructured.Unstructured) { addVersion(t, u, "v2", true, true, emptySpec) }, "second storage version, besides v1"},
		"twice":             {func(t *testing.T, u *unstructured.Unstructured) { addVersion(t, u, "v1", true, false, emptySpec) }, "v1 a second time"},
		"a bad schema":      {inVersion("schema", fields("openAPIV3Schema", "x")), "openAPIV3Schema is x"},
		"bad properties":    {inVersion("schema", fields("openAPIV3Schema", fields("type", "object", "properties", "x"))), "properties that are not an object"},
		"a bad property":    {inVersion("schema", fields("openAPIV3Schema", fields("type", "object", "properties", fields("a", "x")))), "v1 a has a schema that is x"},
		"a bad requirement": {inVersion("schema", fields("openAPIV3Schema", fields("type", "object", "required", "x"))), "not a list"},
		"bad stored":        {func(_ *testing.T, u *unstructured.Unstructured) { u.Object["status"] = fields("storedVersions", "v1") }, "status.storedVersions is not a list"},
	} {
		u := widgets(t, emptySpec)
		c.edit(t, u)
		if _, err := Compare(u, widgets(t, emptySpec)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := Compare(nil, widgets(t, emptySpec)); err == nil {
		t.Error("nothing is compared")
	}
}

// BenchmarkCompare compares a definition of about the size of Prometheus's (7,000 fields)
// with one in which every tenth field has another limit.
func BenchmarkCompare(b *testing.B) {
	grown := func(limit int64) *unstructured.Unstructured {
		properties := map[string]any{}
		for _, x := range "abcdefghijklmnopqrst" {
			inner := map[string]any{}
			for i := range 350 {
				f := fields("type", "string", "description", strings.Repeat("what it is ", 5), "maxLength", int64(9))
				if i%10 == 0 {
					f["maxLength"] = limit
				}
				inner[string(x)+strings.Repeat("x", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26))] = f
			}
			properties[string(x)] = fields("type", "array", "items", fields("type", "object", "properties", inner))
		}
		return randomDefinition(fields("type", "object", "properties", properties))
	}
	was, now := grown(9), grown(8)
	for b.Loop() {
		changes, err := Compare(was, now)
		if err != nil || len(changes) != 700 {
			b.Fatal(len(changes), err)
		}
	}
}
