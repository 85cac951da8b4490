package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// hang formats a forest of real objects, a line for each branch.
func hang(g *graph.Graph, trees []*graph.Branch, indent string) string {
	var b strings.Builder
	for _, t := range trees {
		if graph.IsBoundary(g.Ref(t.ID)) {
			continue
		}
		line := indent + strings.TrimSpace(t.How.String()+" "+short(g.Ref(t.ID)))
		if g.State(t.ID) == graph.Missing {
			line += " missing"
		}
		b.WriteString(line + "\n" + hang(g, t.Children, indent+" "))
	}
	return b.String()
}

func short(r object.Ref) string { return r.Kind + "/" + r.Name }

// Makers of real operators: which of their objects belong to a stack, and the message if they have
// not made something yet.
func TestMakersOfOperators(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/makers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+2 < len(archive.Files); i += 3 {
		objects, stack, problems := archive.Files[i], archive.Files[i+1], archive.Files[i+2]
		t.Run(objects.Name, func(t *testing.T) {
			g := graphOfText(t, string(objects.Data))
			s := g.Stack([]graph.ID{idOf(t, g, "Deployment.apps/shop/web")}, graph.StackOptions{})
			if got := hang(g, s.Forest(), ""); got != string(stack.Data) {
				t.Errorf("got\n%swant\n%s", got, stack.Data)
			}
			var got strings.Builder
			for _, p := range s.Diagnose() {
				fmt.Fprintf(&got, "%s %s: %s\n", p.Severity, short(p.Object), p.Message)
			}
			if got.String() != string(problems.Data) {
				t.Errorf("got\n%swant\n%s", got.String(), problems.Data)
			}
		})
	}
}

func TestMakers(t *testing.T) {
	for name, c := range map[string]struct{ lines, of, want string }{
		"a custom resource":         {"a owns sec:s", "sec:s", "a"},
		"it says so":                {"a made sec:s", "sec:s", "a"},
		"several":                   {"b owns sec:s\na made sec:s", "sec:s", "a b"},
		"what is to be made":        {"a made sec:s\ngone sec:s", "sec:s", "a"},
		"one that was not read":     {"u:a owns sec:s", "sec:s", "u:a"},
		"one that is gone":          {"a owns sec:s\ngone a", "sec:s", ""},
		"a manager":                 {"a manages sec:s", "sec:s", ""},
		"a workload":                {"apps:d owns sec:s", "sec:s", ""},
		"a boundary as owner":       {"n:node owns sec:s", "sec:s", ""},
		"of a workload":             {"a owns apps:d", "apps:d", ""},
		"of a custom resource":      {"a owns b", "b", ""},
		"of a boundary":             {"a owns sa:default", "sa:default", ""},
		"of a service account":      {"a owns sa:own", "sa:own", "a"},
		"who needs it makes it not": {"a needs sec:s", "sec:s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			if got := names(g, g.Makers(node(t, g, c.of), graph.StackOptions{})); got != c.want {
				t.Errorf("makers %q, want %q", got, c.want)
			}
		})
	}
	g := graphOf(t, "a made sec:s")
	if got := g.Makers(node(t, g, "sec:s"), graph.StackOptions{NoInferred: true}); len(got) > 0 {
		t.Errorf("a guess is left out, and makes it: %v", got)
	}
}

