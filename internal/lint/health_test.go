package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// TestHealthRules: the rules of a file are held against the definitions, and evaluated on
// objects that lack what they read. Each finding is at its place, in a list and in documents.
func TestHealthRules(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string // line, column and a part of the message of each
	}{
		"guarded":           {"- kind: Certificate.cert-manager.io\n  degraded: status.condition(\"Ready\").reason == \"Failed\"\n", nil},
		"a label is absent": {"- kind: Certificate.cert-manager.io\n  degraded: metadata.labels[\"x\"] == \"y\"\n", []string{"2:13 no such key: "}},
		"in the second document, folded": {
			"kind: Issuer.cert-manager.io\nhealthy: \"true\"\n---\nkind: Certificate.cert-manager.io\nhealthy: >-\n  metadata.annotations['x'] == 'y'\n",
			[]string{"6:3 no such key: "},
		},
		"a field that is not there": {"- kind: Certificate.cert-manager.io\n  degraded: status.?conditionz.orValue([]).size() > 3\n", []string{"2:21 conditions"}},
		"a kind that is not there":  {"- kind: Certificat.cert-manager.io\n  healthy: \"true\"\n", []string{"1:9 Certificate"}},
	} {
		rules, problems := health.ParseRules(name, []byte(test.text))
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		found := lint.HealthRules(known(t), rules, []byte(test.text))
		seen := map[string]bool{}
		for _, f := range found {
			ok := false
			for _, w := range test.want {
				where, part, _ := strings.Cut(w, " ")
				if place(f) == where && strings.Contains(f.Message, part) {
					ok, seen[w] = true, true
				}
			}
			if !ok {
				t.Errorf("%s: %s %s", name, place(f), f.Message)
			}
		}
		for _, w := range test.want {
			if !seen[w] {
				t.Errorf("%s: want %s, found %+v", name, w, found)
			}
		}
	}
}

func place(f lint.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }
