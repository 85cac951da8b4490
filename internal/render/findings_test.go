package render_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var (
	shopWeb  = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	shopData = object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
)

// checked are findings of all sorts about an operator and two stacks that share a claim. s
// stands wherever a cluster or a file has a say.
func checked(s string) *view.Findings {
	unbacked := view.CaseFinding{Severity: check.Warning, Object: shopData, Reason: "NoBackup", Message: "no backup is made of it" + s, Remedy: "make one"}
	return &view.Findings{
		Name: "check", Version: "v0.6.0",
		Rules: []view.FindingRule{
			{
				ID: "pod-limits", Title: "Every container has a memory limit", Why: "One that has none can take the memory of a node.", Fix: "Set resources.limits.memory.",
				Severity: check.Warning, Tags: []string{"robustness", "Operator Maturity Model"}, Sources: []string{"Operator Maturity Model (2020) 14: define resource requests and limits"}, URI: "https://example.com/guidelines#pod-limits",
			},
			{ID: "rbac-wildcard", Title: "Roles name what they allow", Severity: check.Error, Tags: []string{"security"}},
			{ID: "stack-backup", Title: "Data is backed up", Severity: check.Warning},
		},
		Suites: []view.Suite{
			{Name: "operator shop-operator" + s, Properties: []view.Property{{Name: "score", Value: "61"}}, Cases: []view.Case{
				{Rule: "rbac-wildcard", Class: "security", Findings: []view.CaseFinding{
					{
						Severity: check.Error, Object: object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "shop"}, Field: "rules[0].verbs", Value: "*" + s,
						Message: `it may do anything with "<secrets> & more"`, Remedy: "name the verbs" + s, Patch: "rules: []\n", Related: []object.Ref{shopWeb, shopWeb},
					},
					{Severity: check.Info, Object: object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "shop"}, Field: "rules[0].verbs", Message: "the same field, said otherwise"},
				}},
				{Rule: "pod-limits", Class: "robustness", Right: 2},
			}},
			{Name: "stack Deployment.apps/shop/web", Cases: []view.Case{
				{Rule: "pod-limits", Class: "robustness", Findings: []view.CaseFinding{
					{Severity: check.Warning, Object: shopWeb, Origin: "dir with blanks/shop.yaml:14", Field: "containers[web].resources", Message: "no limit", Waived: &view.CaseWaiver{Reason: "meant so" + s, Origin: "waivers.yaml:3"}},
					{Severity: check.Warning, Object: shopWeb, Field: "containers[proxy].resources", Message: "no limit", Waived: &view.CaseWaiver{Reason: "meant so", Origin: "annotation of Deployment.apps/shop/web", InSource: true}},
				}},
				{Rule: "stack-backup", Class: "robustness", Findings: []view.CaseFinding{unbacked}},
			}},
			{Name: "stack Deployment.apps/shop/worker", Cases: []view.Case{
				{Rule: "stack-backup", Class: "robustness", Findings: []view.CaseFinding{unbacked}},
				{Rule: "rbac-wildcard", Class: "security", Right: 1, Open: []view.CaseUnknown{{Object: shopWeb, Origin: "-:3", Why: "roles were not read" + s}}},
			}},
		},
		Gaps:  []object.Gap{{Resource: "secrets", Namespace: "shop", Reason: "Forbidden", Message: "no" + s}},
		Notes: []string{"unused waiver of pod-limits (waivers.yaml:9): the rule has no findings there" + s},
	}
}

func TestGoldenOfFindings(t *testing.T) {
	a := view.Output{Findings: checked("")}
	for _, f := range []string{"sarif", "junit"} {
		got := text(t, f, a, render.Options{})
		golden(t, "findings."+f, got)
		if other := text(t, f, a, render.Options{Width: 40, Color: true, NoHeaders: true}); other != got {
			t.Errorf("%s depends on the terminal", f)
		}
		golden(t, "nothing."+f, text(t, f, view.Output{Findings: &view.Findings{Name: "check"}}, render.Options{}))
	}
}

