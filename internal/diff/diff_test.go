package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestDiff(t *testing.T) {
	live := []*unstructured.Unstructured{
		planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: same, namespace: a, uid: '1', resourceVersion: '7', managedFields: [{manager: x}]}, data: {a: b}}"),
		planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: a}}"),
		planObject(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a, generation: 3}, spec: {replicas: 1, args: [x, w], list: [1]}, status: {ready: 1}}"),
	}
	want := []*unstructured.Unstructured{
		planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: same, namespace: a, labels: {}}, data: {a: b}}"),
		planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: a}}"),
		planObject(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a}, spec: {replicas: 2, args: [x, z], list: [1, 2], image: i}}"),
	}
	var got []string
	for _, d := range Objects(want, live) {
		got = append(got, d.What+" "+d.Object.String())
		for _, f := range d.Fields {
			got = append(got, fmt.Sprintf("  %s: %s -> %s", f.Path, f.Was, f.Is))
		}
	}
	expect := []string{
		"removed ConfigMap/a/gone", "added ConfigMap/a/new", "changed Deployment.apps/a/web",
		`  spec.args[1]: "w" -> "z"`, `  spec.image:  -> "i"`, "  spec.list: [1] -> [1,2]", "  spec.replicas: 1 -> 2",
	}
	if !slices.Equal(got, expect) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(expect, "\n"))
	}
}

func TestDiffTellsNoSecret(t *testing.T) {
	live := planObject(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: old-secret}}, data: {same: c2FtZQ==, other: b2xkLXNlY3JldA==, gone: b2xkLXNlY3JldA==}}")
	want := planObject(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: a}, data: {other: bmV3LXNlY3JldA==}, stringData: {same: same, new: new-secret}}")
	all := Objects([]*unstructured.Unstructured{want}, []*unstructured.Unstructured{live})
	var text strings.Builder
	if err := Write(&text, all); err != nil {
		t.Fatal(err)
	}
	said := text.String() + fmt.Sprintf("%+v", all[0].Fields)
	for _, value := range []string{"old-secret", "new-secret", "b2xkLXNlY3JldA", "bmV3LXNlY3JldA", "c2FtZQ"} {
		if strings.Contains(said, value) {
			t.Errorf("the value %s is told:\n%s", value, said)
		}
	}
	var paths []string
	for _, f := range all[0].Fields {
		paths = append(paths, f.Path)
	}
	if expect := []string{"data.gone", "data.new", "data.other"}; !slices.Equal(paths, expect) {
		t.Errorf("changed: %v, want %v", paths, expect)
	}
	if want.Object["stringData"] == nil || live.GetAnnotations()[lastApplied] == "" {
		t.Error("what was given is changed")
	}
}

func TestWriteDiff(t *testing.T) {
	live := planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: a}, data: {a: '1', b: '2', c: '3', d: '4', e: '5', f: '6', g: '7', h: '8', i: '9'}}")
	want := live.DeepCopy()
	if err := unstructured.SetNestedField(want.Object, "x", "data", "b"); err != nil {
		t.Fatal(err)
	}
	added := planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: a}}")
	var text strings.Builder
	if err := Write(&text, Objects([]*unstructured.Unstructured{want, added}, []*unstructured.Unstructured{live})); err != nil {
		t.Fatal(err)
	}
	const expect = `--- a/ConfigMap/a/c
+++ b/ConfigMap/a/c
@@ -1,7 +1,7 @@
 apiVersion: v1
 data:
   a: "1"
-  b: "2"
+  b: x
   c: "3"
   d: "4"
   e: "5"
--- /dev/null
+++ b/ConfigMap/a/new
@@ -0,0 +1,5 @@
+apiVersion: v1
+kind: ConfigMap
+metadata:
+  name: new
+  namespace: a
`
	if text.String() != expect {
		t.Errorf("got:\n%s\nwant:\n%s", text.String(), expect)
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
