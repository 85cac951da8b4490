package check_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The last good backup of a stack is that of its object whose good copy is the oldest: a backup that
// has one of two databases is not the backup of both.
func TestLastCopy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 10, 0, 0, 0, 0, time.UTC)
	claim := func(name string) object.Ref {
		return object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name}
	}
	good := func(name string) check.CopiedPart { return check.CopiedPart{Object: claim(name)} }
	lost := func(name string) check.CopiedPart {
		return check.CopiedPart{Object: claim(name), Incomplete: name + " was deleted"}
	}
	of := func(days int, parts ...check.CopiedPart) check.Copy {
		at := now.AddDate(0, 0, -days)
		return check.Copy{Record: object.Ref{Kind: "ConfigMap", Namespace: "backups", Name: fmt.Sprint(days)}, Time: at, Parts: parts}
	}
	whole := check.CopiedPart{Object: object.Ref{Kind: "Namespace", Name: "shop"}}
	for name, c := range map[string]struct {
		all  []check.Copy
		want string
	}{
		"both":                      {[]check.Copy{of(1, good("a"), good("b")), of(2, good("a"), good("b"))}, "1 [a b]"},
		"one of two":                {[]check.Copy{of(1, good("a")), of(2, good("a"), good("b"))}, "2 [b]"},
		"one of two was deleted":    {[]check.Copy{of(1, good("a"), lost("b"))}, "1 [b] b was deleted"},
		"an older one has it":       {[]check.Copy{of(1, good("a"), lost("b")), of(3, good("b"))}, "3 [b]"},
		"the future":                {[]check.Copy{of(-300, good("a"), good("b")), of(4, good("a"), good("b"))}, "4 [a b]"},
		"only the future":           {[]check.Copy{of(-1, good("a"))}, "-1 [a] its time 2026-09-11T00:00:00Z is in the future"},
		"a namespace":               {[]check.Copy{of(1, whole)}, "1 [a b]"},
		"others":                    {[]check.Copy{of(1, good("c"))}, "none"},
		"a clock that is not right": {[]check.Copy{{Record: object.Ref{Name: "x"}, Time: now.Add(time.Minute), Parts: []check.CopiedPart{good("a")}}}, "x [a]"},
	} {
		last, found := check.LastCopy(c.all, []object.Ref{claim("a"), claim("b"), {Kind: "Pod", Namespace: "shop", Name: "a"}}, now)
		got := "none"
		if found {
			var saved []string
			for _, ref := range last.Saved {
				saved = append(saved, ref.Name)
			}
			got = fmt.Sprint(last.Record.Name, " ", saved)
			if why := last.Incomplete + last.Unread; why != "" {
				got += " " + why
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
