package crd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// parse reads YAML as the API server's clients do: whole numbers are int64.
func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return &u
}

func fragment(t testing.TB, text string) map[string]any {
	t.Helper()
	u := parse(t, "apiVersion: v1\nkind: X\nit:\n  "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
	m, _ := u.Object["it"].(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m
}

// widgets is a definition of one version, stored and served, of which spec has the schema.
func widgets(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: %s
`, strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n            ")))
}

// fieldDefinition is a definition of which spec.f has the schema.
func fieldDefinition(t testing.TB, f string) *unstructured.Unstructured {
	t.Helper()
	u := widgets(t, "{type: object}")
	if f != "" {
		spec := versionAt(u, 0)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)["spec"].(map[string]any)
		spec["properties"] = map[string]any{"f": fragment(t, f)}
	}
	return u
}

func specAt(u *unstructured.Unstructured) map[string]any { return u.Object["spec"].(map[string]any) }

func versionAt(u *unstructured.Unstructured, i int) map[string]any {
	return specAt(u)["versions"].([]any)[i].(map[string]any)
}

// addVersion appends a version with a schema of spec.
func addVersion(t testing.TB, u *unstructured.Unstructured, name string, served, storage bool, spec string) {
	t.Helper()
	v := versionAt(widgets(t, spec), 0)
	v["name"], v["served"], v["storage"] = name, served, storage
	specAt(u)["versions"] = append(specAt(u)["versions"].([]any), v)
}

func stored(u *unstructured.Unstructured, names ...string) {
	list := make([]any, 0, len(names))
	for _, n := range names {
		list = append(list, n)
	}
	u.Object["status"] = map[string]any{"storedVersions": list}
}

func compared(t testing.TB, was, now *unstructured.Unstructured) []Change {
	t.Helper()
	changes, err := Compare(was, now)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func rulesOf(changes []Change) []string {
	var ids []string
	for _, c := range changes {
		ids = append(ids, c.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func unsafeOf(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Severity != Unsafe })
}

func widget(t testing.TB, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, fmt.Sprintf("apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: %s, namespace: shop}\nspec: %s\n", name, spec))
}