// What belongs to a stack as provenance, and its effects.
func TestProvenance(t *testing.T) {
	for name, c := range map[string]struct {
		lines, roots string
		opts         graph.StackOptions
		want         string
	}{
		"who makes it":                  {"apps:d needs sec:s\na owns sec:s", "apps:d", graph.StackOptions{}, "a"},
		"what that needs":               {"apps:d needs sec:s\na owns sec:s\na needs b\nb needs sec:t", "apps:d", graph.StackOptions{}, "a b sec:t"},
		"and who makes that":            {"apps:d needs sec:s\na owns sec:s\na needs sec:t\nb owns sec:t", "apps:d", graph.StackOptions{}, "a b sec:t"},
		"nothing else that it owns":     {"apps:d needs sec:s\na owns sec:s\na owns sec:t\na owns pod:p", "apps:d", graph.StackOptions{}, "a"},
		"nothing that it serves":        {"apps:d needs sec:s\na owns sec:s\na serves b\na needs c\nc serves d", "apps:d", graph.StackOptions{}, "a c"},
		"nobody who serves it":          {"apps:d needs sec:s\na owns sec:s\nb serves a", "apps:d", graph.StackOptions{}, "a"},
		"nobody else who needs it":      {"apps:d needs sec:s\na owns sec:s\na needs b\nc needs b\nc needs sec:s", "apps:d", graph.StackOptions{}, "a b"},
		"no owner of it":                {"apps:d needs sec:s\na owns sec:s\nb owns a\nb owns apps:e", "apps:d", graph.StackOptions{}, "a"},
		"not what it collects":          {"apps:d needs sec:s\na owns sec:s\na collects b", "apps:d", graph.StackOptions{}, "a"},
		"not of what is looked at":      {"apps:d collects sec:s\na owns sec:s", "apps:d", graph.StackOptions{}, ""},
		"not up to a boundary":          {"apps:d needs sec:s\na owns sec:s\na needs n:node\nn:node needs b", "apps:d", graph.StackOptions{}, "a n:node"},
		"not what is above the needer":  {"a owns apps:d\na owns sec:s\napps:d needs sec:s", "apps:d", graph.StackOptions{}, ""},
		"not for its own":               {"b needs pod:p\na owns pod:p\na owns sec:s\npod:p needs sec:s", "b", graph.StackOptions{}, ""},
		"not of a root":                 {"a owns sec:s", "sec:s", graph.StackOptions{}, ""},
		"a member is no provenance":     {"apps:d needs sec:s\na owns sec:s\napps:d needs a", "apps:d", graph.StackOptions{}, ""},
		"makers in a ring":              {"apps:d needs sec:s\na owns sec:s\na needs sec:t\nb owns sec:t\nb needs sec:s", "apps:d", graph.StackOptions{}, "a b sec:t"},
		"one that was not read":         {"apps:d needs sec:s\nu:a owns sec:s", "apps:d", graph.StackOptions{}, "u:a"},
		"of what is missing":            {"apps:d needs sec:s\na made sec:s\ngone sec:s", "apps:d", graph.StackOptions{}, "a"},
		"left out, if it is a guess":    {"apps:d needs sec:s\na made sec:s", "apps:d", graph.StackOptions{NoInferred: true}, ""},
		"of two roots":                  {"apps:d needs sec:s\napps:e needs sec:s\na owns sec:s", "apps:d apps:e", graph.StackOptions{}, "a"},
		"a member of one, maker of two": {"apps:d needs sec:s\na owns sec:s", "apps:d a", graph.StackOptions{}, ""},
		"connected":                     {"apps:d needs sec:s\na owns sec:s", "apps:d", graph.StackOptions{Connected: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			s := g.Stack(nodes(t, g, c.roots), c.opts)
			var got []graph.ID
			for _, id := range s.Members() {
				if s.Provenance(id) {
					got = append(got, id)
				}
				if s.Provenance(id) && s.IsOwnPart(id) {
					t.Errorf("%s is held", nameOf(g.Ref(id)))
				}
			}
			if names(g, got) != c.want {
				t.Errorf("provenance %q, want %q", names(g, got), c.want)
			}
		})
	}
}

// A maker is a part of what it makes, and is required if it was read; its own parts are those that
// it needs.
func TestPartsOfMakers(t *testing.T) {
	g := graphOf(t, "apps:d needs sec:s\na owns sec:s\na owns sec:t\napps:d needs sec:t\nu:b owns sec:s\na needs c")
	s := g.Stack(nodes(t, g, "apps:d"), graph.StackOptions{})
	parts := func(name string) string {
		var out []string
		for p := range s.Parts(node(t, g, name)) {
			line := nameOf(g.Ref(p.To))
			if p.Required {
				line += " counts"
			}
			if p.Maker() {
				line += " maker"
			}
			if p.Owned() {
				line += " owned"
			}
			out = append(out, line)
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	for name, want := range map[string]string{"sec:s": "a counts maker, u:b maker", "a": "c counts", "u:b": ""} {
		if got := parts(name); got != want {
			t.Errorf("parts of %s: %s; want %s", name, got, want)
		}
	}
}

// A promise to make a missing object is an edge only if another object needs it.
func TestPromises(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"somebody waits":        {"apps:d needs sec:s\na promises sec:s\ngone sec:s", "a"},
		"who looks at it":       {"apps:d collects sec:s\na promises sec:s\ngone sec:s", "a"},
		"two promise it":        {"apps:d needs sec:s\na promises sec:s\nb promises sec:s\ngone sec:s", "a b"},
		"it is there":           {"apps:d needs sec:s\na promises sec:s", "a"},
		"nobody waits":          {"b owns sec:s\na promises sec:s\ngone sec:s\na needs sec:s", ""},
		"somebody regards it":   {"apps:d regards sec:s\na promises sec:s\ngone sec:s", ""},
		"nobody knows of it":    {"apps:d needs u:s\na promises u:s", ""},
		"a manager promises it": {"apps:d needs sec:s\na heralds sec:s\ngone sec:s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			target := "sec:s"
			if strings.Contains(c.lines, "u:s") {
				target = "u:s"
			}
			var got []graph.ID
			for e := range g.In(node(t, g, target)) {
				if e.Field == "spec.promises" || e.Field == "spec.heralds" {
					got = append(got, e.From)
				}
			}
			if names(g, got) != c.want {
				t.Errorf("promised by %q, want %q", names(g, got), c.want)
			}
		})
	}
}
