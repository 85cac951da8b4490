package object

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRefRoundTrip(t *testing.T) {
	for text, want := range map[string]Ref{
		"Node/a":                         {Kind: "Node", Name: "a"},
		"Pod/ns/a":                       {Kind: "Pod", Namespace: "ns", Name: "a"},
		"Deployment.apps/ns/a.b":         {Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "a.b"},
		"Ingress.networking.k8s.io/ns/a": {Group: "networking.k8s.io", Kind: "Ingress", Namespace: "ns", Name: "a"},
		"ClusterRole.rbac.authorization.k8s.io/system:node": {Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:node"},
	} {
		got, err := ParseRef(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v %v, written %s", text, got, err, got)
		}
		if gk := got.GroupKind(); gk.Group != want.Group || gk.Kind != want.Kind {
			t.Errorf("%s: group and kind %v", text, gk)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	for _, text := range []string{"", "/", "Pod", "Pod/", "/a", "Pod//a", "Pod/a/", "Pod/a/b/c", ".apps/a", "Pod./a", "Pod//", "//"} {
		if r, err := ParseRef(text); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	f.Add("Deployment.apps/ns/a")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRef(text); err == nil && r.String() != text {
			t.Errorf("%q is written %q", text, r)
		}
	})
}

func TestCompare(t *testing.T) {
	ordered := []Ref{
		{Kind: "A", Name: "z"},
		{Kind: "B", Name: "b"},
		{Kind: "B", Namespace: "a", Name: "c"},
		{Kind: "B", Namespace: "b", Name: "a"},
		{Kind: "B", Namespace: "b", Name: "b"},
		{Group: "apps", Kind: "A", Name: "a"},
	}
	shuffled := slices.Clone(ordered)
	rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, Compare)
	if !slices.Equal(shuffled, ordered) {
		t.Errorf("sorted %v", shuffled)
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := Compare(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%v and %v: %d", a, b, got)
			}
		}
	}
}
