package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// TestFindStacksOfOperators reads pairs of sections: objects, and the expected stacks. A line is
// the name of a stack, and its top objects if they differ; or an excluded object.
func TestFindStacksOfOperators(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/found/operators.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		objects, want := archive.Files[i], archive.Files[i+1]
		t.Run(objects.Name, func(t *testing.T) {
			g := graphOfText(t, string(objects.Data))
			f := g.FindStacks("", graph.StackOptions{})
			var got []string
			for _, s := range f.Stacks {
				line := []string{s.Ref(g).String()}
				for _, top := range s.TopObjects {
					if ref := g.Ref(top); ref != s.Ref(g) {
						line = append(line, ref.String())
					}
				}
				got = append(got, strings.Join(line, " "))
			}
			for id := range f.Excluded {
				got = append(got, "aside "+g.Ref(id).String())
			}
			lines := strings.Split(strings.TrimSpace(string(want.Data)), "\n")
			slices.Sort(got)
			slices.Sort(lines)
			// What serves a stack is in it, and need not be listed as excluded.
			got = slices.DeleteFunc(got, func(line string) bool {
				return strings.HasPrefix(line, "aside ") && !slices.Contains(lines, line) && inStack(g, f, strings.TrimPrefix(line, "aside "))
			})
			if !slices.Equal(got, lines) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
			}
		})
	}
}

func inStack(g *graph.Graph, f graph.FoundStacks, name string) bool {
	return slices.ContainsFunc(f.Stacks, func(s graph.FoundStack) bool {
		return slices.ContainsFunc(g.Stack(s.Roots, graph.StackOptions{}).Members(), func(id graph.ID) bool { return g.Ref(id).String() == name })
	})
}
