package relation_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// fixture is a file of testdata: objects, and their edges.
type fixture struct {
	objects []object.Object
	want    map[string]bool // edge with flags
	wantNot map[string]bool // edge without flags
}

func readFixture(t *testing.T, rule string) fixture {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", rule+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{want: map[string]bool{}, wantNot: map[string]bool{}}
	for _, file := range archive.Files {
		switch file.Name {
		case "objects.yaml":
			f.objects = decode(t, file.Data)
		case "edges":
			f.edges(t, string(file.Data))
		default:
			t.Fatalf("%s: unknown section %s", rule, file.Name)
		}
	}
	return f
}

func (f *fixture) edges(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 4 {
			t.Fatalf("edge %q: want edge ID --RELATION--> ID", line)
		}
		for _, id := range []string{words[1], words[3]} {
			if _, err := object.ParseRef(id); err != nil {
				t.Fatal(err)
			}
		}
		switch words[0] {
		case "edge":
			f.want[strings.Join(words[1:], " ")] = true
		case "!edge":
			f.wantNot[strings.Join(words[1:4], " ")] = true
		default:
			t.Fatalf("edge %q: want edge or !edge", line)
		}
	}
}

// decode reads objects as a source does: built-in kinds as types, Secrets and ConfigMaps as
// metadata, the rest as custom resources.
func decode(t *testing.T, data []byte) []object.Object {
	t.Helper()
	var objects []object.Object
	for docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &u.Object); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		gvk := u.GroupVersionKind()
		body := runtime.Object(u)
		if typed(gvk.GroupKind()) || scheme.Scheme.Recognizes(gvk) && !set().Reads(gvk.GroupKind()) {
			body, _, err = scheme.Codecs.UniversalDeserializer().Decode(doc, nil, nil)
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		m, err := meta.Accessor(body)
		if err != nil {
			t.Fatal(err)
		}
		ref := object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: m.GetNamespace(), Name: m.GetName()}
		o := object.Object{Ref: ref, Version: gvk.Version, Meta: m, Body: body}
		if gvk.Kind == "Secret" || gvk.Kind == "ConfigMap" {
			o = bare(o)
			o.Type, _, _ = unstructured.NestedString(u.Object, "type")
		}
		objects = append(objects, o)
	}
}

var set = sync.OnceValue(func() *relation.Set { return relation.NewSet(relation.BuiltIn()...) })

var types = sync.OnceValue(relation.Typed)

func typed(gk schema.GroupKind) bool {
	return slices.ContainsFunc(types(), func(k schema.GroupVersionKind) bool { return k.GroupKind() == gk })
}

// bare returns an object with its metadata only.
func bare(o object.Object) object.Object {
	o.Body = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: o.Name, Namespace: o.Namespace, UID: o.Meta.GetUID(), Labels: o.Meta.GetLabels(),
		Annotations: o.Meta.GetAnnotations(), OwnerReferences: o.Meta.GetOwnerReferences(),
	}}
	o.Meta = o.Body.(*metav1.PartialObjectMetadata)
	return o
}

// resolve returns the objects that a link refers to, as a simple substitute for the graph.
func (f *fixture) resolve(referrer object.Ref, l relation.Link) []object.Ref {
	target := l.Target
	if target.KindBy != nil && !f.stated(&target) {
		return nil
	}
	if target.IsResource {
		target.Kind = kindOf(target.Kind)
	}
	if target.Definition {
		return f.definition(target.Kind)
	}
	if target.Granted && target.Namespace != referrer.Namespace && !f.granted(referrer, target) {
		return nil
	}
	if target.Selector != nil {
		return f.selected(referrer, target)
	}
	ref := object.Ref{Group: target.Kind.Group, Kind: target.Kind.Kind, Namespace: target.Namespace, Name: target.Name}
	wide := ref
	wide.Namespace = ""
	for _, o := range f.objects {
		if o.Ref == ref || o.Ref == wide {
			if target.UID != "" && target.UID != o.Meta.GetUID() {
				return nil
			}
			return []object.Ref{o.Ref}
		}
	}
	if target.IfPresent {
		return nil
	}
	return []object.Ref{ref}
}

