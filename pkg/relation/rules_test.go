package relation_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// TestRules compares each rule with the fixture of its name: the edges must be exactly those
// listed.
func TestRules(t *testing.T) {
	set := relation.NewSet(relation.BuiltIn()...)
	for _, rule := range set.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			f := readFixture(t, rule.Name)
			got, plain, edges := map[string]bool{}, map[string]bool{}, 0
			f.links(set, func(o object.Object, r relation.Rule, l relation.Link) {
				checkEvidence(t, o, r, l)
				if r.Evidence && r.Name != rule.Name {
					return // makes no edge
				}
				for _, to := range f.resolve(o.Ref, l) {
					edge, flags := edgeText(o.Ref, to, r, l)
					got[edge+flags], plain[edge] = true, true
					if r.Name != rule.Name {
						continue
					}
					edges++
					if !f.want[edge+flags] {
						t.Errorf("not listed: edge %s%s", edge, flags)
					}
				}
			})
			if edges == 0 {
				t.Error("the rule makes no edge")
			}
			for _, edge := range slices.Sorted(maps.Keys(f.want)) {
				if !got[edge] {
					t.Errorf("missing: edge %s", edge)
				}
			}
			for edge := range f.wantNot {
				if plain[edge] {
					t.Errorf("must not be: edge %s", edge)
				}
			}
		})
	}
}

func TestTableAndFixtures(t *testing.T) {
	names := fixtureNames(t)
	for _, r := range relation.BuiltIn() {
		if !names[r.Name] {
			t.Errorf("rule %s has no fixture", r.Name)
		}
		delete(names, r.Name)
		if r.Relation == 0 || r.Via == 0 || r.To == "" || r.Field == "" || r.Links == nil {
			t.Errorf("rule %s: the row is not complete", r.Name)
		}
	}
	for name := range names {
		t.Errorf("fixture %s has no rule, or two rules have one name", name)
	}
}

// checkEvidence: the field of a link exists, and has its value. A value that was cut (a list in an
// annotation, a host without its password) is a substring of it.
func checkEvidence(t *testing.T, o object.Object, r relation.Rule, l relation.Link) {
	t.Helper()
	if (l.Target.Name == "") == (l.Target.Selector == nil) || (l.Target.Kind.Kind == "") == (l.Target.KindBy == nil) {
		t.Errorf("%s: target %+v: want a kind or who says it, and a name or a selector", r.Name, l.Target)
	}
	content := o.Fields()
	if content == nil {
		var err error
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body); err != nil {
			t.Fatal(err)
		}
	}
	at, ok := lookUp(content, l.Field)
	if !ok && l.Value != "" {
		t.Errorf("%s: %s has no field %s", r.Name, o.Ref, l.Field)
	}
	text, ok := at.(string)
	if !ok || r.Via == relation.Env || r.Name == "pod-arg-host" {
		return
	}
	if r.Via == relation.Annotation && strings.Contains(text, l.Value) {
		return
	}
	if text != l.Value {
		t.Errorf("%s: %s: %s is %q, not %q", r.Name, o.Ref, l.Field, text, l.Value)
	}
}

// lookUp returns the value at a path such as spec.volumes[0].name or metadata.labels[a/b.c].
func lookUp(at any, path string) (any, bool) {
	for path != "" {
		var step string
		if path[0] == '[' {
			step, path, _ = strings.Cut(path[1:], "]")
			path = strings.TrimPrefix(path, ".")
		} else {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			step, path = path[:end], strings.TrimPrefix(path[end:], ".")
		}
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return nil, false
			}
			at = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// TestTyped: a fixture has each kind that rules read whole, in exactly the version that the source
// is given, and a rule finds a link in it.
func TestTyped(t *testing.T) {
	set := relation.NewSet(relation.BuiltIn()...)
	read := map[schema.GroupVersionKind]bool{}
	for name := range fixtureNames(t) {
		f := readFixture(t, name)
		f.links(set, func(o object.Object, r relation.Rule, _ relation.Link) {
			if !r.Metadata {
				read[o.GroupKind().WithVersion(o.Version)] = true
			}
		})
	}
	for _, gvk := range relation.Typed() {
		if !scheme.Scheme.Recognizes(gvk) {
			t.Errorf("%s is unknown", gvk)
		}
		if !read[gvk] {
			t.Errorf("no rule reads a %s in any fixture", gvk)
		}
		if !set.Reads(gvk.GroupKind()) {
			t.Errorf("%s is typed, but not read", gvk)
		}
	}
	if set.Reads(schema.GroupKind{Kind: "Secret"}) || slices.ContainsFunc(relation.Typed(), func(k schema.GroupVersionKind) bool { return k.Kind == "Secret" }) {
		t.Error("Secrets are never read whole")
	}
	if !slices.Contains(relation.Typed(), schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}) {
		t.Error("of two stable versions the newer one is read")
	}
}

// TestMetadataRules: a rule marked Metadata finds the same links in an object with metadata only.
func TestMetadataRules(t *testing.T) {
	for _, r := range relation.BuiltIn() {
		if !r.Metadata {
			continue
		}
		f := readFixture(t, r.Name)
		count := func(o object.Object) (n int) {
			r.Links(o, func(relation.Link) { n++ })
			return n
		}
		for _, o := range f.objects {
			if len(r.From) > 0 && !slices.Contains(r.From, o.GroupKind()) {
				continue
			}
			if whole, part := count(o), count(bare(o)); whole != part {
				t.Errorf("%s: %s: %d links read whole, %d from the metadata", r.Name, o.Ref, whole, part)
			}
		}
	}
}

func TestNamePattern(t *testing.T) {
	p := &relation.NamePattern{Prefix: "data-web-", Start: 1, End: 3}
	for name, want := range map[string]bool{
		"data-web-0": true, "data-web-1": false, "data-web-2": false, "data-web-3": true, "data-web-10": true,
		"data-web-": false, "data-web": false, "data-web-03": false, "data-web-3x": false, "data-web-1-0": false, "data-web--1": false,
		"my-data-web-3": false, "data-web-+3": false, "data-web-99999999999999999999": false,
	} {
		if got := p.Match(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := (&relation.Selector{Labels: map[string]string{"app": "web"}, Name: p}).String(); got != "app=web,data-web-<n>" {
		t.Error(got)
	}
}
