package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// found formats the stacks by their top objects.
func found(g *graph.Graph, f graph.FoundStacks) string {
	var out []string
	for _, s := range f.Stacks {
		tops := names(g, s.TopObjects)
		if s.Group.By != "" {
			tops = s.Group.By + ":" + s.Group.Name + "[" + tops + "]"
		}
		out = append(out, tops)
	}
	slices.Sort(out)
	return strings.Join(out, " | ")
}

func TestFindStacks(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"a custom resource and its pods":       {"a owns apps:d\napps:d owns pod:p", "a"},
		"nothing was made of it":               {"a", "a"},
		"a workload alone":                     {"apps:d owns pod:p", "apps:d"},
		"a pod alone":                          {"pod:p", "pod:p"},
		"a static pod":                         {"n:node owns pod:p", "pod:p"},
		"an owner that is gone":                {"a owns pod:p\ngone a", "pod:p"},
		"an owner that nobody could read":      {"u:a owns pod:p", "u:a"},
		"data is no stack":                     {"sec:s\nsa:x", ""},
		"a needed one is no stack":             {"a owns pod:p\nb owns pod:q\na needs b", "a"},
		"two need one":                         {"a owns pod:p\nb owns pod:q\nc owns pod:r\na needs c\nb needs c", "a | b"},
		"a ring":                               {"a owns pod:p\nb owns pod:q\na needs b\nb needs a", "a"},
		"through a Secret":                     {"apps:d needs sec:s\nsec:s needs b\nb owns pod:p", "apps:d"},
		"without pods, one needs the other":    {"a needs b", "a"},
		"what serves is in what it serves":     {"a serves apps:d\napps:d owns pod:p", "apps:d"},
		"what serves two joins none":           {"a serves apps:d\na serves apps:e", "apps:d | apps:e"},
		"an accessory of a running one":        {"a needs b\nb owns pod:p", "b"},
		"an accessory of a part of it":         {"a needs sec:s\nb owns sec:s\nb owns pod:p", "b"},
		"many accessories":                     {"a needs c\nb needs c\nc owns pod:p", "c"},
		"it runs itself":                       {"a owns pod:q\na needs b\nb owns pod:p", "a"},
		"it runs jobs":                         {"a owns job:j\njob:j owns pod:q\na needs b\nb owns pod:p", "b"},
		"a job does not hide what it visits":   {"job:j owns pod:q\njob:j needs b\nb owns pod:p", "b | job:j"},
		"an app does":                          {"apps:d owns pod:q\napps:d needs b\nb owns pod:p", "apps:d"},
		"a job hides what does not run":        {"job:j needs b", "b | job:j"},
		"a maker that runs nothing":            {"apps:d needs sec:s\na owns sec:s", "apps:d"},
		"of two":                               {"apps:d needs sec:s\napps:e needs sec:s\na owns sec:s", "apps:d | apps:e"},
		"of a job":                             {"job:j needs sec:s\na owns sec:s", "job:j"},
		"of what is missing":                   {"apps:d needs sec:s\na made sec:s\ngone sec:s", "apps:d"},
		"of what nobody needs":                 {"apps:d\na owns sec:s", "a | apps:d"},
		"a maker that runs":                    {"apps:d needs sec:s\na owns sec:s\na owns pod:p", "a | apps:d"},
		"makers of a maker":                    {"apps:d needs sec:s\na owns sec:s\na needs sec:t\nb owns sec:t", "apps:d"},
		"ground":                               {"g:policy", ""},
		"of the whole cluster, owns something": {"g:claim owns apps:d", "g:claim"},
		"of the whole cluster, needed":         {"a needs g:issuer", "a"},
		"a manager":                            {"a manages apps:d\na manages apps:e", "apps:d | apps:e"},
		"a manager of managers":                {"a manages b\nb manages apps:d", "apps:d"},
		"a manager that manages nothing":       {"a manages apps:d\ngone apps:d", "a"},
		"owned by a Secret":                    {"sec:s owns a", ""},
		"owned by a Secret, and running":       {"sec:s owns pod:p", "sec:s"},
		"a reader collects":                    {"a owns pod:p\na collects b\nc owns pod:q\nb serves pod:q", "a | c"},
		"looks aside":                          {"a owns pod:p\nb owns pod:q\na regards b", "a | b"},
		"guessed":                              {"a owns pod:p\nb owns pod:q\na guesses b", "a"},
		"another namespace":                    {"a owns pod:p\nother/b\nother/b owns pod:other/q", "a | other/b"},
		"owners in a ring":                     {"x owns y\ny owns x\ny owns pod:p", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			if got := found(g, g.FindStacks("", graph.StackOptions{})); got != c.want {
				t.Errorf("stacks %q, want %q", got, c.want)
			}
		})
	}
}

func TestFindStacksOfNamespace(t *testing.T) {
	g := graphOf(t, "a owns pod:p\na needs other/b\nother/b owns pod:other/q\nother/c needs other/b\ng:x owns apps:d\ng:y")
	for namespace, want := range map[string]string{"ns": "a | g:x", "other": "other/b", "": "a | g:x", "nobody": ""} {
		if got := found(g, g.FindStacks(namespace, graph.StackOptions{})); got != want {
			t.Errorf("of %q: stacks %q, want %q", namespace, got, want)
		}
	}
}

