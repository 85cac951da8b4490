package infer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// fixture is a file of testdata, in four sections:
//
//	crds.yaml     - {kind: Kind.group/version, scope: Cluster, schema: {...}}, the properties of the schema
//	objects.yaml  custom resources
//	present       Kind[.group]/[namespace/]name, what else there is
//	links         Kind/name FIELD RELATION Kind[.group]/[namespace/]name [optional] [schema]
//
// The links are all that are found among what is present; one with [schema] is
// found only where the schema is known.
type fixture struct {
	kinds   *object.Kinds
	digests map[schema.GroupKind]*infer.SchemaHints
	crds    []map[string]any
	objects []object.Object
	present map[object.Ref]bool
	links   map[string]bool
	bare    map[string]bool // without the schema
}

type shortCRD struct {
	Kind   string         `json:"kind"`
	Scope  string         `json:"scope"`
	Schema map[string]any `json:"schema"`
}

func (c shortCRD) long() map[string]any {
	kindGroup, version, _ := strings.Cut(c.Kind, "/")
	kind, group, _ := strings.Cut(kindGroup, ".")
	scope := c.Scope
	if scope == "" {
		scope = "Namespaced"
	}
	plural := strings.ToLower(kind) + "s"
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + group},
		"spec": map[string]any{
			"group": group, "scope": scope, "names": map[string]any{"kind": kind, "plural": plural},
			"versions": []any{map[string]any{"name": version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": c.Schema}}}},
		},
	}
}

func readFixture(t testing.TB, file string) *fixture {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{digests: map[schema.GroupKind]*infer.SchemaHints{}, present: map[object.Ref]bool{}, links: map[string]bool{}, bare: map[string]bool{}}
	var docs []source.Document
	for _, s := range archive.Files {
		switch s.Name {
		case "crds.yaml":
			var short []shortCRD
			if err := yaml.UnmarshalStrict(s.Data, &short); err != nil {
				t.Fatal(err)
			}
			for _, c := range short {
				f.crds = append(f.crds, c.long())
				docs = append(docs, source.Document{Object: c.long()})
			}
		case "objects.yaml":
			parsed, err := source.Parse("objects.yaml", strings.NewReader(string(s.Data)))
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, parsed...)
		case "present":
			for line := range strings.Lines(string(s.Data)) {
				if line = strings.TrimSpace(line); line != "" {
					ref, err := object.ParseRef(line)
					if err != nil {
						t.Fatal(err)
					}
					f.present[ref] = true
				}
			}
		case "links":
			f.want(string(s.Data))
		default:
			t.Fatalf("unknown section %s", s.Name)
		}
	}
	snap, err := source.SnapshotOptions{}.New(file, docs)
	if err != nil {
		t.Fatal(err)
	}
	f.kinds, _ = snap.Kinds(context.Background(), nil)
	if err := snap.Read(context.Background(), source.Query{All: true}, collector{f}); err != nil {
		t.Fatal(err)
	}
	for _, crd := range f.crds {
		spec := crd["spec"].(map[string]any)
		gk := schema.GroupKind{Group: spec["group"].(string), Kind: spec["names"].(map[string]any)["kind"].(string)}
		k, _ := f.kinds.Kind(gk)
		f.digests[gk] = infer.Compile(crd, k.Version)
	}
	return f
}

func (f *fixture) want(text string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " # ")
		if line = strings.Join(strings.Fields(line), " "); line == "" || line[0] == '#' {
			continue
		}
		plain, schemaOnly := strings.CutSuffix(line, " [schema]")
		f.links[plain] = true
		if !schemaOnly {
			f.bare[plain] = true
		}
	}
}

type collector struct{ f *fixture }

func (c collector) Add(o object.Object) {
	c.f.present[o.Ref] = true
	if k, _ := c.f.kinds.Kind(o.GroupKind()); k.Custom {
		c.f.objects = append(c.f.objects, o)
	}
}
func (collector) Reset(schema.GroupKind, string) {}
func (collector) Cover(schema.GroupKind, string) {}
func (collector) Absent(object.Ref)              {}
func (collector) Gap(object.Gap)                 {}

func (f *fixture) from() []schema.GroupKind {
	var from []schema.GroupKind
	for _, k := range f.kinds.All() {
		if k.Custom {
			from = append(from, k.GroupKind())
		}
	}
	return from
}

