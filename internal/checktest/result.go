package checktest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// resultText is a result in a few words: the findings, or fine, open or nothing.
func resultText(r *check.Result) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s %s %s=%s", f.Severity, f.Object.Name, f.Field, f.Value))
	}
	for _, o := range r.Passed {
		out = append(out, "fine "+o.Name)
	}
	for _, o := range r.Unknowns {
		out = append(out, "open "+o.Object.Name)
	}
	return strings.Join(out, "; ")
}

// ExpectResult holds what a rule says, as one line of severities and places.
func ExpectResult(t *testing.T, r *check.Result, want string) {
	t.Helper()
	if got := resultText(r); got != want {
		t.Errorf("%s says\n  %s\nwanted\n  %s", r.Rule.ID, got, want)
		for _, f := range r.Findings {
			t.Log(f.Message)
		}
		for _, o := range r.Unknowns {
			t.Log(o.Reason)
		}
	}
}