// stated sets the kind of a target that another object gives, and returns false if that object does
// not exist, gives none, or gives one of another scope.
func (f *fixture) stated(target *relation.Target) bool {
	for _, o := range f.objects {
		if o.Ref != *target.KindBy {
			continue
		}
		gk, ok := set().States(o)
		target.Kind, target.KindBy = gk, nil
		return ok && f.namespaced(gk) == (target.Namespace != "")
	}
	return false
}

// namespaced returns the scope of a kind: built-in kinds of the fixtures are namespaced, and custom
// ones have it in their definition.
func (f *fixture) namespaced(gk schema.GroupKind) bool {
	for _, ref := range f.definition(gk) {
		i := slices.IndexFunc(f.objects, func(o object.Object) bool { return o.Ref == ref })
		scope, _, _ := unstructured.NestedString(f.objects[i].Fields(), "spec", "scope")
		return scope == "Namespaced"
	}
	return true
}

// kindOf returns the built-in kind of a resource.
func kindOf(resource schema.GroupKind) schema.GroupKind {
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if plural, _ := meta.UnsafeGuessKindToResource(gvk); gvk.Group == resource.Group && plural.Resource == resource.Kind {
			return gvk.GroupKind()
		}
	}
	return schema.GroupKind{}
}

// definition returns the CRD of a kind.
func (f *fixture) definition(gk schema.GroupKind) []object.Ref {
	for _, o := range f.objects {
		group, _, _ := unstructured.NestedString(o.Fields(), "spec", "group")
		name, _, _ := unstructured.NestedString(o.Fields(), "spec", "names", "kind")
		if o.Kind == "CustomResourceDefinition" && group == gk.Group && name == gk.Kind {
			return []object.Ref{o.Ref}
		}
	}
	return nil
}

func (f *fixture) granted(referrer object.Ref, target relation.Target) bool {
	keys := relation.GrantKeys(referrer, object.Ref{Group: target.Kind.Group, Kind: target.Kind.Kind, Name: target.Name})
	return slices.ContainsFunc(f.objects, func(o object.Object) bool {
		return o.GroupKind() == relation.ReferenceGrant && o.Namespace == target.Namespace && slices.ContainsFunc(keys, func(k string) bool { return known(o, k) })
	})
}

// known reports whether the object has a further name.
func known(o object.Object, name string) (found bool) {
	set().Keys(o, func(key string) { found = found || key == name })
	return found
}

func (f *fixture) selected(referrer object.Ref, target relation.Target) []object.Ref {
	var found []object.Ref
	for _, o := range f.objects {
		switch in := target.Namespaces; {
		case o.GroupKind() != target.Kind || !carries(o, target.Selector) || o.Ref == referrer:
		case target.Except != nil && o.Namespace == referrer.Namespace && carries(o, target.Except):
		case in != nil && !slices.ContainsFunc(f.objects, func(ns object.Object) bool {
			return ns.Kind == "Namespace" && ns.Name == o.Namespace && carries(ns, in)
		}):
		case in == nil && !target.AllNamespaces && o.Namespace != "" && o.Namespace != target.Namespace:
		default:
			found = append(found, o.Ref)
		}
	}
	return found
}

func carries(o object.Object, want *relation.Selector) bool {
	s, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: want.Labels, MatchExpressions: want.Expressions})
	return err == nil && s.Matches(labels.Set(o.Meta.GetLabels())) && (want.Name == nil || want.Name.Match(o.Name)) && (want.Key == "" || known(o, want.Key))
}

// links runs all rules over the fixture.
func (f *fixture) links(set *relation.Set, each func(o object.Object, r relation.Rule, l relation.Link)) {
	for _, o := range f.objects {
		set.Links(o, func(rule int, l relation.Link) { each(o, set.Rules()[rule], l) })
	}
}

func edgeText(from, to object.Ref, r relation.Rule, l relation.Link) (edge, flags string) {
	if l.Backward {
		from, to = to, from
	}
	if l.Optional {
		flags += " [optional]"
	}
	if l.Inferred {
		flags += " [inferred]"
	}
	return fmt.Sprintf("%s --%s--> %s", from, r.Relation, to), flags
}

func fixtureNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".txtar"); ok {
			names[name] = true
		}
	}
	return names
}
