package solve_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// catalogue has chains, diamonds, and every fifth need by API.
func catalogue(packages, versions int) []solve.Package {
	r := rand.New(rand.NewPCG(1, 8))
	var out []solve.Package
	for i := range packages {
		for v := range versions {
			p := brings(pkg(fmt.Sprintf("p%03d", i), fmt.Sprintf("%d.%d.0", 1+v/10, v%10)), fmt.Sprintf("K%03d.t.io", i))
			p.Kubernetes = ">=1.25"
			for d := range 3 {
				to := i + 1 + d*(1+i%7)
				if to >= packages {
					continue
				}
				if (i+d)%5 == 0 {
					p.Requires = append(p.Requires, kind(fmt.Sprintf("K%03d.t.io", to)))
				} else {
					low := r.IntN(max(1, min(v+1, versions-2)))
					p.Requires = append(p.Requires, needs(fmt.Sprintf("p%03d", to), fmt.Sprintf(">=%d.%d <%d", 1+low/10, low%10, 3)))
				}
			}
			out = append(out, p)
		}
	}
	return out
}

func BenchmarkSolve(b *testing.B) {
	q := solve.Question{Available: catalogue(50, 20), Wants: want(needs("p000", ""), needs("p010", "")), Kubernetes: "1.31.2"}
	for b.Loop() {
		if got, err := solve.Solve(b.Context(), q); err != nil || len(got) < 40 {
			b.Fatal(len(got), err)
		}
	}
}

func BenchmarkSolveConflict(b *testing.B) {
	available := append(catalogue(50, 20), pkg("end", "1.0.0", needs("p049", "<1.0")))
	for i := range available {
		if available[i].Name == "p048" {
			available[i].Requires = append(available[i].Requires, needs("end", ""))
		}
	}
	q := solve.Question{Available: available, Wants: want(needs("p000", "")), Kubernetes: "1.31.2"}
	for b.Loop() {
		_, err := solve.Solve(b.Context(), q)
		if _, ok := errors.AsType[*solve.ConflictError](err); !ok {
			b.Fatal(err)
		}
	}
}
