package skeleton_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/skeleton"
)

const folder = "../../catalog/testdata/fields"

func readAll(t *testing.T) []*skeleton.File {
	t.Helper()
	all, err := skeleton.ReadAll(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// schemas are the schemas of a definition, reduced, by version.
func schemas(crd map[string]any) map[string]any {
	out := map[string]any{}
	for _, v := range crd["spec"].(map[string]any)["versions"].([]any) {
		v := v.(map[string]any)
		schema := v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		out[v["name"].(string)] = skeleton.Reduce(schema)
	}
	return out
}

// TestText: every file that is written says what was read.
func TestText(t *testing.T) {
	shapes, err := skeleton.ReadShapes(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(folder + "/" + skeleton.ShapesFile)
	if err != nil {
		t.Fatal(err)
	}
	was, schema := 0, 0
	for _, f := range readAll(t) {
		written := f.Text(shapes)
		again, err := skeleton.ReadAll(fstest.MapFS{f.Name + skeleton.Extension: {Data: []byte(written)}, skeleton.ShapesFile: {Data: text}})
		if err != nil {
			t.Fatal(err)
		}
		g := again[0]
		if !slices.Equal(f.Sources, g.Sources) || len(f.Kinds) != len(g.Kinds) {
			t.Fatalf("%s: %v, %d kinds; written %v, %d kinds", f.Name, f.Sources, len(f.Kinds), g.Sources, len(g.Kinds))
		}
		for i := range f.Kinds {
			if f.Kinds[i].Source != g.Kinds[i].Source || !reflect.DeepEqual(schemas(f.Kinds[i].Definition), schemas(g.Kinds[i].Definition)) {
				t.Errorf("%s: %v is another", f.Name, f.Kinds[i].Definition["metadata"])
			}
			delete(f.Kinds[i].Definition["spec"].(map[string]any), "versions")
			delete(g.Kinds[i].Definition["spec"].(map[string]any), "versions")
			if !reflect.DeepEqual(f.Kinds[i].Definition, g.Kinds[i].Definition) {
				t.Errorf("%s: %v, written %v", f.Name, f.Kinds[i].Definition, g.Kinds[i].Definition)
			}
		}
		before, err := os.ReadFile(folder + "/" + f.Name + skeleton.Extension)
		if err != nil {
			t.Fatal(err)
		}
		was, schema = was+len(before), schema+len(written)
	}
	if schema > was*5/4 {
		t.Errorf("%d bytes are written of %d: types and shapes are not used", schema, was)
	}
	t.Log(was, schema)
}

// TestRead: what a line of each form means.
func TestRead(t *testing.T) {
	const text = `# 1 repo=example.com/x tag=v1 commit=- date=2026-01-01 kinds=1

type: @ref
name string !
namespace string

kind: Thing.example.com versions=v1(stored,served),v1beta1() scope=Cluster plural=things short=t,th status=v1 scale=spec.replicas,status.replicas
version: v1
spec !
spec.replicas integer
spec.refs[] <@ref> !
spec.byName{} {a,b!:integer,c[],d{}:<sel>,"e f":time}
spec.free preserve
spec.free.known string="a b"|""|c
spec.any any
spec.more{} any*
spec["x.y"].z quantity
status object
version: v1beta1 =v1
`
	all, err := skeleton.ReadAll(fstest.MapFS{"x.fields": {Data: []byte(strings.Replace(text, `,"e f":time`, ",e:time", 1))}, skeleton.ShapesFile: {Data: []byte("shape: sel\nmatchLabels{} string\n")}})
	if err != nil {
		t.Fatal(err)
	}
	crd := all[0].Kinds[0].Definition
	s := map[string]any{"type": "string"}
	object := func(required []any, properties map[string]any) map[string]any {
		o := map[string]any{"type": "object", "properties": properties}
		if required != nil {
			o["required"] = required
		}
		return o
	}
	want := object([]any{"spec"}, map[string]any{
		"spec": object([]any{"refs"}, map[string]any{
			"replicas": map[string]any{"type": "integer"},
			"refs":     map[string]any{"type": "array", "items": object([]any{"name"}, map[string]any{"name": s, "namespace": s})},
			"byName": map[string]any{"type": "object", "additionalProperties": object([]any{"b"}, map[string]any{
				"a": s, "b": map[string]any{"type": "integer"}, "c": map[string]any{"type": "array", "items": s},
				"d": map[string]any{"type": "object", "additionalProperties": object(nil, map[string]any{"matchLabels": map[string]any{"type": "object", "additionalProperties": s}})},
				"e": map[string]any{"type": "string", "format": "date-time"},
			})},
			"free": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": map[string]any{"known": map[string]any{"type": "string", "enum": []any{"a b", "", "c"}}}},
			"any":  map[string]any{"x-kubernetes-preserve-unknown-fields": true},
			"more": map[string]any{"type": "object", "additionalProperties": true},
			"x.y":  object(nil, map[string]any{"z": skeleton.Reduce(map[string]any{"x-kubernetes-int-or-string": true, "pattern": `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`})}),
		}),
		"status": map[string]any{"type": "object"},
	})
	got := schemas(crd)
	if !reflect.DeepEqual(got["v1"], want) || !reflect.DeepEqual(got["v1beta1"], want) {
		t.Errorf("got  %v\nwant %v", got["v1"], want)
	}
	spec := crd["spec"].(map[string]any)
	if spec["scope"] != "Cluster" || spec["group"] != "example.com" || crd["metadata"].(map[string]any)["name"] != "things.example.com" {
		t.Errorf("%v", spec)
	}
	v1 := spec["versions"].([]any)[0].(map[string]any)
	if want := (map[string]any{"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}); !reflect.DeepEqual(v1["subresources"], want) || v1["served"] != true {
		t.Errorf("%v", v1)
	}
}

// TestRefused: what is no skeleton is refused with its line.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"kind: A.x versions=v1(served) plural=as scope=Cluster\nversion: v1\nspec.a strin\n":  `x.fields:3: "strin" is not a type`,
		"kind: A.x versions=v1(served) plural=as scope=Cluster\nversion: v1\nspec.a <gone>\n": `nothing says what gone is`,
		"kind: A.x versions=v1(served) plural=as scope=Cluster\nversion: v1\nspec.a\n":        `x.fields:3: a field without a type`,
		"version: v1\n":   `x.fields:1: a version without a kind`,
		"spec.a string\n": `x.fields:1: a field that belongs to nothing`,
		"type: @a\nb <@a>\n\nkind: A.x versions=v1(served) plural=as scope=Cluster\nversion: v1\nc <@a>\n": `@a is part of itself`,
	} {
		_, err := skeleton.ReadAll(fstest.MapFS{"x.fields": {Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
