package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// answers calls nearly every method of a graph, for each of its nodes.
func answers(g *graph.Graph) string {
	var b strings.Builder
	var all []graph.ID
	for n := range g.Nodes() {
		all = append(all, n.ID)
	}
	fmt.Fprintln(&b, names(g, g.TopOwners(all, graph.StackOptions{})), g.Cycles(func(graph.Edge) bool { return true }), g.FindStacks("", graph.StackOptions{}))
	for _, id := range all {
		path, ok := g.Path(all[0], id, graph.StackOptions{})
		stack := g.Stack([]graph.ID{id}, graph.StackOptions{})
		var parts []graph.ID
		for p := range stack.Parts(id) {
			parts = append(parts, p.To)
		}
		fmt.Fprintln(&b, g.Impact(id, graph.ImpactOptions{}), path, ok, g.OwnerPath(id, graph.StackOptions{}),
			stack.Members(), stack.Edges(), parts, stack.Problems(), slices.Collect(g.In(id)), slices.Collect(g.Out(id)))
	}
	return b.String()
}

// A graph is safe for concurrent use, from the first call on, and gives every reader the same
// answers.
func TestManyReaders(t *testing.T) {
	const lines = "app owns pod1\napp needs db\ndb owns pod2\ndb needs conf\nsvc serves pod2\napp needs svc\nx owns y\ny owns x\ny owns pod3\npod1\npod2\npod3"
	want := answers(graphOf(t, lines))
	g := graphOf(t, lines)
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if got := answers(g); got != want {
				t.Error("a reader beside others was told otherwise")
			}
		})
	}
	readers.Wait()
}
