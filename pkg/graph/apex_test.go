package graph_test

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

func TestApexes(t *testing.T) {
	for name, c := range map[string]struct{ lines, of, want string }{
		"topmost owners":              {"a owns b\nb owns pod\nc owns pod2", "pod pod2", "a c"},
		"a pod alone":                 {"a needs b", "pod", "pod"},
		"needed by another":           {"app owns pod\napp needs db\ndb owns dbpod", "pod dbpod", "app"},
		"needed, and alone":           {"app needs db\ndb owns dbpod", "dbpod", "db"},
		"two need one":                {"app1 owns pod1\napp2 owns pod2\napp1 needs db\napp2 needs db\ndb owns dbpod", "pod1 pod2 dbpod", "app1 app2"},
		"each needs the other":        {"a owns pod1\nb owns pod2\na needs b\nb needs a", "pod1 pod2", "a"},
		"a ring of three":             {"a owns pod1\nb owns pod2\nc owns pod3\na needs b\nb needs c\nc needs a", "pod1 pod2 pod3", "a"},
		"a chain":                     {"a owns pod1\nb owns pod2\nc owns pod3\na needs b\nb needs c", "pod1 pod2 pod3", "a"},
		"through what owns no pod":    {"a owns pod1\na needs conf\nconf needs b\nb owns pod2", "pod1 pod2", "a"},
		"a static pod":                {"n:node owns pod", "pod", "pod"},
		"an owner that is gone":       {"x owns pod\ngone x", "pod", "pod"},
		"owners in a cycle":           {"x owns y\ny owns x\ny owns pod", "pod", "x"},
		"what serves does not hold":   {"a owns pod1\nb owns pod2\nsvc serves pod1\nb needs n:node\na needs n:node", "pod1 pod2", "a b"},
		"a needed Service stands":     {"a owns pod1\nb owns pod2\na needs svc\nsvc serves pod2", "pod1 pod2", "a"},
		"two behind one ingress":      {"a owns pod1\nb owns pod2\ning serves pod1\ning serves pod2", "pod1 pod2", "a b"},
		"no nodes":                    {"a owns b", "", ""},
		"a middle one is asked about": {"a owns b\nb owns c", "b", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines+"\npod")
			if got := names(g, g.TopOwners(nodes(t, g, c.of), graph.StackOptions{})); got != c.want {
				t.Errorf("apexes %q, want %q", got, c.want)
			}
		})
	}
}

func TestOwnerPath(t *testing.T) {
	for name, c := range map[string]struct{ lines, of, want string }{
		"nobody":                {"a needs pod", "pod", ""},
		"topmost first":         {"z owns y\ny owns x\nx owns pod", "pod", "z y x"},
		"in a cycle":            {"x owns y\ny owns x\ny owns pod", "pod", "x y"},
		"in a cycle itself":     {"x owns pod\npod owns x", "pod", "x"},
		"below what is missing": {"x owns y\ny owns pod\ngone x", "pod", "y"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines+"\npod")
			var got string
			for i, id := range g.OwnerPath(nodes(t, g, c.of)[0], graph.StackOptions{}) {
				if i > 0 {
					got += " "
				}
				got += names(g, []graph.ID{id})
			}
			if got != c.want {
				t.Errorf("path %q, want %q", got, c.want)
			}
		})
	}
}
