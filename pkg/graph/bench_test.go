package graph_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// BenchmarkBuild reads and builds a cluster. B/object is the retained memory: inventory, builder
// and graph.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			before := heap()
			var c *cluster
			var g *graph.Graph
			for b.Loop() {
				c = newCluster().fill(n)
				b.StopTimer()
				runtime.GC()
				b.StartTimer()
				g = c.build()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Len()), "ns/object")
			b.ReportMetric(float64(heap()-before)/float64(g.Len()), "B/object")
			b.ReportMetric(float64(g.Edges())/float64(g.Len()), "edges/object")
			runtime.KeepAlive(c)
			runtime.KeepAlive(g)
		})
	}
}

// BenchmarkResolve is BenchmarkBuild without reading.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newCluster().fill(n)
			runtime.GC()
			b.ReportAllocs()
			for b.Loop() {
				c.build()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.inv.Objects()), "ns/object")
		})
	}
}

// namespaceGraph is one namespace, with a root in it.
func namespaceGraph(b *testing.B) (*graph.Graph, graph.ID, graph.ID) {
	g := newCluster().fill(appsPerSpace * perApp).build()
	root, ok := g.Find(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team-0", Name: "checkout-service-7"})
	end, found := g.Find(object.Ref{Kind: "Service", Namespace: "team-0", Name: "checkout-service-7"})
	if !ok || !found {
		b.Fatal("no root")
	}
	return g, root, end
}

func BenchmarkStack(b *testing.B) {
	g, root, _ := namespaceGraph(b)
	b.ReportAllocs()
	for b.Loop() {
		g.Stack([]graph.ID{root}, graph.StackOptions{})
	}
}

// BenchmarkStacks uses every node as a root: shared parts are visited at most twice.
func BenchmarkStacks(b *testing.B) {
	g := newCluster().fill(100_000).build()
	var roots []graph.ID
	for n := range g.Nodes() {
		roots = append(roots, n.ID)
	}
	for b.Loop() {
		g.Stack(roots, graph.StackOptions{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(roots)), "ns/root")
}

// BenchmarkFindStacks finds the stacks of a cluster with ten objects each.
func BenchmarkFindStacks(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := newCluster().fill(n).build()
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				found = len(g.FindStacks("", graph.StackOptions{}).Stacks)
			}
			if found != n/perApp {
				b.Fatalf("%d stacks", found)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Len()), "ns/object")
		})
	}
}

func BenchmarkDiagnose(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := newCluster().fill(n).build()
			var roots []graph.ID
			for n := range g.Nodes() {
				roots = append(roots, n.ID)
			}
			s := g.Stack(roots, graph.StackOptions{})
			b.ReportAllocs()
			for b.Loop() {
				s.Diagnose()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Len()), "ns/object")
		})
	}
}

func BenchmarkForest(b *testing.B) {
	g, root, _ := namespaceGraph(b)
	s := g.Stack([]graph.ID{root}, graph.StackOptions{})
	b.ReportAllocs()
	for b.Loop() {
		s.Forest()
	}
}

func BenchmarkPath(b *testing.B) {
	g, root, end := namespaceGraph(b)
	b.ReportAllocs()
	for b.Loop() {
		g.Path(root, end, graph.StackOptions{})
	}
}

func BenchmarkImpact(b *testing.B) {
	g, root, _ := namespaceGraph(b)
	b.ReportAllocs()
	for b.Loop() {
		g.Impact(root, graph.ImpactOptions{})
	}
}
