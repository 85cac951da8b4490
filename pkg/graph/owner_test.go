package graph_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func reference(kind, name string, uid types.UID) metav1.OwnerReference {
	version := map[string]string{"Deployment": "apps/v1", "Node": "v1", "Unlisted": "v1", "ConfigMap": "apps/v1"}[kind]
	if version == "" {
		version = "test/v1"
	}
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uid}
}

func TestOwners(t *testing.T) {
	extensions := reference("Deployment", "d", uidOf("apps:d"))
	extensions.APIVersion = "extensions/v1beta1"
	things := reference("Thing", "b", uidOf("o:b"))
	for name, c := range map[string]struct {
		child  string
		refs   []metav1.OwnerReference
		lines  string
		owners string // of the child
		reason string // of the child's problem
	}{
		"right UID":              {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("b"))}, "b", "b", ""},
		"UID is a UUID":          {"a", []metav1.OwnerReference{reference("Thing", "b", "6b1c2f9e-0b0c-4b8e-9f3a-1d2c3b4a5f60")}, "b", "", graph.OwnerReplaced},
		"owner without UID":      {"a", []metav1.OwnerReference{reference("Thing", "nouid", "x")}, "nouid", "nouid", ""},
		"reference without UID":  {"a", []metav1.OwnerReference{reference("Thing", "b", "")}, "b", "b", ""},
		"cluster-scoped owner":   {"a", []metav1.OwnerReference{reference("Global", "b", uidOf("g:b"))}, "g:b", "g:b", ""},
		"several":                {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("b")), reference("Thing", "c", uidOf("c"))}, "b\nc", "b c", ""},
		"the same one twice":     {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("b")), reference("Thing", "b", uidOf("b"))}, "b", "b", ""},
		"absent":                 {"a", []metav1.OwnerReference{reference("Thing", "b", "1")}, "", "b", graph.OwnerAbsent},
		"absent, and its kind":   {"a", []metav1.OwnerReference{reference("Nobody", "b", "1")}, "", "", graph.OwnerNotServed},
		"another group":          {"a", []metav1.OwnerReference{reference("ConfigMap", "b", uidOf("cm:b"))}, "cm:b", "", graph.OwnerMismatch},
		"another group, absent":  {"a", []metav1.OwnerReference{reference("ConfigMap", "b", uidOf("cm:b"))}, "", "", graph.OwnerNotServed},
		"another group, served":  {"a", []metav1.OwnerReference{things}, "o:b", "", graph.OwnerMismatch},
		"unread, and a twin":     {"a", []metav1.OwnerReference{reference("Unlisted", "b", uidOf("twin:b"))}, "twin:b", "twin:b", ""},
		"unread":                 {"a", []metav1.OwnerReference{reference("Other", "b", "1")}, "", "u:b", ""},
		"replaced":               {"a", []metav1.OwnerReference{reference("Thing", "b", "1")}, "b", "", graph.OwnerReplaced},
		"other name":             {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("c"))}, "c", "", graph.OwnerMismatch},
		"other name, both there": {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("c"))}, "b\nc", "", graph.OwnerMismatch},
		"other kind":             {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("pod:b"))}, "pod:b", "", graph.OwnerMismatch},
		"foreign namespace":      {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("far/b"))}, "far/b", "", graph.OwnerForeignNamespace},
		"namespaced, of cluster": {"g:a", []metav1.OwnerReference{reference("Thing", "b", uidOf("b"))}, "b", "", graph.OwnerNamespaced},
		"itself":                 {"a", []metav1.OwnerReference{reference("Thing", "a", uidOf("a"))}, "", "", graph.OwnerCycle},
		"legacy group":           {"a", []metav1.OwnerReference{extensions}, "apps:d", "apps:d", ""},
		"legacy group, twins":    {"a", []metav1.OwnerReference{extensions}, "apps:d\next:d", "apps:d", ""},
		"each other":             {"a", []metav1.OwnerReference{reference("Thing", "b", uidOf("b"))}, "a owns b", "b", graph.OwnerCycle},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.lines)
			for _, r := range c.refs {
				w.owner(c.child, r)
			}
			if m := w.metas[refOf("nouid")]; m != nil {
				m.UID = ""
			}
			if m := w.metas[refOf("ext:d")]; m != nil {
				m.UID = uidOf("apps:d")
			}
			g := w.build(nil)
			if got := names(g, g.OwnersOf(node(t, g, c.child))); got != c.owners {
				t.Errorf("owners %q, want %q", got, c.owners)
			}
			var reasons []string
			for _, p := range g.Problems() {
				reasons = append(reasons, p.Reason)
				if p.Object != refOf(c.child) || p.Message == "" {
					t.Errorf("problem %+v", p)
				}
			}
			if got := strings.Join(reasons, " "); got != c.reason {
				t.Errorf("problems %q, want %q: %v", got, c.reason, g.Problems())
			}
		})
	}
}

