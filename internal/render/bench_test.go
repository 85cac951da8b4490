package render_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// broad is a root with so many lines below it, as a tree and as a table.
func broad(lines int) view.Output {
	root := line("Deployment/a", plain("", "", ""))
	tab := &view.Table{Columns: people().Columns}
	for i := range lines {
		name := fmt.Sprintf("Pod/a-6c9f7d5b8-%06d", i)
		root.Children = append(root.Children, line(name, plain("owns", "owner", `metadata.ownerReferences[0].uid = "e8eda8e8-de75-463e-a48f-3e847944b12e"`)))
		tab.Rows = append(tab.Rows, plain("breaks", name, "1", "", ""))
	}
	return view.Output{Tree: &view.Tree{Columns: shop(true).Columns, Roots: []*view.TreeRow{root}}, Table: tab}
}

// BenchmarkWrite shows that time grows with the lines and no faster.
func BenchmarkWrite(b *testing.B) {
	for _, lines := range []int{1_000, 10_000, 100_000} {
		a := broad(lines)
		for _, f := range []string{"tree", "table"} {
			b.Run(fmt.Sprintf("%s/%d", f, lines), func(b *testing.B) {
				for b.Loop() {
					if err := render.Write(io.Discard, f, a, render.Options{Width: 80, Color: true}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
			})
		}
	}
}
