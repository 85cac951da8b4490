package health_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// TestReads: which fields an expression reads, where it says so, and what it takes them for.
func TestReads(t *testing.T) {
	for text, want := range map[string][]string{
		`status.phase == "Failed"`:                                  {"1:8 status.phase", "1:8 status.phase [Failed]"},
		`status.?phase.orValue("") in ["A", ""]`:                    {"1:9 status.phase", "1:9 status.phase [A]"},
		`status.condition("Ready").status == "True"`:                {"1:17 status.conditions[].type [Ready]", "1:27 status.conditions[].status", "1:27 status.conditions[].status [True]"},
		`status.nodes.exists(n, n.count < spec.replicas)`:           {"1:8 status.nodes", "1:26 status.nodes[].count", "1:39 spec.replicas", "1:26 status.nodes[].count with spec.replicas", "1:39 spec.replicas with status.nodes[].count"},
		`has(status.a.b)`:                                           {"1:12 status.a", "1:14 status.a.b"},
		`status.m.exists(k, status.m[k].state == 2)`:                {"1:8 status.m", "1:27 status.m", "1:32 status.m[].state", "1:32 status.m[].state [2]"},
		`metadata.?annotations[?"a.b/c"].orValue("") == "true"`:     {"1:11 metadata.annotations", `1:25 metadata.annotations["a.b/c"]`, `1:25 metadata.annotations["a.b/c"] [true]`},
		`status.l.filter(c, c.type.endsWith("E"))[0].message != ""`: {"1:8 status.l", "1:22 status.l[].type", "1:22 status.l[].type want string", "1:45 status.l[].message", "1:45 status.l[].message []"},
		"status.a == 1 ||\n  status.ok == true":                     {"1:8 status.a", "1:8 status.a [1]", "2:10 status.ok", "2:10 status.ok [true]"},
		`!status.ready`:                                             {"1:9 status.ready", "1:9 status.ready want boolean"},
	} {
		reads, err := health.Rule{Kind: "X.x.io", Degraded: text}.Reads()
		if err != nil {
			t.Fatal(text, err)
		}
		var got []string
		for _, r := range reads {
			line := fmt.Sprintf("%d:%d %s", r.Line, r.Column, r.Path)
			switch {
			case r.Want != "":
				line += " want " + r.Want
			case len(r.With) > 0:
				line += " with " + r.With[0]
			case r.Literals != nil:
				line += fmt.Sprint(" ", r.Literals)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", text, got, want)
		}
	}
}
