package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// reportWorld is a Deployment with its ReplicaSet and pod, a bare pod beside, a custom
// resource that owns a ConfigMap, and its definition.
const reportWorld = `
apiVersion: v1
kind: Namespace
metadata: {name: shop, uid: n1%s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d1%s}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, uid: r1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}]%s}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-x, namespace: shop, uid: p1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r1, controller: true}]%s}
spec: {containers: [{name: web, image: web}]}
status: {phase: Running}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: shop, uid: d2}
spec: {selector: {matchLabels: {app: worker}}, template: {metadata: {labels: {app: worker}}, spec: {containers: [{name: worker, image: worker}]}}}
`

// reportOf checks the stack of web, or all that are named, in a world whose objects carry
// annotations: the Namespace, the Deployment, the ReplicaSet and the pod.
func reportOf(t *testing.T, notes [4]string, file []check.Waiver, now time.Time, roots ...string) *check.Report {
	t.Helper()
	var args []any
	for _, n := range notes {
		if n != "" {
			n = fmt.Sprintf(", annotations: {%s: %q}", check.WaiveAnnotation, n)
		}
		args = append(args, n)
	}
	w := checktest.Read(t, operator.Find, fmt.Sprintf(reportWorld, args...))
	var subjects []*check.Subject
	for _, root := range append(roots, "Deployment.apps/shop/web") {
		subjects = append(subjects, w.Stack(root).Check(check.ReportRules()))
	}
	return check.NewReport(subjects, append(all.Rules(), check.ReportRules()...), file, w.ClusterState, now)
}

// told are the findings of a report, each with its waiver, and what else is said of waivers.
func told(r *check.Report) string {
	var out []string
	for _, s := range r.Subjects {
		for _, result := range s.Results {
			for _, f := range result.Findings {
				line := result.Rule.ID + " " + f.Object.Name
				if f.Waived != nil {
					line += " waived: " + f.Waived.Reason
				}
				out = append(out, line)
			}
		}
	}
	for _, u := range r.Unused {
		out = append(out, "unused "+u.Waiver.Rule+" "+u.Waiver.Origin+": "+u.Why)
	}
	for _, m := range r.Malformed {
		out = append(out, "malformed "+m.Object.Name+": "+m.Why)
	}
	return strings.Join(out, "\n")
}

