package graph_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

func TestDivide(t *testing.T) {
	for name, c := range map[string]struct{ lines, groups, also, want string }{
		"what it owns":                   {"a owns b\nb owns c\nd owns e", "a|d", "", "a=a b=a c=a d=d e=d"},
		"what it needs is not its own":   {"a needs b", "a", "", "a=a"},
		"the nearer root":                {"a owns b\nb owns c", "a|b", "", "a=a b=b c=b"},
		"two roots of one group":         {"a owns b\nx owns y", "a x", "", "a=a b=a x=a y=a"},
		"in front of two of one group":   {"a owns b\nx owns y\ns serves b\ns serves y\ni serves s", "a x", "", "a=a b=a i=a s=a x=a y=a"},
		"in front of two groups":         {"a owns b\nx owns y\ns serves b\ns serves y", "a|x", "", "a=a b=a x=x y=x"},
		"in front of somebody else too":  {"a owns b\nx owns y\ns serves b\ns serves y", "a", "", "a=a b=a"},
		"owned by two":                   {"a owns c\nb owns c\nc owns d", "a|b", "", "a=a b=b"},
		"owned by two of one group":      {"a owns c\nb owns c", "a b", "", "a=a b=a c=a"},
		"in front of what two own":       {"a owns c\nb owns c\ns serves c", "a|b", "", "a=a b=b"},
		"a root of two groups":           {"a owns b\nr owns c", "a r|r", "", "a=a b=a"},
		"known in another way":           {"a owns b\ni serves s", "a", "s=a", "a=a b=a i=a s=a"},
		"known, and owned by another":    {"a owns b\nx owns s", "a|x", "s=a", "a=a b=a s=x x=x"},
		"known, and owned by two":        {"a owns s\nx owns s", "a|x", "s=a", "a=a x=x"},
		"a manager that is a root":       {"m manages a\na owns b", "m", "", "a=m b=m m=m"},
		"a manager of managers":          {"m manages n\nn manages a", "m", "", "a=m m=m n=m"},
		"a manager that is none":         {"m manages a", "a", "", "a=a"},
		"a root below a manager":         {"m manages a\nm manages b", "m|a", "", "a=a b=m m=m"},
		"what a managed object keeps up": {"a owns n\nn manages b", "a", "", "a=a n=a"},
		"a root that is gone":            {"b needs a\ngone a", "a|b", "", "a=a b=b"},
		"ground":                         {"a owns n:node", "a", "", "a=a"},
		"owners in a ring":               {"a owns b\nb owns a", "a", "", "a=a b=a"},
		"roots in a ring":                {"a owns b\nb owns a", "a|b", "", "a=a b=b"},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			var groups [][]graph.ID
			for group := range strings.SplitSeq(c.groups, "|") {
				groups = append(groups, nodes(t, g, group))
			}
			extra := map[graph.ID]graph.ID{}
			if name, group, ok := strings.Cut(c.also, "="); ok {
				extra[nodes(t, g, name)[0]] = nodes(t, g, group)[0]
			}
			part := g.Divide(groups, extra, graph.StackOptions{})
			var got []string
			for _, id := range slices.Sorted(maps.Keys(part)) {
				got = append(got, nameOf(g.Ref(id))+"="+nameOf(g.Ref(part[id])))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		})
	}
}

// If every group is one root and no object has two owners, Divide and PartOf agree.
func TestDivideIsApart(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		n := 3 + random.IntN(15)
		var lines strings.Builder
		for i := 1; i < n; i++ {
			if random.IntN(4) > 0 {
				fmt.Fprintf(&lines, "t%d owns t%d\n", random.IntN(i), i)
			}
			fmt.Fprintf(&lines, "t%d %s t%d\n", i, []string{"serves", "needs"}[random.IntN(2)], random.IntN(n))
		}
		g := graphOf(t, lines.String())
		var roots []graph.ID
		var groups [][]graph.ID
		for range 1 + random.IntN(4) {
			if id := graph.ID(random.IntN(g.Len())); !slices.Contains(roots, id) {
				roots = append(roots, id)
				groups = append(groups, []graph.ID{id})
			}
		}
		if a, d := g.PartOf(roots, graph.StackOptions{}), g.Divide(groups, nil, graph.StackOptions{}); !maps.Equal(a, d) {
			t.Fatalf("seed %d: roots %v: apart %v, divided %v of\n%s", seed, roots, a, d, lines.String())
		}
	}
}