func TestFindStacksNoInferred(t *testing.T) {
	g := graphOf(t, "a owns pod:p\nb owns pod:q\na guesses b")
	if got := found(g, g.FindStacks("", graph.StackOptions{NoInferred: true})); got != "a | b" {
		t.Errorf("stacks %q", got)
	}
}

// Tops that declare to belong together are one stack, and its name refers to all of it.
func TestFoundGroups(t *testing.T) {
	for name, c := range map[string]struct {
		lines, labels, want string
		roots               string // of the groups
	}{
		"an instance": {
			"apps:d owns pod:p\napps:e\nsec:s\nsec:t", "apps:d i=shop\napps:e i=shop\nsec:s i=shop\npod:p i=shop",
			"app:shop[apps:d apps:e]", "apps:d apps:e sec:s",
		},
		"of two namespaces": {"apps:d\napps:other/e", "apps:d i=shop\napps:other/e i=shop", "app:shop[apps:d] | app:shop[apps:other/e]", "apps:d | apps:other/e"},
		"a release":         {"apps:d\na\nsec:s", "apps:d h=web\na h=web\nsec:s h=web", "helm:web[a apps:d]", "a apps:d sec:s"},
		"a release in two":  {"apps:d\napps:other/e", "apps:d h=web\napps:other/e h=web", "helm:web[apps:d apps:other/e]", "apps:d apps:other/e"},
		"both say a thing":  {"apps:d\napps:e", "apps:d h=web i=x\napps:e i=x", "app:x[apps:e] | helm:web[apps:d]", "apps:d | apps:d apps:e"},
		"a child says it":   {"a owns apps:d", "apps:d i=shop", "a", ""},
		"needed by another": {"apps:d needs b\nb owns pod:p\napps:e", "b h=db\napps:e h=db", "apps:d | helm:db[apps:e]", "apps:e b"},
		"an empty value":    {"apps:d", "apps:d i=", "apps:d", ""},
		"of no namespace":   {"g:x owns apps:d", "g:x i=shop", "g:x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.lines)
			w.notes = []string{graph.HelmName, graph.HelmNamespace}
			for line := range strings.Lines(c.labels) {
				words := strings.Fields(line)
				m := w.object(words[0])
				m.Labels, m.Annotations = map[string]string{}, map[string]string{}
				for _, word := range words[1:] {
					switch key, value, _ := strings.Cut(word, "="); key {
					case "i":
						m.Labels[graph.InstanceLabel] = value
					case "h":
						m.Annotations[graph.HelmName], m.Annotations[graph.HelmNamespace] = value, "ns"
					}
				}
			}
			g := w.build(nil)
			f := g.FindStacks("", graph.StackOptions{})
			if got := found(g, f); got != c.want {
				t.Errorf("stacks %q, want %q", got, c.want)
			}
			var roots []string
			for _, s := range f.Stacks {
				if s.Group.By == "" {
					continue
				}
				roots = append(roots, names(g, s.Roots))
				// The name refers to the same roots elsewhere.
				if again := g.InGroup(s.Group.By, s.Group.Namespace, s.Group.Name); !slices.Equal(again, s.Roots) {
					t.Errorf("%s stands for %s, and for %s where it is named", s.Ref(g), names(g, s.Roots), names(g, again))
				}
			}
			slices.Sort(roots)
			if got := strings.Join(roots, " | "); sorted(got) != sorted(c.roots) {
				t.Errorf("roots %q, want %q", got, c.roots)
			}
		})
	}
}

func sorted(list string) string {
	words := strings.Fields(list)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// The same objects give the same stacks, in whatever order; each is found once and not excluded,
// and every object without an owner is in one of them or excluded.
func TestFindStacksProperties(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		w := randomWorld(t, random, 14, 22)
		first := w.build(nil)
		want := found(first, first.FindStacks("", graph.StackOptions{}))
		g := w.build(random)
		f := g.FindStacks("", graph.StackOptions{})
		if got := found(g, f); got != want {
			t.Fatalf("seed %d: %q in one order and %q in another", seed, want, got)
		}
		seen, in := map[graph.ID]bool{}, map[graph.ID]bool{}
		for _, s := range f.Stacks {
			for _, top := range s.TopObjects {
				if seen[top] || f.Excluded[top] != 0 {
					t.Fatalf("seed %d: %s twice, or aside", seed, nameOf(g.Ref(top)))
				}
				seen[top] = true
			}
			for _, id := range g.Stack(s.Roots, graph.StackOptions{}).Members() {
				in[id] = true
			}
		}
		for n := range g.Nodes() {
			if n.Ref.Kind == "Thing" && n.State == graph.Present && f.Excluded[n.ID] == 0 && len(g.OwnersOf(n.ID)) == 0 && !in[n.ID] {
				t.Fatalf("seed %d: %s is in no stack of %q", seed, nameOf(n.Ref), want)
			}
		}
	}
}

func TestFoundRef(t *testing.T) {
	g := graphOf(t, "apps:d")
	f := g.FindStacks("", graph.StackOptions{})
	if got := fmt.Sprint(f.Stacks[0].Ref(g)); got != "Deployment.apps/ns/d" {
		t.Errorf("ref %s", got)
	}
}
