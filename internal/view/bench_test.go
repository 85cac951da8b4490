package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// BenchmarkStack shows that time grows with the nodes and no faster.
func BenchmarkStack(b *testing.B) {
	for _, nodes := range []int{1_000, 10_000, 100_000} {
		var words strings.Builder
		words.WriteString("have App/web/a\n")
		for i := range nodes {
			fmt.Fprintf(&words, "have Pod/web/p-%06d\nApp/web/a owns Pod/web/p-%06d\n", i, i)
		}
		g := build(b, words.String())
		s := g.Stack(find(b, g, "App/web/a"), graph.StackOptions{})
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			for b.Loop() {
				view.Stack(s, view.StackOptions{Namespace: "web", Why: true})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*nodes), "ns/node")
		})
	}
}