func TestWaiversHoldForWhatIsBelow(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	day := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		notes [4]string
		file  []check.Waiver
		now   time.Time
		roots []string
		want  string
	}{
		"none": {want: "fake-pod web-1-x\nfake-workload web"},
		"on the Deployment": {
			notes: [4]string{1: "fake-pod=it is small; fake-workload = meant so "},
			want:  "fake-pod web-1-x waived: it is small\nfake-workload web waived: meant so",
		},
		// A Deployment's annotations are copied to its ReplicaSets.
		"copied to the ReplicaSet": {
			notes: [4]string{1: "fake-fine=x\nfake-pod=small", 2: "fake-fine=x\nfake-pod=small"},
			want:  "fake-pod web-1-x waived: small\nfake-workload web\nunused fake-fine annotation of Deployment.apps/shop/web: the rule has no findings there",
		},
		"the nearest one counts": {
			notes: [4]string{0: "fake-pod=the namespace", 1: "fake-pod=the Deployment", 3: "fake-pod=the pod"},
			want: "fake-pod web-1-x waived: the pod\nfake-workload web\nunused fake-pod annotation of Namespace/shop: the rule has no findings there\n" +
				"unused fake-pod annotation of Deployment.apps/shop/web: the rule has no findings there",
		},
		"on the Namespace": {notes: [4]string{0: "fake-workload=a sandbox"}, want: "fake-pod web-1-x\nfake-workload web waived: a sandbox"},
		"what is wrong with annotations": {
			notes: [4]string{1: "fake-pod\nfake-porridge=x;;fake-workload=;fake-pod=one;fake-pod=two"},
			want: "fake-pod web-1-x waived: one\nfake-workload web\nmalformed web: the waiver of fake-pod gives no reason: write fake-pod=reason\n" +
				"malformed web: there is no rule \"fake-porridge\"\nmalformed web: the waiver of fake-workload gives no reason: write fake-workload=reason\nmalformed web: a second waiver of fake-pod: the first one applies",
		},
		"prose": {notes: [4]string{1: "please do"}, want: "fake-pod web-1-x\nfake-workload web\nmalformed web: \"please do\" is not a waiver: write id=reason"},
		"a file": {
			file: []check.Waiver{{Rule: "fake-pod", Reason: "all", Origin: "w:1"}, {Rule: "fake-pod", Object: web, Reason: "web", Origin: "w:2"}},
			want: "fake-pod web-1-x waived: web\nfake-workload web\nunused fake-pod w:1: the rule has no findings in what was checked",
		},
		"a file with kubectl's names": {
			file: []check.Waiver{{Rule: "fake-pod", Object: object.Ref{Kind: "deployments", Namespace: "shop", Name: "web"}, Reason: "web", Origin: "w:2"}},
			want: "fake-pod web-1-x waived: web\nfake-workload web",
		},
		"an annotation before a file": {
			notes: [4]string{1: "fake-workload=said there"}, file: []check.Waiver{{Rule: "fake-workload", Object: web, Reason: "said here", Origin: "w:2"}},
			want: "fake-pod web-1-x\nfake-workload web waived: said there\nunused fake-workload w:2: the rule has no findings there",
		},
		"ended": {
			file: []check.Waiver{{Rule: "fake-pod", Reason: "x", Until: day, Origin: "w:1"}}, now: day.AddDate(0, 0, 1),
			want: "fake-pod web-1-x\nfake-workload web\nunused fake-pod w:1: it expired on 2027-01-31",
		},
		"the last day": {file: []check.Waiver{{Rule: "fake-pod", Reason: "x", Until: day, Origin: "w:1"}}, now: day.Add(24*time.Hour - 1), want: "fake-pod web-1-x waived: x\nfake-workload web"},
		"nothing to waive": {
			file: []check.Waiver{
				{Rule: "fake-pod", Object: object.Ref{Kind: "Deployment", Namespace: "shop", Name: "gone"}, Reason: "x", Origin: "w:1"},
				{Rule: "fake-fine", Reason: "x", Origin: "w:2"},
				{Rule: "fake-pod", Object: object.Ref{Kind: "Deployment", Name: "web"}, Reason: "x", Origin: "w:3"},
				{Rule: "fake-pod", Object: object.Ref{Kind: "Deploymend", Namespace: "shop", Name: "web"}, Reason: "x", Origin: "w:4"},
				{Rule: "fake-pod", Object: object.Ref{Kind: "Namespace", Namespace: "shop", Name: "web"}, Reason: "x", Origin: "w:5"},
			},
			want: "fake-pod web-1-x\nfake-workload web\nunused fake-pod w:3: Deployment/web has no namespace: write Deployment/NAMESPACE/web\n" +
				"unused fake-pod w:4: unknown kind \"Deploymend\" (did you mean deployment?)\nunused fake-pod w:5: Namespace/shop/web has a namespace, and a Namespace is cluster-scoped: write Namespace/web\n" +
				"unused fake-pod w:1: there is no Deployment.apps/shop/gone\nunused fake-fine w:2: the rule has no findings in what was checked",
		},
		// Of what was not asked, or is not decided, nothing is said.
		"not known": {
			file: []check.Waiver{
				{Rule: "fake-pod", Object: object.Ref{Kind: "Deployment", Namespace: "shop", Name: "worker"}, Reason: "x", Origin: "w:1"},
				{Rule: "fake-open", Object: web, Reason: "x", Origin: "w:2"},
				{Rule: "fake-operator", Reason: "x", Origin: "w:3"},
			},
			want: "fake-pod web-1-x\nfake-workload web",
		},
		"worker is asked": {
			file:  []check.Waiver{{Rule: "fake-pod", Object: object.Ref{Kind: "Deployment", Namespace: "shop", Name: "worker"}, Reason: "x", Origin: "w:1"}},
			roots: []string{"Deployment.apps/shop/worker"},
			want:  "fake-pod web-1-x\nfake-workload web\nunused fake-pod w:1: the rule has no findings there",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(reportOf(t, c.notes, c.file, c.now, c.roots...)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestWorst(t *testing.T) {
	for notes, want := range map[string][3]bool{
		"":                               {true, true, true},
		"fake-workload=x":                {false, true, true},
		"fake-workload=x\nfake-pod=x":    {false, false, false},
		"fake-pod=x":                     {true, true, true},
		"fake-workload=x\nfake-pods=typ": {false, true, true},
	} {
		r := reportOf(t, [4]string{1: notes}, nil, time.Time{})
		for i, severity := range check.Severities() {
			if got := r.Worst(severity); got != want[i] {
				t.Errorf("%q: a finding of %s or graver: %v", notes, severity, got)
			}
		}
	}
}

// scoreOf is the score of results in one category.
func scoreOf(results ...*check.Result) check.Score {
	return check.Scored(&check.Subject{Results: results}).All
}

func scoreResult(rule check.Severity, right int, wrong ...check.Severity) *check.Result {
	r := &check.Result{Rule: &check.Rule{ID: "r", Category: check.Security, Severity: rule}}
	for i := range right {
		r.Pass(object.Ref{Kind: "Pod", Name: fmt.Sprint("right", i)})
	}
	for i, severity := range wrong {
		r.AddFinding(check.Finding{Severity: severity, Object: object.Ref{Kind: "Pod", Name: fmt.Sprint("wrong", i)}})
	}
	return r
}

func TestScore(t *testing.T) {
	waived := scoreResult(check.Error, 1, check.Error)
	waived.Findings[0].Waived = &check.Waiver{}
	open := &check.Result{Rule: &check.Rule{Severity: check.Error}, Unknowns: []check.Unknown{{}}}
	never := &check.Result{Rule: &check.Rule{Severity: check.Error, Uncheckable: "x"}, Unknowns: []check.Unknown{{}}}
	twice := scoreResult(check.Warning, 1, check.Warning)
	twice.AddFinding(check.Finding{Severity: check.Info, Object: twice.Findings[0].Object})
	for name, c := range map[string]struct {
		results []*check.Result
		want    string
	}{
		"nothing":                      {nil, "- 0/0"},
		"all right":                    {[]*check.Result{scoreResult(check.Error, 3), scoreResult(check.Info, 1)}, "100 2/2"},
		"all wrong":                    {[]*check.Result{scoreResult(check.Error, 0, check.Error, check.Error)}, "0 0/1"},
		"a half of one":                {[]*check.Result{scoreResult(check.Warning, 1, check.Warning)}, "50 0/1"},
		"by weight":                    {[]*check.Result{scoreResult(check.Error, 1), scoreResult(check.Info, 0, check.Info)}, "80 1/2"},
		"two thirds of 4, and 2":       {[]*check.Result{scoreResult(check.Error, 2, check.Error), scoreResult(check.Warning, 1)}, "77 1/2"},
		"milder than the rule":         {[]*check.Result{scoreResult(check.Error, 0, check.Info)}, "75 0/1"},
		"graver than the rule":         {[]*check.Result{scoreResult(check.Info, 1, check.Error), scoreResult(check.Error, 1)}, "90 1/2"},
		"an object once, the gravest":  {[]*check.Result{twice}, "50 0/1"},
		"never 100 with a finding":     {[]*check.Result{scoreResult(check.Info, 5000, check.Info), scoreResult(check.Error, 1)}, "99 1/2"},
		"what was waived is right":     {[]*check.Result{waived}, "100 1/1 waived 1"},
		"what is open counts for none": {[]*check.Result{open, never, scoreResult(check.Error, 1)}, "100 1/1 open 1 never 1"},
		"only open":                    {[]*check.Result{open}, "- 0/0 open 1"},
	} {
		s := scoreOf(c.results...)
		got := fmt.Sprintf("%s %d/%d", s, s.Kept, s.Of)
		for _, more := range []struct {
			n    int
			word string
		}{{s.Waived, "waived"}, {s.Unknown, "open"}, {s.Uncheckable, "never"}} {
			if more.n > 0 {
				got += fmt.Sprintf(" %s %d", more.word, more.n)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestScoreIsFair: the score is between 0 and 100, does not depend on the order of results,
// grows when a finding is waived, and is 100 only where nothing was found.
func TestScoreIsFair(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 2000 {
		var results []*check.Result
		for range 1 + r.IntN(6) {
			var wrong []check.Severity
			for range r.IntN(4) {
				wrong = append(wrong, check.Severities()[r.IntN(3)])
			}
			results = append(results, scoreResult(check.Severities()[r.IntN(3)], r.IntN(4), wrong...))
		}
		before := scoreOf(results...)
		found := check.Scored(&check.Subject{Results: results}).Found
		none := found[check.Error]+found[check.Warning]+found[check.Info] == 0
		if before.Known() && (before.Value < 0 || before.Value > 100 || (before.Value == 100) != none) {
			t.Fatalf("score %d with %v found", before.Value, found)
		}
		mixed := slices.Clone(results)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if after := scoreOf(mixed...); after.String() != before.String() {
			t.Fatalf("%s in one order, %s in another", before, after)
		}
		for _, result := range results {
			for i := range result.Findings {
				result.Findings[i].Waived = &check.Waiver{}
				if after := scoreOf(results...); before.Known() && after.Value < before.Value {
					t.Fatalf("a waiver takes the score from %s to %s", before, after)
				}
			}
		}
		if after := scoreOf(results...); after.Known() && after.Value != 100 {
			t.Fatalf("all is waived, and the score is %s", after)
		}
	}
}