// found are the links to what is present, and what they say that is not allowed.
func (f *fixture) found(t testing.TB, schemas infer.Schemas) map[string]bool {
	set, out := relation.NewSet(infer.Rules(f.from(), f.kinds, schemas)...), map[string]bool{}
	for _, o := range f.objects {
		set.Links(o, func(rule int, l relation.Link) {
			r := set.Rules()[rule]
			to := object.Ref{Group: l.Target.Kind.Group, Kind: l.Target.Kind.Kind, Namespace: l.Target.Namespace, Name: l.Target.Name}
			if k, ok := f.kinds.Kind(l.Target.Kind); ok && !k.Namespaced {
				to.Namespace = ""
			}
			checkLink(t, o, r, l)
			if !f.present[to] || to == o.Ref {
				return
			}
			line := fmt.Sprintf("%s/%s %s %s %s", o.Kind, o.Name, l.Field, r.Relation, to)
			if l.Optional {
				line += " [optional]"
			}
			out[line] = true
		})
	}
	return out
}

// checkLink: every link is a guess, and its evidence stands there.
func checkLink(t testing.TB, o object.Object, r relation.Rule, l relation.Link) {
	t.Helper()
	if !l.Inferred || !l.Target.IfPresent || l.Target.Name == "" || l.Target.Kind.Kind == "" || l.Target.Selector != nil {
		t.Errorf("%s: %s: %+v", o.Ref, r.Name, l)
	}
	if at, ok := lookUp(o.Fields(), l.Field); !ok {
		t.Errorf("%s: %s: no field %s", o.Ref, r.Name, l.Field)
	} else if text, _ := at.(string); !strings.Contains(text, l.Value) && !strings.Contains(r.Name, "host") && r.Name != "pod-network" {
		t.Errorf("%s: %s: %s is %q, not %q", o.Ref, r.Name, l.Field, at, l.Value)
	}
}

// lookUp follows a path such as spec.env[0].name or spec.config[a.b].
func lookUp(at any, path string) (any, bool) {
	for path != "" {
		var key string
		if path[0] == '[' {
			key, path, _ = strings.Cut(path[1:], "]")
			path = strings.TrimPrefix(path, ".")
		} else {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			key, path = path[:end], strings.TrimPrefix(path[end:], ".")
		}
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			at = next
		case []any:
			i := 0
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			f := readFixture(t, file)
			compare(t, "with the schema", f.found(t, func(gk schema.GroupKind) *infer.SchemaHints { return f.digests[gk] }), f.links)
			compare(t, "without", f.found(t, nil), f.bare)
		})
	}
}

func compare(t *testing.T, label string, got, want map[string]bool) {
	t.Helper()
	var lines []string
	for l := range want {
		if !got[l] {
			lines = append(lines, label+", not found: "+l)
		}
	}
	for l := range got {
		if !want[l] {
			lines = append(lines, label+", not listed: "+l)
		}
	}
	slices.Sort(lines)
	for _, l := range lines {
		t.Error(l)
	}
}

// TestDigestsAreJSON: what a cache gives back is what was put into it.
func TestDigestsAreJSON(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	n := 0
	for _, file := range files {
		for gk, d := range readFixture(t, file).digests {
			if d == nil {
				continue
			}
			n++
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var decoded *infer.SchemaHints
			if err := json.Unmarshal(text, &decoded); err != nil || !reflect.DeepEqual(d, decoded) {
				t.Errorf("%s: %s came back as another, %v", gk, text, err)
			}
		}
	}
	if n == 0 {
		t.Error("no schema says anything")
	}
}

// FuzzWalk: no object, and no schema, is too odd; and a link that is made names
// what a server would take.
func FuzzWalk(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		fix := readFixture(f, file)
		for _, o := range fix.objects {
			text, _ := json.Marshal(o.Fields())
			f.Add(string(text), "{}")
		}
		for _, crd := range fix.crds {
			text, _ := json.Marshal(crd)
			f.Add("{}", string(text))
		}
	}
	base := readFixture(f, files[0])
	gk := base.objects[0].GroupKind()
	f.Fuzz(func(t *testing.T, text, crd string) {
		var fields, definition map[string]any
		if json.Unmarshal([]byte(text), &fields) != nil || json.Unmarshal([]byte(crd), &definition) != nil {
			return
		}
		digest := infer.Compile(definition, "v1")
		set := relation.NewSet(infer.Rules([]schema.GroupKind{gk}, base.kinds, func(schema.GroupKind) *infer.SchemaHints { return digest })...)
		u := &unstructured.Unstructured{Object: fields}
		for _, ns := range []string{"shop", ""} {
			o := object.Object{Ref: object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: ns, Name: "x"}, Meta: &metav1.ObjectMeta{}, Body: u}
			set.Links(o, func(_ int, l relation.Link) {
				ok := l.Inferred && l.Target.IfPresent && name(l.Target.Name) && (l.Target.Namespace == "" || name(l.Target.Namespace)) && l.Field != ""
				if !ok {
					t.Errorf("%+v", l)
				}
			})
		}
	})
}

// name says whether s is a DNS subdomain.
func name(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}