// If the kind of an owner is unknown, so is its namespace: the UID decides.
func TestOwnerOfUnknownScope(t *testing.T) {
	w := newWorld(t, "a")
	r := object.Ref{Group: "unknown", Kind: "Cluster", Name: "c"}
	w.metas[r] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "7"}}
	w.order = append(w.order, r)
	w.owner("a", metav1.OwnerReference{APIVersion: "unknown/v1", Kind: "Cluster", Name: "c", UID: "7"})
	g := w.build(nil)
	if owners := g.OwnersOf(node(t, g, "a")); len(owners) != 1 || g.Ref(owners[0]) != r || len(g.Problems()) > 0 {
		t.Errorf("owners %v, problems %v", owners, g.Problems())
	}
}

func TestOwnerCycleIsLong(t *testing.T) {
	if testing.Short() {
		t.Skip("30,000 objects")
	}
	const n = 30_000
	w := newWorld(t, "")
	for i := range n {
		w.edge(fmt.Sprint("x", i), "owns", fmt.Sprint("x", (i+1)%n))
	}
	g := w.build(nil)
	if len(g.Problems()) != 1 || g.Problems()[0].Reason != graph.OwnerCycle || len(g.Problems()[0].Message) > 500 {
		t.Fatalf("%d problems: %.500s", len(g.Problems()), fmt.Sprint(g.Problems()))
	}
	if !strings.Contains(g.Problems()[0].Message, fmt.Sprintf("and %d more", n-5)) {
		t.Errorf("message %q", g.Problems()[0].Message)
	}
	root := nodes(t, g, "x0")
	for _, o := range []graph.StackOptions{{}, {Up: true}, {Connected: true}} {
		s := g.Stack(root, o)
		if len(s.Members()) != n || len(s.OwnersOutside()) != 0 {
			t.Errorf("%+v: %d members", o, len(s.Members()))
		}
		s.Forest()
	}
}

func TestOwnerChainIsLong(t *testing.T) {
	if testing.Short() {
		t.Skip("30,000 objects")
	}
	const n = 30_000
	w := newWorld(t, "")
	for i := range n {
		w.edge(fmt.Sprint("x", i), "owns", fmt.Sprint("x", i+1))
		w.edge("service", "serves", fmt.Sprint("x", i))
	}
	g := w.build(nil)
	last := node(t, g, fmt.Sprint("x", n))
	if above := g.Stack([]graph.ID{last}, graph.StackOptions{}).OwnersOutside(); len(above) != n || g.Ref(above[0]).Name != fmt.Sprint("x", n-1) {
		t.Errorf("%d owners above", len(above))
	}
	s := g.Stack(nodes(t, g, "service"), graph.StackOptions{})
	if len(s.Members()) != n+2 {
		t.Errorf("%d members", len(s.Members()))
	}
	if trees := s.Forest(); len(trees) != 1 || len(trees[0].Children) != 1 {
		t.Errorf("%d trees", len(trees))
	}
	var all []graph.ID
	for n := range g.Nodes() {
		all = append(all, n.ID)
	}
	if got := g.Union(all, graph.StackOptions{}); len(got) != len(all) {
		t.Errorf("union of all: %d", len(got))
	}
	if im := g.Impact(node(t, g, "x0"), graph.ImpactOptions{}); len(im.Deleted) != n {
		t.Errorf("%d deleted", len(im.Deleted))
	}
	if steps, ok := g.Path(node(t, g, "x0"), last, graph.StackOptions{}); !ok || len(steps) != 3 {
		t.Errorf("path of %d steps", len(steps))
	}
}
