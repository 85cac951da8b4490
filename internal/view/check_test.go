package view_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// checkRules are made up: one a category, and one that cannot be checked.
func checkRules() []check.Rule {
	of := func(id string, c check.Category, s check.Severity, title, fix string) check.Rule {
		return check.Rule{ID: id, Category: c, Severity: s, Title: title, Why: "Or else.", Fix: fix, Guidelines: []check.Guideline{{Model: check.MaturityModel, Year: 2020, Number: 14, Principle: "define limits"}}}
	}
	described := of("crd-described", check.Consumability, check.Info, "The fields of the schema are described", "Describe them.")
	described.Definition = func(d *check.Definition, r *check.Result) {}
	wildcard := of("rbac-wildcard", check.Security, check.Error, "Roles name what they allow", "Name the verbs.")
	wildcard.Operator = func(o *check.Operator, r *check.Result) {}
	limits := of("pod-limits", check.Robustness, check.Warning, "Every container has a memory limit", "Set resources.limits.memory of each container, above what it uses.")
	limits.Stack = func(s *check.Stack, r *check.Result) {}
	backup := of("stack-backup", check.Robustness, check.Warning, "Data is backed up", "Make backups.")
	backup.Stack = limits.Stack
	tested := of("operator-tested", check.CoreOS, check.Info, "It is tested against failures", "")
	tested.Uncheckable = "its tests are not in the cluster"
	return []check.Rule{described, wildcard, limits, backup, tested}
}

func pod(name string) object.Ref { return object.Ref{Kind: "Pod", Namespace: "shop", Name: name} }

var (
	shopStack  = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	otherStack = object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "db", Name: "pg"}
	shopRole   = object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "shop-operator"}
	shopCRD    = object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "shops.example.com"}
)

// checkReport is of an operator with its definition, and two stacks: in the first most is
// wrong, in the second nothing.
func checkReport() *check.Report {
	rules := checkRules()
	waiver := &check.Waiver{Rule: "stack-backup", Reason: "it is a cache", Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), Origin: "waivers.yaml:4"}
	crd := &check.Subject{Scope: check.OfDefinition, Ref: shopCRD, Name: shopCRD.Name, Operator: "shop-operator", Rules: rules, Results: []*check.Result{
		{Rule: &rules[0], Passed: []object.Ref{shopCRD}},
	}}
	operator := &check.Subject{Scope: check.OfOperator, Ref: shopStack, Name: "shop-operator", Rules: rules, Results: []*check.Result{
		{Rule: &rules[1], Findings: []check.Finding{{
			Severity: check.Error, Object: shopRole, Field: "rules[3].verbs", Value: `"*"`, Message: "it may do anything with secrets in every namespace, and nothing that it does needs more than reading them",
			Remedy: "name the verbs that it needs: get, list and watch", Patch: "rules: []\n", Related: []object.Ref{shopStack},
		}}},
		{Rule: &rules[4], Unknowns: []check.Unknown{{Object: shopStack, Reason: rules[4].Uncheckable}}},
	}}
	limits := &check.Result{Rule: &rules[2], Passed: []object.Ref{shopStack}}
	for i := range 12 {
		limits.Findings = append(limits.Findings, check.Finding{Severity: check.Warning, Object: pod(fmt.Sprintf("web-%02d", i)), Field: "spec.containers[web].resources", Message: "container web has no memory limit"})
	}
	limits.Findings = append(limits.Findings, check.Finding{Severity: check.Info, Object: pod("web-00"), Field: "spec.containers[proxy].resources", Message: "container proxy has no CPU limit"})
	stack := &check.Subject{Scope: check.OfStack, Ref: shopStack, Name: shopStack.String(), Rules: rules, Results: []*check.Result{
		limits,
		{Rule: &rules[3], Passed: []object.Ref{pod("a")}, Findings: []check.Finding{{Severity: check.Warning, Object: shopStack, Message: "no backup is made", Waived: waiver}}, Unknowns: []check.Unknown{{Object: pod("b"), Reason: "Schedules of Velero were not read"}, {Object: pod("c"), Reason: "Schedules of Velero were not read"}}},
	}}
	other := &check.Subject{Scope: check.OfStack, Ref: otherStack, Name: otherStack.String(), Rules: rules, Results: []*check.Result{{Rule: &rules[2], Passed: []object.Ref{otherStack}}}}
	r := check.NewReport([]*check.Subject{stack, operator, other, crd}, nil, nil, nil, time.Time{})
	stack.Results[1].Findings[0].Waived = waiver // NewReport knows of no such waiver.
	r.Scores = check.Scored(r.Subjects...)
	r.Unused = []check.UnusedWaiver{{Waiver: check.Waiver{Rule: "pod-limits", Object: otherStack, Reason: "x", Origin: "waivers.yaml:9"}, Why: "the rule has no findings there"}}
	r.Malformed = []check.MalformedWaiver{{Object: shopStack, Why: "the waiver of pod-limits gives no reason: write pod-limits=reason"}}
	r.Gaps = []object.Gap{{Resource: "schedules.velero.io", Reason: "Forbidden", Message: "no"}}
	return r
}

