package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

func dependents(g *graph.Graph, all []graph.Dependent) string {
	var ids []graph.ID
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return names(g, ids)
}

func deletions(all []graph.Deletion) []graph.ID {
	var ids []graph.ID
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return ids
}

func keptIDs(all []graph.Kept) []graph.ID {
	var ids []graph.ID
	for _, k := range all {
		ids = append(ids, k.ID)
	}
	return ids
}

func TestImpact(t *testing.T) {
	for name, c := range map[string]struct {
		lines                              string
		opts                               graph.StackOptions
		deleted, orphaned, direct, through string
	}{
		"nobody cares":                     {"a\nb", graph.StackOptions{}, "", "", "", ""},
		"children":                         {"a owns b\nb owns c", graph.StackOptions{}, "b c", "", "", ""},
		"another owner":                    {"a owns b\nx owns b\nb owns c", graph.StackOptions{}, "", "b", "", ""},
		"the other owner goes too":         {"a owns b\na owns c\nb owns d\nc owns d", graph.StackOptions{}, "b c d", "", "", ""},
		"the other owner is gone":          {"a owns b\nx owns b\ngone x", graph.StackOptions{}, "b", "", "", ""},
		"the other owner is unread":        {"a owns b\nu:x owns b", graph.StackOptions{}, "", "b", "", ""},
		"guessed owners collect nothing":   {"a made b", graph.StackOptions{}, "", "", "", ""},
		"guessed owners keep nothing":      {"a owns b\nx made b", graph.StackOptions{}, "b", "", "x", ""},
		"owners in a cycle":                {"a owns b\nb owns a", graph.StackOptions{}, "b", "", "", ""},
		"what owns itself stays":           {"a owns b\nb owns c\nc owns b", graph.StackOptions{}, "", "b", "", ""},
		"named twice":                      {"a owns b\na owns b\nx owns b", graph.StackOptions{}, "", "b", "", ""},
		"what is gone already":             {"a owns b\nx owns b\ngone a", graph.StackOptions{}, "", "b", "", ""},
		"what is gone already, last":       {"a owns b\ngone a", graph.StackOptions{}, "b", "", "", ""},
		"who needs it":                     {"b needs a\nc needs b", graph.StackOptions{}, "", "", "b", "c"},
		"who needs what goes":              {"a owns x\nb needs x", graph.StackOptions{}, "x", "", "b", ""},
		"who goes does not suffer":         {"a owns x\nx needs a", graph.StackOptions{}, "x", "", "", ""},
		"owner of who needs it":            {"b needs a\nc owns b\nd owns c", graph.StackOptions{}, "", "", "b", "c d"},
		"its own owner":                    {"c owns a\nd needs c", graph.StackOptions{}, "", "", "c", ""},
		"a Service that nobody needs":      {"b needs a\nsvc serves b", graph.StackOptions{}, "", "", "b", ""},
		"a Service that somebody needs":    {"b needs a\nsvc serves b\nclient needs svc", graph.StackOptions{}, "", "", "b", "client svc"},
		"optional does not spread":         {"b needs? a\nc needs b", graph.StackOptions{}, "", "", "b", ""},
		"optional, and not":                {"b needs? a\nb needs a\nc needs b", graph.StackOptions{}, "", "", "b", "c"},
		"optional, but needs what goes":    {"a owns x\nb needs? a\nb needs x\nc needs b", graph.StackOptions{}, "x", "", "b", "c"},
		"optional, but hit in another way": {"b needs? a\nb needs c\nc needs a\nd needs b", graph.StackOptions{}, "", "", "c", "b d"},
		"needs in a cycle":                 {"b needs a\nc needs b\na needs c", graph.StackOptions{}, "", "", "b", "c"},
		"not onto a boundary":              {"n:node owns a\nx needs n:node", graph.StackOptions{}, "", "", "", ""},
		"who is gone suffers no more":      {"u:x\nx owns a\ngone x", graph.StackOptions{}, "", "", "", ""},
		"no inferred":                      {"b guesses a\nc needs a", graph.StackOptions{NoInferred: true}, "", "", "c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, c.lines)
			im := g.Impact(node(t, g, "a"), graph.ImpactOptions{StackOptions: c.opts})
			for _, x := range [][3]string{
				{"deleted", names(g, deletions(im.Deleted)), c.deleted},
				{"kept", names(g, keptIDs(im.Kept)), c.orphaned},
				{"direct", dependents(g, im.Direct), c.direct},
				{"through", dependents(g, im.Indirect), c.through},
			} {
				if x[1] != x[2] {
					t.Errorf("%s %q, want %q", x[0], x[1], x[2])
				}
			}
		})
	}
}

// Each object is affected once, by an object that is affected itself, with an edge between the two;
// and the garbage collection agrees with a naive one.
func TestImpactHoldsTogether(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 5))
		g := randomWorld(t, random, 14, 30).build(nil)
		if g.Len() == 0 {
			continue
		}
		id := graph.ID(random.IntN(g.Len()))
		im := g.Impact(id, graph.ImpactOptions{})
		gone := slowCollect(g, id)
		if len(im.Deleted) != len(gone)-1 {
			t.Fatalf("seed %d: %s deletes %q in\n%s", seed, nameOf(g.Ref(id)), names(g, deletions(im.Deleted)), dump(g))
		}
		hit := set{id: true}
		for _, d := range deletions(im.Deleted) {
			if !gone[d] || hit[d] {
				t.Errorf("seed %d: %s deleted", seed, nameOf(g.Ref(d)))
			}
			hit[d] = true
		}
		all := slices.Concat(im.Direct, im.Indirect)
		for _, d := range all {
			if hit[d.ID] {
				t.Errorf("seed %d: %s twice", seed, nameOf(g.Ref(d.ID)))
			}
			hit[d.ID] = true
		}
		for _, d := range all {
			for _, child := range d.Below {
				hit[child] = true
			}
		}
		for _, d := range all {
			if ends := (set{d.Edge.From: true, d.Edge.To: true}); !hit[d.Cause] || !ends[d.ID] || !ends[d.Cause] {
				t.Errorf("seed %d: %s by %s over %s", seed, nameOf(g.Ref(d.ID)), nameOf(g.Ref(d.Cause)), edgeText(g, d.Edge))
			}
		}
	}
}

func slowCollect(g *graph.Graph, id graph.ID) set {
	gone := set{id: true}
	for size := 0; size != len(gone); {
		size = len(gone)
		for n := range g.Nodes() {
			deleted, owned := false, false
			for e := range g.In(n.ID) {
				if e.Rule == "owner-reference" {
					deleted = deleted || gone[e.From]
					owned = owned || !gone[e.From] && g.State(e.From) != graph.Missing
				}
			}
			if deleted && !owned {
				gone[n.ID] = true
			}
		}
	}
	return gone
}
