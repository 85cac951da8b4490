package check

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Fake rules about pods, workloads and the name of a stack.
func ReportRules() []Rule {
	words := func(id string, category Category, severity Severity) Rule {
		return Rule{ID: id, Category: category, Severity: severity, Title: id, Why: "why", Fix: "fix", Guidelines: []Guideline{MaturityGuideline(14)}}
	}
	pods := words("fake-pod", Robustness, Warning)
	pods.Stack = func(s *Stack, r *Result) {
		for _, ref := range s.Members() {
			if ref.Kind == "Pod" {
				r.AddFinding(Finding{Object: ref, Message: "a pod"})
			}
		}
	}
	workloads := words("fake-workload", Security, Error)
	workloads.Stack = func(s *Stack, r *Result) {
		for _, w := range s.Workloads() {
			if strings.HasPrefix(w.Ref.Name, "web") {
				r.AddFinding(Finding{Object: w.Ref, Message: "a workload"})
			} else {
				r.Pass(w.Ref)
			}
		}
	}
	fine := words("fake-fine", Robustness, Info)
	fine.Stack = func(s *Stack, r *Result) { r.Pass(s.Ref) }
	open := words("fake-open", Robustness, Info)
	open.Stack = func(s *Stack, r *Result) { r.AddUnknown(s.Ref, "nobody knows") }
	op := words("fake-operator", CoreOS, Info)
	op.Uncheckable = "nobody can"
	return []Rule{pods, workloads, fine, open, op}
}

func TestParseWaivers(t *testing.T) {
	for text, want := range map[string]string{
		"":               "1:1 the file is empty: expected waivers, a list",
		"waivers: []":    "",
		"waivers: x":     "1:10 expected a list of waivers",
		"waiver: []":     `1:1 unknown key "waiver" (did you mean waivers?)|1:1 waivers is missing`,
		"a: [":           "1:1 not YAML: did not find expected node content",
		"- id: fake-pod": "1:1 expected a mapping of keys to values",
		"waivers:\n- {id: fake-pod, reason: small}": "fake-pod  small w.yaml:2",
		"waivers:\n- id: fake-pod\n  object: Deployment.apps/shop/web\n  reason: small\n  until: 2027-01-31\n- {id: fake-pod, object: Node/a, reason: ' x '}": "fake-pod Deployment.apps/shop/web small w.yaml:2 until 2027-01-31|fake-pod Node/a x w.yaml:6",
		"waivers:\n- {id: fake-pots, reason: x}":                                                      `2:8 there is no rule "fake-pots" (did you mean fake-pod, fake-open?)`,
		"waivers:\n- {id: fake-pod}":                                                                  "2:3 reason is missing",
		"waivers:\n- {reason: x}":                                                                     "2:3 id is missing",
		"waivers:\n- {id: fake-pod, reason: ''}":                                                      "2:26 the string is empty",
		"waivers:\n- {id: fake-pod, reason: '  '}":                                                    "2:26 the string is empty",
		"waivers:\n- {id: fake-pod, reason: x, until: tomorrow}":                                      `2:36 "tomorrow" is not a date: write it as 2027-01-31`,
		"waivers:\n- {id: fake-pod, reason: x, until: 2027-02-30}":                                    `2:36 "2027-02-30" is not a date: write it as 2027-01-31`,
		"waivers:\n- {id: fake-pod, reason: x, until: ''}":                                            "2:36 the string is empty",
		"waivers:\n- {id: fake-pod, reason: x, object: web}":                                          `2:37 "web" is not an object: write TYPE/NAMESPACE/NAME, or TYPE/NAME of a cluster-scoped one`,
		"waivers:\n- {id: fake-pod, reason: x, object: a/b/c/d}":                                      `2:37 "a/b/c/d" is not an object: write TYPE/NAMESPACE/NAME, or TYPE/NAME of a cluster-scoped one`,
		"waivers:\n- {id: fake-pod, reason: x}\n- {id: fake-pod, reason: y}":                          "3:3 a second waiver of fake-pod for the same object: the first is at w.yaml:2",
		"waivers:\n- {id: fake-pod, reason: x, who: me}\n- web":                                       `2:29 unknown key "who"|3:3 expected a mapping of keys to values`,
		"waivers:\n- {id: fake-pod, reason: x}\n---\nwaivers: []":                                     "3:1 expected one document, got a second one",
		"waivers:\n- {id: fake-pod, reason: x}\nwaivers: []":                                          "3:1 a second waivers: expected one",
		"waivers:\n- {id: fake-pod, reason: x, id: fake-fine}":                                        "2:29 a second id: expected one",
		"waivers:\n- {id: fake-pod, reason: 1}":                                                       "fake-pod  1 w.yaml:2",
		"waivers:\n- {id: fake-pod, reason: [a]}":                                                     "2:26 expected a string",
		"waivers:\n- {id: fake-operator, reason: tested elsewhere, object: deploy/shop/web-operator}": "fake-operator deploy/shop/web-operator tested elsewhere w.yaml:2",
	} {
		waivers, problems := ParseWaivers("w.yaml", []byte(text), ReportRules())
		var got []string
		for _, p := range problems {
			got = append(got, strings.Replace(strings.Replace(p.String(), "line ", "", 1), ", column ", ":", 1))
		}
		for i := range got {
			got[i] = strings.Replace(got[i], ": ", " ", 1)
		}
		for _, w := range waivers {
			object := ""
			if w.Object.Kind != "" {
				object = w.Object.String()
			}
			line := strings.Join([]string{w.Rule, object, w.Reason, w.Origin}, " ")
			if !w.Until.IsZero() {
				line += " until " + w.Until.Format(untilLayout)
			}
			got = append(got, line)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, strings.Join(got, "|"), want)
		}
	}
}

func FuzzWaivers(f *testing.F) {
	f.Add("waivers:\n- {id: fake-pod, object: a/b, reason: x, until: 2027-01-31}", "fake-pod=x;y\nz")
	f.Fuzz(func(t *testing.T, file, note string) {
		waivers, problems := ParseWaivers("w", []byte(file), ReportRules())
		if len(waivers) > 0 && len(problems) > 0 {
			t.Errorf("%d waivers of a file with %d problems", len(waivers), len(problems))
		}
		said, _ := waiversOf(object.Ref{Kind: "Node", Name: "a"}, note, ReportRules())
		for _, w := range append(waivers, said...) {
			if w.Rule == "" || strings.TrimSpace(w.Reason) == "" || w.Origin == "" {
				t.Errorf("a waiver that lacks a word: %+v", w)
			}
		}
	})
}
