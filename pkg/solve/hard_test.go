package solve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/solve"
)

// holes is a question that wants so many pigeons, each in one of the holes, of which each holds
// one: a version of a pigeon is the hole that it sits in.
func holes(pigeons, holes int) solve.Question {
	var q solve.Question
	for p := range pigeons {
		name := fmt.Sprintf("pigeon%02d", p)
		for h := range holes {
			one := pkg(name, fmt.Sprintf("%d.0.0", h))
			for other := range p {
				one.Conflicts = append(one.Conflicts, needs(fmt.Sprintf("pigeon%02d", other), fmt.Sprintf("=%d.0.0", h)))
			}
			q.Available = append(q.Available, one)
		}
		q.Wants = append(q.Wants, want(needs(name, ""))...)
	}
	return q
}

func TestHardQuestionsEnd(t *testing.T) {
	if got, err := solve.Solve(t.Context(), holes(6, 6)); err != nil || len(got) != 6 {
		t.Errorf("six pigeons in six holes: %s, %v", told(got), err)
	}
	_, err := solve.Solve(t.Context(), holes(6, 5))
	if conflict, ok := errors.AsType[*solve.ConflictError](err); !ok || len(conflict.Reasons) < 6 {
		t.Errorf("six pigeons in five holes: %v", err)
	}
	_, err = solve.Solve(t.Context(), holes(20, 19))
	if err == nil || !strings.Contains(err.Error(), "dead ends; want the versions of some packages named") {
		t.Errorf("twenty pigeons: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := solve.Solve(ctx, holes(20, 19)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("twenty pigeons and no time: %v", err)
	}
}

func TestHugeQuestionsAreRefused(t *testing.T) {
	row := func(n int, p func(i int) solve.Package) []solve.Package {
		var out []solve.Package
		for i := range n {
			out = append(out, p(i))
		}
		return out
	}
	version := func(i int) string { return fmt.Sprintf("1.%d.0", i) }
	many := pkg("a", "1.0.0")
	for i := range 1001 {
		many.Requires = append(many.Requires, needs(fmt.Sprintf("b%d", i), ""))
	}
	for name, c := range map[string]struct {
		available []solve.Package
		says      string
	}{
		"versions":     {row(10_001, func(i int) solve.Package { return pkg("a", version(i)) }), "package a has 10001 versions: want 10000 at most"},
		"requirements": {[]solve.Package{many}, "package a 1.0.0 has 1001 requirements and conflicts: want 1000 at most"},
		"packages": {append(row(10_001, func(i int) solve.Package {
			return pkg(fmt.Sprintf("b%d", i), "1.0.0", needs(fmt.Sprintf("b%d", i+1), ""))
		}),
			pkg("a", "1.0.0", needs("b0", ""))), "more than 10000 packages could be needed: want fewer in the catalog"},
		"ranges": {append(row(10_000, func(i int) solve.Package { return pkg("a", version(i), needs("b", ">="+version(i))) }),
			row(10_000, func(i int) solve.Package { return pkg("b", version(i)) })...), "more than 10 million comparisons"},
		"APIs": {append(row(6_000, func(i int) solve.Package { return pkg("a", version(i), kind(fmt.Sprintf("K%d.x.io", i))) }),
			row(2_000, func(i int) solve.Package {
				p := pkg("b", version(i))
				for k := range 6_000 {
					if i == 0 {
						p = brings(p, fmt.Sprintf("K%d.x.io", k))
					}
				}
				return p
			})...), "more than 10 million comparisons"},
		"conditions": {append(row(2_100, func(i int) solve.Package { return pkg("a", version(i), kind("K.x.io"), needs("b", "")) }),
			row(2_100, func(i int) solve.Package { return brings(pkg(fmt.Sprintf("p%d", i), "1.0.0"), "K.x.io") })...), "more than 4 million conditions"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := solve.Solve(t.Context(), solve.Question{Available: c.available, Wants: want(needs("a", ""))})
			if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 300 {
				t.Errorf("got %.500v, want %s", err, c.says)
			}
		})
	}
}