// sarifSchema is what the standard asks of the parts that are written.
func sarifSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("testdata/sarif-parts.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sarif writes findings and reads them back.
func sarif(t testing.TB, f *view.Findings) (log any, run map[string]any) {
	t.Helper()
	log, err := jsonschema.UnmarshalJSON(strings.NewReader(text(t, "sarif", view.Output{Findings: f}, render.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	return log, log.(map[string]any)["runs"].([]any)[0].(map[string]any)
}

func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchema(t)
	for _, f := range []*view.Findings{checked(""), checked(unsafeMessage), {Name: "check"}} {
		log, _ := sarif(t, f)
		if err := schema.Validate(log); err != nil {
			t.Errorf("%#v", err)
		}
	}
	// The schema says something.
	for what, spoil := range map[string]func(run, result map[string]any){
		"a level":                 func(_, r map[string]any) { r["level"] = "info" },
		"a kind":                  func(_, r map[string]any) { r["kind"] = "wrong" },
		"open, but graver":        func(_, r map[string]any) { r["kind"] = "open" },
		"no message":              func(_, r map[string]any) { delete(r, "message") },
		"an unknown property":     func(_, r map[string]any) { r["object"] = "x" },
		"a suppression's kind":    func(_, r map[string]any) { r["suppressions"] = []any{map[string]any{"kind": "waived"}} },
		"a line 0":                func(_, r map[string]any) { r["locations"] = place("shop.yaml", 0) },
		"a URI with a blank":      func(_, r map[string]any) { r["locations"] = place("a b%zz", 1) },
		"a tool without a name":   func(run, _ map[string]any) { run["tool"] = map[string]any{"driver": map[string]any{}} },
		"invocations of no state": func(run, _ map[string]any) { run["invocations"] = []any{map[string]any{}} },
	} {
		log, run := sarif(t, checked(""))
		spoil(run, run["results"].([]any)[0].(map[string]any))
		if err := schema.Validate(log); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
}

func place(uri string, line int) []any {
	return []any{map[string]any{"physicalLocation": map[string]any{"artifactLocation": map[string]any{"uri": uri}, "region": map[string]any{"startLine": json.Number(string(rune('0' + line)))}}}}
}

// What several suites say of one object is one result, and it keeps its fingerprint when a
// figure in the message or the order of suites changes.
func TestSARIFResults(t *testing.T) {
	prints := func(f *view.Findings) map[string]int {
		out := map[string]int{}
		_, run := sarif(t, f)
		for _, r := range run["results"].([]any) {
			r := r.(map[string]any)
			at := r["locations"].([]any)[0].(map[string]any)["logicalLocations"].([]any)[0].(map[string]any)
			for _, v := range r["partialFingerprints"].(map[string]any) {
				out[r["ruleId"].(string)+" "+at["fullyQualifiedName"].(string)+" "+v.(string)]++
			}
		}
		return out
	}
	f := checked("")
	want := prints(f)
	if len(want) != 6 {
		t.Errorf("%d results with fingerprints of their own, want 6: %v", len(want), want)
	}
	f.Suites[1].Cases[1].Findings[0].Message = "no backup was made for 3 days"
	f.Suites[2].Cases[0].Findings[0].Message = "no backup was made for 3 days"
	f.Suites[1], f.Suites[2] = f.Suites[2], f.Suites[1]
	if got := prints(f); !maps.Equal(got, want) {
		t.Errorf("fingerprints changed:\n%v\n%v", want, got)
	}
	_, run := sarif(t, checked(""))
	for _, r := range run["results"].([]any) {
		r := r.(map[string]any)
		if r["ruleId"] == "stack-backup" && len(r["properties"].(map[string]any)["subjects"].([]any)) != 2 {
			t.Errorf("the shared claim is in %v", r["properties"])
		}
		if _, ok := r["suppressions"]; !ok {
			t.Errorf("%v: nothing is said of suppressions, where others say something", r["message"])
		}
	}
}

// Origins become URI references; what is no place in a file makes none.
func TestSARIFPlaces(t *testing.T) {
	for origin, want := range map[string]string{
		"shop.yaml:14":            "shop.yaml",
		"./k8s/shop.yaml:1":       "k8s/shop.yaml",
		"/srv/my shop.yaml:2":     "file:///srv/my%20shop.yaml",
		"a:b.yaml:3":              "./a:b.yaml",
		"https://x.org/a.yaml:3":  "https://x.org/a.yaml",
		"":                        "",
		"-:3":                     "",
		"shop.yaml":               "",
		"shop.yaml:0":             "",
		":4":                      "",
		"annotation of Pod/a/b":   "",
		"annotation of Pod/a/b:1": "",
	} {
		f := &view.Findings{Suites: []view.Suite{{Cases: []view.Case{{Rule: "r", Findings: []view.CaseFinding{{Severity: check.Error, Object: shopWeb, Origin: origin}}}}}}}
		_, run := sarif(t, f)
		at := run["results"].([]any)[0].(map[string]any)["locations"].([]any)[0].(map[string]any)
		got := ""
		if p, ok := at["physicalLocation"].(map[string]any); ok {
			got = p["artifactLocation"].(map[string]any)["uri"].(string)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", origin, got, want)
		}
	}
}

// junit is what readers of the format take from it.
type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Name    string   `xml:"name,attr"`
			Class   string   `xml:"classname,attr"`
			Failure []string `xml:"failure"`
			Skipped []string `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnitCounts(t *testing.T) {
	var got junit
	if err := xml.Unmarshal([]byte(text(t, "junit", view.Output{Findings: checked("")}, render.Options{})), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 6 || got.Failures != 3 || got.Skipped != 1 {
		t.Errorf("%d tests, %d failures, %d skipped; want 6, 3, 1", got.Tests, got.Failures, got.Skipped)
	}
	var sum junit
	for _, s := range got.Suites {
		failed, skipped := 0, 0
		for _, c := range s.Cases {
			failed += len(c.Failure)
			skipped += len(c.Skipped)
			if len(c.Failure)+len(c.Skipped) > 1 {
				t.Errorf("%s/%s has several verdicts", s.Name, c.Name)
			}
			if !strings.HasPrefix(c.Class, s.Name) {
				t.Errorf("%s: class %s", s.Name, c.Class)
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != failed || s.Skipped != skipped {
			t.Errorf("%s counts %d, %d, %d: has %d, %d, %d", s.Name, s.Tests, s.Failures, s.Skipped, len(s.Cases), failed, skipped)
		}
		sum.Tests, sum.Failures, sum.Skipped = sum.Tests+s.Tests, sum.Failures+s.Failures, sum.Skipped+s.Skipped
	}
	if sum.Tests != got.Tests || sum.Failures != got.Failures || sum.Skipped != got.Skipped {
		t.Errorf("the suites have %+v together", sum)
	}
	// A habit fails nothing, and is told.
	habit := view.Suite{Name: "s", Cases: []view.Case{{Rule: "pod-limits", Findings: []view.CaseFinding{{Severity: check.Info, Object: shopWeb, Message: "no CPU limit"}}}}}
	if out := text(t, "junit", view.Output{Findings: &view.Findings{Suites: []view.Suite{habit}}}, render.Options{}); strings.Contains(out, "<failure") || !strings.Contains(out, "<system-out>info: Deployment.apps/shop/web: no CPU limit</system-out>") {
		t.Error(out)
	}
	// A waived finding fails nothing.
	if web := got.Suites[1].Cases[0]; len(web.Failure) > 0 {
		t.Errorf("%s: %s", web.Name, web.Failure)
	}
}

// FuzzFindings holds that any text of a cluster makes valid files, in which nothing is lost
// that can be shown.
func FuzzFindings(f *testing.F) {
	for _, s := range []string{"", unsafeMessage, "]]>", "<a b='c'>&amp;", "\x00\ufffe\uffff", "{0} [a](b)", "{{}}"} {
		f.Add(s)
	}
	schema := sarifSchema(f)
	f.Fuzz(func(t *testing.T, s string) {
		found := checked(s)
		log, _ := sarif(t, found)
		if err := schema.Validate(log); err != nil {
			t.Errorf("%q: %#v", s, err)
		}
		out := text(t, "junit", view.Output{Findings: found}, render.Options{})
		harmless(t, "junit", out)
		d := xml.NewDecoder(strings.NewReader(out))
		var all bytes.Buffer
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					all.WriteString(a.Value + "\n")
				}
			}
		}
		if shown := render.Escape(s); !strings.ContainsAny(shown, "\ufffe\uffff\ufffd") && !slices.Contains(strings.Split(all.String(), "\n"), "operator shop-operator"+shown) {
			t.Errorf("%q is lost", s)
		}
	})
}
