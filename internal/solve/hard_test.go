package solve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
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
	_, err := solve.Solve(t.Context(), holes(5, 4))
	if conflict, ok := errors.AsType[*solve.ConflictError](err); !ok || len(conflict.Reasons) < 5 {
		t.Errorf("five pigeons in four holes: %v", err)
	}
	_, err = solve.Solve(t.Context(), holes(20, 19))
	if limit, ok := errors.AsType[*solve.LimitError](err); !ok || len(limit.Packages) != 3 || !strings.Contains(err.Error(), "name the version of one of them, as NAME@VERSION") {
		t.Errorf("twenty pigeons: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := solve.Solve(ctx, holes(20, 19)); !errors.Is(err, context.Canceled) {
		t.Errorf("twenty pigeons and no time: %v", err)
	}
}

// A choice that has no part in a conflict is not tried again: of thirty packages between two
// that cannot be together, each with five versions, no other version is tried.
func TestConflictFarApart(t *testing.T) {
	q := solve.Question{Wants: want(needs("first", ""))}
	for v := range 5 {
		first := pkg("first", fmt.Sprintf("%d.0.0", v))
		for i := range 30 {
			name := fmt.Sprintf("between%02d", i)
			first.Requires = append(first.Requires, needs(name, ""))
			q.Available = append(q.Available, pkg(name, first.Version))
		}
		first.Requires = append(first.Requires, needs("last", ""))
		last := pkg("last", first.Version)
		last.Conflicts = []solve.Requirement{needs("first", ">=1")}
		q.Available = append(q.Available, first, last)
	}
	got, err := solve.Solve(t.Context(), q)
	if err != nil || len(got) != 32 {
		t.Fatalf("%s, %v", told(got), err)
	}
	for _, c := range got {
		if newest := c.Name != "first"; newest != (c.Version == "4.0.0") {
			t.Errorf("%s %s", c.Name, c.Version)
		}
	}
}

func TestHugeQuestionsAreRefused(t *testing.T) {
	large := pkg("a", "1.0.0")
	var row []solve.Package
	for i := range 60_000 {
		large.Requires = append(large.Requires, needs(fmt.Sprintf("b%d", i), ""))
		row = append(row, pkg("a", fmt.Sprintf("1.%d.0", i)))
	}
	for name, available := range map[string][]solve.Package{"versions": row, "requirements": {large}} {
		_, err := solve.Solve(t.Context(), solve.Question{Available: available, Wants: want(needs("a", ""))})
		if err == nil || err.Error() != "the packages that could be needed have more than 50000 versions, requirements and APIs: use a catalog with fewer" {
			t.Errorf("%s: %.500v", name, err)
		}
	}
}
