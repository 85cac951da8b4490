package connection

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
)

func TestCheckConnection(t *testing.T) {
	secret := object.Ref{Kind: "Secret", Namespace: "shop", Name: "db"}
	cluster := object.Ref{Group: "pg.example.com", Kind: "Cluster", Namespace: "shop", Name: "db"}
	for _, c := range []struct {
		from        object.Ref
		path, field string
		want        string // what the error says; empty for none
	}{
		{cluster, "status.host", "spec.host", ""},
		{cluster, "status.endpoints[0].host", `metadata.annotations["a/b"]`, ""},
		{secret, "metadata.name", "spec.secretName", ""},
		{secret, "type", "spec.x", ""},
		{secret, "data.password", "spec.password", "connect its name"},
		{secret, `["data"]["password"]`, "spec.password", "connect its name"},
		{secret, `["data"]`, "spec.x", "connect its name"},
		{secret, "stringData.password", "spec.password", "connect its name"},
		{secret, `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`, "spec.x", "connect its name"},
		{secret, "metadata", "spec.x", "connect its name"},
		{secret, "*.password", "spec.x", "* finds several values"},
		{cluster, "status.endpoints[].host", "spec.host", "[] finds several values"},
		{cluster, "status.endpoints[*].host", "spec.host", "[] finds several values"},
		{cluster, "", "spec.host", "a field name is missing"},
		{cluster, "[0]", "spec.host", "expected a field"},
		{cluster, "status.host", "spec.hosts[]", "finds several values"},
		{cluster, "status.host", "metadata.name", "a connection cannot set"},
		{cluster, "status.host", "metadata.labels", "a connection cannot set"},
		{cluster, "status.host", "status.host", "a connection cannot set"},
		{cluster, "status.host", "kind", "a connection cannot set"},
	} {
		err := Check(Connection{From: c.from, Path: c.path, To: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "x"}, Field: c.field})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %s to %s: %v, want %q", c.path, c.from, c.field, err, c.want)
		}
	}
}

func TestSetValue(t *testing.T) {
	for _, c := range []struct {
		object, path string
		value        any
		want         string // the object after; empty for an error
	}{
		{"{kind: A}", "spec.host", "h", "{kind: A, spec: {host: h}}"},
		{"{kind: A, spec: {host: old, x: 1}}", "spec.host", "h", "{kind: A, spec: {host: h, x: 1}}"},
		{"{kind: A, spec: {host: null}}", "spec.host.name", "h", "{kind: A, spec: {host: {name: h}}}"},
		{"{kind: A, spec: {l: [{a: 1}, {a: 2}]}}", "spec.l[1].a", int64(3), "{kind: A, spec: {l: [{a: 1}, {a: 3}]}}"},
		{"{kind: A, spec: {l: [{a: 1}]}}", "spec.l[1].a", int64(3), "{kind: A, spec: {l: [{a: 1}, {a: 3}]}}"},
		{"{kind: A}", "spec.l[0]", "x", "{kind: A, spec: {l: [x]}}"},
		{"{kind: A}", `metadata.annotations["a.b/c"]`, "x", "{kind: A, metadata: {annotations: {a.b/c: x}}}"},
		{"{kind: A}", "spec.l[1]", "x", ""},
		{"{kind: A, spec: {l: {a: 1}}}", "spec.l[0]", "x", ""},
		{"{kind: A, spec: text}", "spec.host", "x", ""},
		{"{kind: A, spec: [1]}", "spec.host", "x", ""},
	} {
		u := planObject(t, c.object)
		err := Set(u, c.path, c.value)
		if c.want == "" {
			if err == nil {
				t.Errorf("set %s in %s: no error, and %v", c.path, c.object, u.Object)
			}
			continue
		}
		if err != nil || !patch.Equal(u.Object, planObject(t, c.want).Object) {
			t.Errorf("set %s in %s: %v, %v", c.path, c.object, u.Object, err)
			continue
		}
		if got, err := Resolve(u, c.path); err != nil || !patch.Equal(got, c.value) {
			t.Errorf("%s is %v, %v", c.path, got, err)
		}
		Remove(u, c.path)
		if got, err := Resolve(u, c.path); !errors.Is(err, ErrNoValue) {
			t.Errorf("%s was taken out, and is %v, %v", c.path, got, err)
		}
	}
}

func TestResolveValue(t *testing.T) {
	u := planObject(t, "{kind: A, status: {host: h, empty: '', port: 5432, list: [a, b], map: {x: 1}, none: null}}")
	for path, want := range map[string]any{"status.host": "h", "status.list[1]": "b", "status.map": map[string]any{"x": int64(1)}, "status.list": []any{"a", "b"}} {
		if got, err := Resolve(u, path); err != nil || !patch.Equal(got, want) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	for _, path := range []string{"status.empty", "status.none", "status.gone", "status.list[2]", "status.host.deeper", "spec.x"} {
		if got, err := Resolve(u, path); !errors.Is(err, ErrNoValue) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	got, _ := Resolve(u, "status.map")
	got.(map[string]any)["x"] = "changed"
	if again, _ := Resolve(u, "status.map.x"); again == "changed" {
		t.Error("the value is not a copy")
	}
}

func TestFlowFitsTypes(t *testing.T) {
	schema := map[string]any{"properties": map[string]any{"spec": map[string]any{"properties": map[string]any{
		"text": map[string]any{"type": "string"}, "whole": map[string]any{"type": "integer"}, "number": map[string]any{"type": "number"},
		"yes": map[string]any{"type": "boolean"}, "either": map[string]any{"x-kubernetes-int-or-string": true},
		"list": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}, "free": map[string]any{},
	}}}}
	for _, c := range []struct {
		field string
		value any
		want  any // nil for an error
	}{
		{"text", "a", "a"},
		{"text", int64(5432), "5432"},
		{"text", true, "true"},
		{"text", []any{"a"}, nil},
		{"whole", int64(1), int64(1)},
		{"whole", "5432", int64(5432)},
		{"whole", "db.example.com", nil},
		{"whole", 1.5, nil},
		{"number", "1.5", 1.5},
		{"number", "NaN", nil},
		{"yes", "true", true},
		{"yes", "perhaps", nil},
		{"either", "http", "http"},
		{"either", int64(80), int64(80)},
		{"list", []any{"a"}, []any{"a"}},
		{"list", "a", nil},
		{"list[0]", int64(1), "1"},
		{"free", map[string]any{"a": "b"}, map[string]any{"a": "b"}},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "A"}}
		err := Flow(Connection{Path: "status.x", Field: "spec." + c.field}, u, c.value, schema)
		if c.want == nil {
			if err == nil {
				t.Errorf("%v fits into %s: %v", c.value, c.field, u.Object)
			} else if s, is := c.value.(string); is && strings.Contains(err.Error(), s) && s != "a" {
				t.Errorf("the error says the value: %v", err)
			}
			continue
		}
		if got, _ := Resolve(u, "spec."+c.field); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v into %s: %v, %v", c.value, c.field, got, err)
		}
	}
	u := planObject(t, "{kind: A, spec: {port: 80}}")
	if err := Flow(Connection{Field: "spec.port"}, u, "5432", nil); err != nil {
		t.Error(err)
	}
	if got, _ := Resolve(u, "spec.port"); got != int64(5432) {
		t.Errorf("what stands there is a number, and becomes %T %v", got, got)
	}
}

func planObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
