package chart

import (
	"bytes"
	"math/rand"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// tricky are texts that templates, the engine or YAML could make something else of.
var tricky = []string{
	"{{ .Values.x }}", "{{{{", "{{{ a }}}", "{{- trim -}}", `{{"{{"}}`, "}}", "{{/* c */}}", "<no value>", "{{ <no value> }}",
	"---", "a\n---\nb\n", "--- {{", "yes", "0777", "1e3", "~", "null", " lead", "trail \n\n", "tab\tand\rreturn", "é\u2028\u0000x",
	"-----BEGIN X-----\nabc\n-----END X-----\n", "# no comment", "a: b", "\"q\" 'q' `q`", "HELM_ERR_START x HELM_ERR_END",
}

func configMap(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "store"}, "data": data,
	}}
}

func trickyObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all := map[string]any{}
	var objects []*unstructured.Unstructured
	for i, s := range tricky {
		all["k"+strconv.Itoa(i)] = s
		objects = append(objects, configMap("c"+strconv.Itoa(i), map[string]any{"v": s, "n": int64(i), s + "k": "v"}))
	}
	return append(objects, configMap("all", all))
}

func TestManifestsSurviveVerbatim(t *testing.T) {
	objects := trickyObjects(t)
	c, err := FromManifests("tricky", "v1.0.0", objects)
	if err != nil {
		t.Fatal(err)
	}
	checkVerbatim(t, c, objects)
	again, err := Load(c.Save(), "again", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkVerbatim(t, again, objects)
	if again.Digest != c.Digest {
		t.Errorf("the digest is %s, and was %s", again.Digest, c.Digest)
	}
	second, err := FromManifests("tricky", "1.0.0", trickyObjects(t))
	if err != nil || !bytes.Equal(second.Save(), c.Save()) {
		t.Errorf("the same objects make other bytes (%v)", err)
	}
}

func checkVerbatim(t *testing.T, c *Chart, objects []*unstructured.Unstructured) {
	t.Helper()
	r := rendered(t, c, Options{Release: "x", Namespace: "store"})
	if len(r.Objects) != len(objects) {
		t.Fatalf("%d objects came out of %d", len(r.Objects), len(objects))
	}
	for i, o := range r.Objects {
		if !reflect.DeepEqual(o.Object, objects[i].Object) {
			t.Errorf("%q came out of %q", o.Object, objects[i].Object)
		}
	}
}

func TestManifestsSurviveAtRandom(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	var objects []*unstructured.Unstructured
	for i := range 100 {
		var b strings.Builder
		for range rnd.Intn(12) {
			b.WriteString([]string{"{", "}", "{{", "}}", "-", " ", "\n", "\"", "`", "/*", "*/", "x", "<no value>", "---", "tpl", ":", "'"}[rnd.Intn(17)])
		}
		objects = append(objects, configMap("c"+strconv.Itoa(i), map[string]any{"v": b.String()}))
	}
	c, err := FromManifests("random", "1.0.0", objects)
	if err != nil {
		t.Fatal(err)
	}
	checkVerbatim(t, c, objects)
}

func TestManifestsSetDefinitionsAside(t *testing.T) {
	r := rendered(t, load(t, "definitions"), options())
	c, err := FromManifests("defs", "0.1.0", slices.Concat(r.Definitions, r.Objects))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Definitions) != 2 || len(c.Helm.CRDObjects()) != 0 || bytes.Contains(c.Helm.Templates[0].Data, []byte("CustomResourceDefinition")) {
		t.Errorf("%d definitions were set aside, %d are left", len(c.Definitions), len(c.Helm.CRDObjects()))
	}
	for _, f := range c.Helm.Raw {
		if strings.HasPrefix(f.Name, "crds/") {
			t.Errorf("%s is left in the chart", f.Name)
		}
	}
	again := rendered(t, c, options())
	equal(t, "definitions", refs(again.Definitions), refs(r.Definitions))
	equal(t, "objects", refs(again.Objects), refs(r.Objects))
}

func TestManifestsTooLargeForTheRecord(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	var objects []*unstructured.Unstructured
	for i := range 4 {
		b := make([]byte, 400_000)
		for j := range b {
			b[j] = "abcdefghijklmnopqrstuvwxyz0123456789"[rnd.Intn(36)]
		}
		objects = append(objects, configMap("c"+strconv.Itoa(i), map[string]any{"v": string(b)}))
	}
	c, err := FromManifests("large", "1.0.0", objects)
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Bounds.Time = 10 * time.Minute // It is about size, however slow the machine is.
	_, err = Render(t.Context(), c, o)
	if err == nil || !strings.Contains(err.Error(), "the record of the release would have") || !strings.Contains(err.Error(), "install it in parts") {
		t.Errorf("what is too large gives %v", err)
	}
}

func TestManifestsRefusals(t *testing.T) {
	ok := []*unstructured.Unstructured{configMap("c", nil)}
	for _, tt := range []struct {
		name, version string
		objects       []*unstructured.Unstructured
		want          string
	}{
		{"x", "latest", ok, "not a semantic version"},
		{"X Y", "1.0.0", ok, "X Y"},
		{"x", "1.0.0", []*unstructured.Unstructured{nil}, "object 1 is empty"},
	} {
		if _, err := FromManifests(tt.name, tt.version, tt.objects); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s gives %v, want %q", tt.name, tt.version, err, tt.want)
		}
	}
}

func TestReadManifests(t *testing.T) {
	objects, err := ReadManifests(map[string][]byte{
		"b.yaml": []byte("apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: b}\n"),
		"a.yaml": []byte("# only words\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {t: '{{ x }}'}\n---\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "objects", refs(objects), []string{"Secret/a", "ConfigMap/b"})
	if _, err := ReadManifests(map[string][]byte{"c.yaml": []byte("a: 1\n---\nkind: x\n")}); err == nil || !strings.Contains(err.Error(), "c.yaml, document 1: it has no apiVersion") {
		t.Errorf("what is no object gives %v", err)
	}
}
