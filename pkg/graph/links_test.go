package graph_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// pointing returns a target by name.
func pointing(name string) relation.Target {
	r := refOf(name)
	return relation.Target{Kind: r.GroupKind(), Namespace: r.Namespace, Name: r.Name}
}

func TestLinks(t *testing.T) {
	maybe := pointing("b")
	maybe.IfPresent = true
	unread := pointing("u:x")
	unread.IfPresent = true
	resource := relation.Target{Kind: schema.GroupKind{Group: "test", Kind: "things"}, IsResource: true, Namespace: "ns", Name: "b"}
	nothing := relation.Target{Kind: schema.GroupKind{Group: "test", Kind: "nothings"}, IsResource: true, Namespace: "ns", Name: "b"}
	for name, c := range map[string]struct {
		lines, rule string
		link        relation.Link
		want        string // the edges of a, in both directions
		wanted      string
	}{
		"by name":               {"b", "needs", relation.Link{Target: pointing("b"), Field: "f", Value: "b"}, `a needs b (test-needs f = "b")`, ""},
		"another value":         {"b", "needs", relation.Link{Target: pointing("b"), Field: "f", Value: "b.ns"}, `a needs b (test-needs f = "b.ns")`, ""},
		"no value":              {"b", "needs", relation.Link{Target: pointing("b"), Field: "f"}, `a needs b (test-needs f)`, ""},
		"backward":              {"b", "owns", relation.Link{Target: pointing("b"), Field: "f", Value: "b", Backward: true}, `b owns a (test-owns f = "b")`, ""},
		"flags":                 {"b", "serves", relation.Link{Target: pointing("b"), Field: "f", Optional: true, Inferred: true}, `a serves b (test-serves f) optional inferred`, ""},
		"itself":                {"", "needs", relation.Link{Target: pointing("a"), Field: "f"}, "", ""},
		"resource":              {"b", "needs", relation.Link{Target: resource, Field: "f"}, `a needs b (test-needs f)`, ""},
		"unknown resource":      {"b", "needs", relation.Link{Target: nothing, Field: "f"}, "", ""},
		"if present, it is":     {"b", "needs", relation.Link{Target: maybe, Field: "f"}, `a needs b (test-needs f)`, ""},
		"if present, it is not": {"", "needs", relation.Link{Target: maybe, Field: "f"}, "", ""},
		"if present, unread":    {"", "needs", relation.Link{Target: unread, Field: "f"}, "", "u:x"},
		"missing":               {"", "needs", relation.Link{Target: pointing("b"), Field: "f"}, `a needs b (test-needs f)`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a\n"+c.lines)
			w.link("a", c.rule, c.link)
			g := w.build(nil)
			id := node(t, g, "a")
			got := out(g, id)
			for e := range g.In(id) {
				got = append(got, edgeText(g, e))
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("edges %q, want %q", got, c.want)
			}
			var wanted []string
			for _, r := range g.Stack([]graph.ID{id}, graph.StackOptions{}).Wanted() {
				wanted = append(wanted, nameOf(r))
			}
			if strings.Join(wanted, " ") != c.wanted {
				t.Errorf("wanted %q, want %q", wanted, c.wanted)
			}
		})
	}
}

func TestSelectors(t *testing.T) {
	in := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", "db"}}
	for name, c := range map[string]struct {
		target relation.Target
		want   string
	}{
		"label":           {relation.Target{Selector: &relation.Selector{Labels: map[string]string{"app": "x"}}}, "p q"},
		"labels":          {relation.Target{Selector: &relation.Selector{Labels: map[string]string{"app": "x", "tier": "db"}}}, "q"},
		"no such value":   {relation.Target{Selector: &relation.Selector{Labels: map[string]string{"app": "nobody"}}}, ""},
		"expression":      {relation.Target{Selector: &relation.Selector{Expressions: []metav1.LabelSelectorRequirement{in}}}, "p q r"},
		"everything":      {relation.Target{Selector: &relation.Selector{}}, "p q r"},
		"all namespaces":  {relation.Target{Selector: &relation.Selector{Labels: map[string]string{"app": "x"}}, AllNamespaces: true}, "far/s p q"},
		"annotation":      {relation.Target{Selector: &relation.Selector{Annotation: "note", Match: func(v string) bool { return v == "yes" }}}, "p"},
		"annotation kept": {relation.Target{Selector: &relation.Selector{Annotation: "other", Match: func(string) bool { return true }}}, ""},
		"name":            {relation.Target{Selector: &relation.Selector{Name: &relation.NamePattern{Prefix: ""}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "p\nq\nr\nfar/s\n")
			w.notes = []string{"note"}
			w.object("p").Labels = map[string]string{"app": "x", "tier": "web"}
			w.object("q").Labels = map[string]string{"app": "x", "tier": "db"}
			w.object("r").Labels = map[string]string{"tier": "db"}
			w.object("far/s").Labels = map[string]string{"app": "x"}
			w.object("p").Annotations = map[string]string{"note": "yes", "other": "yes"}
			w.object("q").Annotations = map[string]string{"note": "no"}
			c.target.Kind, c.target.Namespace = refOf("p").GroupKind(), "ns"
			w.link("pod:service", "serves", relation.Link{Target: c.target, Field: "spec.selector", Value: "s"})
			g := w.build(nil)
			var got []graph.ID
			for e := range g.Out(node(t, g, "pod:service")) {
				got = append(got, e.To)
			}
			if names(g, got) != c.want {
				t.Errorf("found %q, want %q", names(g, got), c.want)
			}
		})
	}
}

// TestOwnedIsNotGuessed: between an owner and what it owns, inferred edges are dropped; declared
// ones stay.
func TestOwnedIsNotGuessed(t *testing.T) {
	w := newWorld(t, "a owns b\na owns c")
	guess := relation.Link{Target: pointing("b"), Field: "f", Inferred: true}
	up := relation.Link{Target: pointing("a"), Field: "g", Inferred: true}
	w.link("a", "needs", guess)
	w.link("b", "needs", up)
	w.link("a", "needs", relation.Link{Target: pointing("c"), Field: "h"})
	g := w.build(nil)
	for e := range g.Out(node(t, g, "b")) {
		t.Errorf("a guess remains: %s", edgeText(g, e))
	}
	var got []string
	for e := range g.Out(node(t, g, "a")) {
		if e.Relation == relation.Needs {
			got = append(got, edgeText(g, e))
		}
	}
	if want := "a needs c (test-needs h)"; strings.Join(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
