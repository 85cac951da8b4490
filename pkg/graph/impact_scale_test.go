package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// crowd is a namespace of n objects: workloads of ten pods that read one Secret, a Service for
// each, and a cycle of owners.
func crowd(t testing.TB, n int) *graph.Graph {
	var b strings.Builder
	b.WriteString("ns:ns\nsec:login\nx0 owns x1\nx1 owns x0\n")
	for i := range n / 13 {
		fmt.Fprintf(&b, "apps:d%d needs sec:login\nsvc%d serves apps:d%d\n", i, i, i)
		for j := range 10 {
			fmt.Fprintf(&b, "apps:d%d owns pod:p%d-%d\n", i, i, j)
		}
	}
	return graphOf(t, b.String())
}

// Everything in a namespace is found, and the dependents on one Secret are reported by workload.
func TestImpactOfMany(t *testing.T) {
	for _, n := range []int{1_300, 13_000} {
		g := crowd(t, n)
		im := g.Impact(node(t, g, "ns:ns"), graph.ImpactOptions{})
		if want := g.Len() - 1; len(im.Deleted) != want {
			t.Errorf("%d of %d are deleted", len(im.Deleted), want)
		}
		im = g.Impact(node(t, g, "sec:login"), graph.ImpactOptions{})
		if len(im.Direct) != n/13 {
			t.Errorf("%d break by a Secret, want %d", len(im.Direct), n/13)
		}
		stacks := im.StacksOf(g, g.FindStacks("", graph.StackOptions{}).Stacks, graph.StackOptions{})
		if len(stacks) == 0 {
			t.Error("no stack is affected")
		}
	}
}

func BenchmarkImpactOfNamespace(b *testing.B) {
	g := crowd(b, 100_000)
	id := node(b, g, "ns:ns")
	b.ReportAllocs()
	for b.Loop() {
		im := g.Impact(id, graph.ImpactOptions{})
		im.StacksOf(g, g.FindStacks("", graph.StackOptions{}).Stacks, graph.StackOptions{})
	}
}