func lay(t *testing.T, format string, width int, a view.Output) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Write(&out, format, a, render.Options{Width: width}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCheckLooks(t *testing.T) {
	r := checkReport()
	found, summary := view.Check(r, view.CheckOptions{Namespace: "shop"}), view.Check(r, view.CheckOptions{Namespace: "shop", Summary: true})
	for _, c := range []struct {
		format string
		width  int
		answer view.Output
		want   string
	}{
		{"tree", 80, found, `
SUBJECT                                EVIDENCE
operator shop-operator
│  score 20, 1 of 2 rules passed: consumability 100, security 0
└─ ✖ error rbac-wildcard
   │  violated: Roles name what they allow
   └─ ClusterRole/shop-operator        rules[3].verbs = "*"
         it may do anything with secrets in every namespace, and nothing that it
         does needs more than reading them → name the verbs that it needs: get,
         list and watch
stack Deployment/web
│  score 53, 1 of 2 rules passed: robustness 53
├─ ! warning pod-limits
│  │  violated: Every container has a memory limit → Set resources.limits.memory
│  │  of each container, above what it uses.
│  └─ Pod/web-00 and 11 more           spec.containers[web].resources
│        container web has no memory limit
├─ · info pod-limits                   Pod/web-00
│     container proxy has no CPU limit → Set resources.limits.memory of each
│     container, above what it uses.
├─ ‖ waived: 1
│  └─ Deployment/web                   stack-backup
│        it is a cache (waivers.yaml:4)
└─ ? unknown
   └─ stack-backup                     Pod/b and 1 more
         Schedules of Velero were not read
stack StatefulSet/db/pg ✔ no findings
   score 100, 1 of 1 rule passed: robustness 100
? uncheckable
└─ operator-tested
      its tests are not in the cluster
`},
		{"table", 100, found, `
RESULT          RULE              OBJECT                      MESSAGE
score 20                          operator shop-operator      1 of 2 rules passed: consumability 10…
✖ error         rbac-wildcard     ClusterRole/shop-operator   it may do anything with secrets in ev…
score 53                          stack Deployment/web        1 of 2 rules passed: robustness 53
! warning       pod-limits        Pod/web-00 and 11 more      container web has no memory limit
· info          pod-limits        Pod/web-00                  container proxy has no CPU limit
? unknown       stack-backup      Pod/b and 1 more            Schedules of Velero were not read
score 100                         stack StatefulSet/db/pg     1 of 1 rule passed: robustness 100
? uncheckable   operator-tested                               its tests are not in the cluster
`},
		{"tree", 80, summary, `
SUBJECT                  ERRORS  WARNINGS  SCORE  CONSUME  SECURE  ROBUST
operator shop-operator        1         0     20      100       0       -
└─ shops.example.com          0         0    100      100       -       -
stack Deployment/web          0        12     53        -       -      53
stack StatefulSet/db/pg       0         0    100        -       -     100
all 3                         1        12     46      100       0      69
`},
		{"table", 0, summary, `
SUBJECT                   ERRORS   WARNINGS   SCORE   CONSUME   SECURE   ROBUST   UNKNOWN
operator shop-operator         1          0      20       100        0        -         0
stack Deployment/web           0         12      53         -        -       53         0
stack StatefulSet/db/pg        0          0     100         -        -      100         0
all 3                          1         12      46       100        0       69         0
`},
		{"table", 60, summary, `
SUBJECT                   ERRORS   WARNINGS   SCORE
operator shop-operator         1          0      20
stack Deployment/web           0         12      53
stack StatefulSet/db/pg        0          0     100
all 3                          1         12      46
`},
		{"wide", 80, summary, `
SUBJECT                   ERRORS   WARNINGS   INFO   UNKNOWN   WAIVED   KEPT   SCORE   CONSUMABILITY   SECURITY   ROBUSTNESS
operator shop-operator         1          0      0         0        0    1/2      20         100 1/1      0 0/1            -
stack Deployment/web           0         12      1         0        1    1/2      53               -          -       53 1/2
stack StatefulSet/db/pg        0          0      0         0        0    1/1     100               -          -      100 1/1
all 3                          1         12      1         0        1    3/5      46         100 1/1      0 0/1       69 2/3
`},
	} {
		if got := "\n" + lay(t, c.format, c.width, c.answer); got != c.want {
			t.Errorf("%s of %d: got%s\nwant%s", c.format, c.width, got, c.want)
		}
	}
}

// What is folded for people is whole for machines, in wide, and where all is wanted.
func TestCheckLosesNothing(t *testing.T) {
	r := checkReport()
	a := view.Check(r, view.CheckOptions{})
	all := view.Check(r, view.CheckOptions{All: true})
	doc := a.Document.(view.CheckDocument)
	wrong, open := 0, 0
	for _, s := range doc.Subjects {
		for _, result := range s.Results {
			wrong += len(result.Findings)
			open += len(result.Unknowns)
		}
	}
	if wrong != 15 || open != 3 {
		t.Errorf("the document has %d findings and %d that were not decided, want 15 and 3", wrong, open)
	}
	if got := len(a.Wide.Rows); got != 18 {
		t.Errorf("wide has %d rows, want 18", got)
	}
	for what, text := range map[string]string{"wide": lay(t, "wide", 80, a), "json": lay(t, "json", 80, a), "table of all": lay(t, "table", 0, all), "tree of all": lay(t, "tree", 0, all), "sarif": lay(t, "sarif", 0, a), "junit": lay(t, "junit", 0, a)} {
		for i := range 12 {
			if name := fmt.Sprintf("Pod/shop/web-%02d", i); !strings.Contains(text, name) {
				t.Errorf("%s says nothing of %s", what, name)
			}
		}
		if !strings.Contains(text, "it is a cache") {
			t.Errorf("%s says nothing of the waiver", what)
		}
	}
	// A rule with many different findings is cut short, and says by how much.
	limits := r.Subjects[2].Results[0]
	for i := range limits.Findings {
		limits.Findings[i].Message += fmt.Sprint(" ", i)
	}
	if text := lay(t, "tree", 0, view.Check(r, view.CheckOptions{})); !strings.Contains(text, "… 4 more") {
		t.Errorf("nothing is said of what was cut:\n%s", text)
	}
	if text := lay(t, "tree", 0, view.Check(r, view.CheckOptions{All: true})); regexp.MustCompile(`\d more`).MatchString(text) {
		t.Errorf("something was cut:\n%s", text)
	}
}

func TestCheckDocument(t *testing.T) {
	doc := view.Check(checkReport(), view.CheckOptions{}).Document.(view.CheckDocument)
	if doc.Kind != "CheckReport" || len(doc.Rules) != 5 || len(doc.Gaps) != 1 || len(doc.Waivers.Unused) != 1 || len(doc.Waivers.Malformed) != 1 {
		t.Errorf("%+v", doc)
	}
	if got := *doc.Scores.Overall.Score; got != 46 || doc.Scores.Found["warning"] != 12 || doc.Scores.Overall.Waived != 1 {
		t.Errorf("scores %d, %+v", got, doc.Scores)
	}
	var names []string
	for _, s := range doc.Subjects {
		names = append(names, s.Scope+" "+s.Name)
	}
	if got := strings.Join(names, ", "); got != "operator shop-operator, definition shops.example.com, stack Deployment.apps/shop/web, stack StatefulSet.apps/db/pg" {
		t.Errorf("subjects %s", got)
	}
	if doc.Subjects[1].Operator != "shop-operator" || doc.Subjects[1].Scores.Overall.Score == nil {
		t.Errorf("%+v", doc.Subjects[1])
	}
	if f := doc.Subjects[0].Results[0].Findings[0]; f.Severity != check.Error || f.Field != "rules[3].verbs" || f.Related[0].String() != "Deployment.apps/shop/web" || f.Patch == "" {
		t.Errorf("%+v", f)
	}
	// A remedy that no finding has of its own is that of the rule.
	if f := doc.Subjects[2].Results[0].Findings[0]; f.Remedy != "Set resources.limits.memory of each container, above what it uses." || f.Waived != nil {
		t.Errorf("%+v", f)
	}
	if w := doc.Subjects[2].Results[1].Findings[0].Waived; w == nil || w.Until != "2027-01-31" || w.Object != "" || w.Origin != "waivers.yaml:4" {
		t.Errorf("waived: %+v", w)
	}
	if s := doc.Subjects[3].Scores; s.Categories["security"] != (view.CheckScoreDocument{}) || len(s.Categories) != 1 {
		t.Errorf("a category with nothing to look at: %+v", s)
	}
}

func TestCheckNames(t *testing.T) {
	got := strings.Join(view.Check(checkReport(), view.CheckOptions{}).Names[10:], " ")
	if want := "Pod/shop/web-10 Pod/shop/web-11 ClusterRole.rbac.authorization.k8s.io/shop-operator"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
}

// The worst come first: by errors, then by warnings, then by score; what has no score last.
func TestCheckSummaryOrder(t *testing.T) {
	rules := checkRules()
	subject := func(name string, wrong ...check.Severity) *check.Subject {
		result := &check.Result{Rule: &rules[2], Passed: []object.Ref{pod("fine")}}
		for i, s := range wrong {
			result.Findings = append(result.Findings, check.Finding{Severity: s, Object: pod(fmt.Sprint(i))})
		}
		return &check.Subject{Scope: check.OfStack, Name: name, Ref: object.Ref{Kind: "Stack", Name: name}, Results: []*check.Result{result}}
	}
	unknown := &check.Subject{Scope: check.OfStack, Name: "a", Ref: object.Ref{Kind: "Stack", Name: "a"}}
	r := check.NewReport([]*check.Subject{
		subject("b"), subject("c", check.Info), subject("d", check.Warning, check.Warning), unknown,
		subject("e", check.Error), subject("f", check.Error, check.Warning), subject("g", check.Warning, check.Warning, check.Info),
	}, nil, nil, nil, time.Time{})
	var got []string
	for _, row := range view.Check(r, view.CheckOptions{Summary: true}).Table.Rows {
		got = append(got, strings.TrimPrefix(row[0].Text, "stack Stack/"))
	}
	if text := strings.Join(got, " "); text != "f e d g c b a all 7" {
		t.Errorf("order %s", text)
	}
}
