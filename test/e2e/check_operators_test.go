package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

var updateChecks = flag.Bool("update-checks", false, "write testdata/check anew; each line is to be confirmed by hand")

// checkReport is what the tests want of check -o json.
type checkReport struct {
	Subjects []struct {
		Scope, Name string
		Results     []struct {
			Rule     string
			Passed   int
			Findings []struct{ Severity, Object, Field, Value, Message string }
			Unknown  []struct{ Object, Reason string }
		}
	}
	Gaps []struct{ Resource, Message string }
}

// lines are the findings of a report, and what could not be decided, a line each.
func (r *checkReport) lines(rename *strings.Replacer) []string {
	var out []string
	for _, s := range r.Subjects {
		for _, result := range s.Results {
			for _, f := range result.Findings {
				out = append(out, rename.Replace(fmt.Sprintf("%s %s: %s %s: %s %s = %q", s.Scope, s.Name, f.Severity, result.Rule, f.Object, f.Field, f.Value)))
			}
			for _, u := range result.Unknown {
				out = append(out, rename.Replace(fmt.Sprintf("%s %s: open %s: %s", s.Scope, s.Name, result.Rule, u.Object)))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The reports on prometheus-operator and cert-manager, as their projects publish them and as
// the API server keeps them, each finding of which was confirmed by hand: testdata/check.
// Their pods are kwok's, since the operators themselves run as processes beside the cluster.
func TestCheckOperators(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applyText(t, c, strings.ReplaceAll(prometheusOperator(t), "namespace: default", "namespace: "+ns))
	applyText(t, c, unanswered(certManager(t, ns)))
	applied(t, c, ns, "check/instances.yaml")
	for _, name := range []string{"prometheus-operator", "cert-manager"} {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", "check", name+".txt")
			want, err := os.ReadFile(golden)
			if err != nil && !*updateChecks {
				t.Fatal(err)
			}
			var got string
			cluster.Eventually(t, limit, func() error {
				r := sysop(t, c.Kubeconfig, "check", "operator/"+name, "-o", "json")
				if r.code != 0 {
					return lists([]string{r.stderr})
				}
				var report checkReport
				if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
					return err
				}
				if len(report.Gaps) > 0 {
					return fmt.Errorf("gaps: %v", report.Gaps)
				}
				got = strings.Join(report.lines(strings.NewReplacer(ns, "NAMESPACE")), "\n") + "\n"
				if *updateChecks || got == string(want) {
					return nil
				}
				return fmt.Errorf("the report differs:\n%s", differing(string(want), got))
			})
			if *updateChecks {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// unanswered has webhook configurations ask only about objects that carry a label that none
// does: nothing answers them here.
func unanswered(text string) string {
	return strings.ReplaceAll(text, "    admissionReviewVersions:", "    objectSelector: {matchLabels: {sysop.dev/answered: \"true\"}}\n    admissionReviewVersions:")
}

// differing lists the lines that one of two texts has.
func differing(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out []string
	for _, line := range w {
		if !slices.Contains(g, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range g {
		if !slices.Contains(w, line) {
			out = append(out, "+ "+line)
		}
	}
	return strings.Join(out, "\n")
}
