package health_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// widget reads the rest of a custom resource of the kind Widget.example.com.
func widget(t testing.TB, rest string) object.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop, creationTimestamp: \"2026-05-01T10:00:00Z\"}\n" + rest))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object.Object{Ref: object.Ref{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "w"}, Version: "v1", Meta: u, Body: u}
}

const ready = `status.condition("Ready").status == `

// TestRule: the first expression that is true decides, and its words are those of the
// conditions that it names.
func TestRule(t *testing.T) {
	rule := health.Rule{
		Kind:        "Widget.example.com",
		Origin:      "file x.yaml",
		Degraded:    ready + `"False"`,
		Progressing: `status.?phase.orValue("") == "Starting"`,
		Suspended:   `spec.?halted.orValue(false) == true || spec.?held.orValue(false) == true || status.phase == "Held"`,
		Healthy:     ready + `"True"`,
	}
	since := `, lastTransitionTime: "2026-05-01T11:00:00Z"}]}`
	for _, c := range []struct{ name, rest, want string }{
		{"a field that is not there", `status: {ready: 1}`, "Unknown NoVerdict: its status has no known health condition 2026-05-01T10:00:00Z; the expression suspended of Widget.example.com (file x.yaml) fails on it: no such key: phase"},
		{"degraded", `status: {phase: Starting, conditions: [{type: Ready, status: "False", reason: NoDisk, message: the disk is full` + since, "Degraded NoDisk: the disk is full 2026-05-01T11:00:00Z entry"},
		{"progressing", `status: {phase: Starting}`, "Progressing Starting: entry"},
		{"words of the status", `status: {phase: Starting, message: two of three}`, "Progressing Starting: two of three entry"},
		{"suspended", "spec: {halted: true}\nstatus: {phase: Up, conditions: [{type: Ready, status: \"True\"}]}", "Suspended Up: entry"},
		{"suspended without a status", `spec: {halted: true}`, "Suspended Suspended: entry"},
		{"suspended whatever its status", `spec: {held: true}`, "Suspended Suspended: entry"},
		{"no status", `spec: {}`, "Unknown NoStatus: it has no status 2026-05-01T10:00:00Z"},
		{"healthy", `status: {phase: Up, conditions: [{type: Ready, status: "True", reason: Up` + since, "Healthy Up: 2026-05-01T11:00:00Z entry"},
		{"a condition of another type", `status: {phase: Up, conditions: [{type: Readier, status: "True"}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := health.NewEvaluator(noon, rule).Evaluate(widget(t, strings.TrimSpace(c.rest)))
			if got := rankedFinding(h); c.want != "" && got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			if h.Status == health.Healthy && c.name != "healthy" {
				t.Errorf("it is called healthy: %+v", h)
			}
		})
	}
}

func rankedFinding(h health.Health) string {
	out := fmt.Sprintf("%s %s: %s", h.Status, h.Reason, h.Message)
	if !h.Since.IsZero() {
		out += " " + h.Since.UTC().Format(time.RFC3339)
	}
	out = strings.ReplaceAll(strings.TrimSpace(out+" "+h.Stage), ":  ", ": ")
	if h.RuleError != nil {
		out += "; " + h.RuleError.Error()
	}
	return out
}

// TestRuleMessage: a message is an expression; where it fails the verdict stands, and it is
// told that it failed.
func TestRuleMessage(t *testing.T) {
	for message, want := range map[string]string{
		`"only " + string(status.ready) + " are ready"`: "only 2 are ready",
		`status.?note.orValue("")`:                      "the condition says so",
		`status.note`:                                   "the condition says so; no such key: note",
	} {
		rule := health.Rule{Kind: "Widget.example.com", Degraded: ready + `"False"`, Message: message}
		h := health.NewEvaluator(noon, rule).Evaluate(widget(t, `status: {ready: 2, conditions: [{type: Ready, status: "False", message: the condition says so}]}`))
		wantMessage := h.Message
		if h.RuleError != nil && h.RuleError.Field == "message" {
			wantMessage += "; " + h.RuleError.Message
		}
		if h.Status != health.Degraded || wantMessage != want {
			t.Errorf("%s: %+v, want %s", message, h, want)
		}
	}
}

// TestRuleSum: the parts of a whole are counted.
func TestRuleSum(t *testing.T) {
	for rest, want := range map[string]health.Status{
		"spec: {sets: [{count: 2}, {count: 1}]}\nstatus: {nodes: 3}":   health.Healthy,
		"spec: {sets: [{count: 2}, {count: 2}]}\nstatus: {nodes: 3}":   health.Degraded,
		"spec: {sets: []}\nstatus: {nodes: 0}":                         health.Healthy,
		"spec: {sets: [{count: 2}, {count: '1'}]}\nstatus: {nodes: 3}": health.Unknown,
	} {
		h := health.NewEvaluator(noon, health.Rule{Kind: "Widget.example.com", Degraded: `status.nodes < spec.sets.map(s, s.count).sum()`, Healthy: `true`}).Evaluate(widget(t, rest))
		if h.Status != want {
			t.Errorf("%s: %+v", rest, h)
		}
	}
}

// TestRuleFails: a rule that cannot be evaluated on an object says nothing of it: the
// general stages judge, and it is told why.
func TestRuleFails(t *testing.T) {
	for expression, want := range map[string]string{
		`status.phase == "Up"`: "no such key: phase",
		`status.items.all(a, status.items.all(b, status.items.all(c, status.items.all(d, a + b + c + d >= 0))))`: "cost limit",
		`status.name > 3`: "no such overload",
	} {
		rule := health.Rule{Kind: "Widget.example.com", Origin: "file x.yaml", Healthy: expression}
		for conditions, status := range map[string]health.Status{
			"": health.Unknown, `, conditions: [{type: Ready, status: "True"}]`: health.Healthy, `, conditions: [{type: Failed, status: "True"}]`: health.Degraded,
		} {
			h := health.NewEvaluator(noon, rule).Evaluate(widget(t, "status: {name: a, items: ["+strings.Repeat("1, ", 60)+"]"+conditions+"}"))
			if h.Status != status || h.Stage == "entry" || h.RuleError == nil || !strings.Contains(h.RuleError.Message, want) || h.RuleError.Field != "healthy" || h.RuleError.Origin != "file x.yaml" {
				t.Errorf("%s: %+v", expression, h)
			}
		}
	}
}

// TestRuleObserved: a status that the rule says to be of an older object says nothing of it.
func TestRuleObserved(t *testing.T) {
	for expression, want := range map[string]health.Status{
		`status.seen`:                        health.Progressing,
		`status.seen == metadata.generation`: health.Progressing,
		`status.seen == 1`:                   health.Healthy,
		`int(metadata.generation)`:           health.Healthy,
		`status.nothing == 1`:                health.Healthy,
		`status.words`:                       health.Healthy,
	} {
		rule := health.Rule{Kind: "Widget.example.com", Observed: expression, Healthy: ready + `"True"`}
		o := widget(t, `status: {seen: 1, words: many, conditions: [{type: Ready, status: "True"}]}`)
		o.Meta.SetGeneration(2)
		h := health.NewEvaluator(noon, rule).Evaluate(o)
		failed := expression == "status.nothing == 1" || expression == "status.words"
		if h.Status != want || (h.RuleError != nil) != failed || want == health.Progressing && h.Reason != health.ReasonNotObserved {
			t.Errorf("%s: %+v, want %s", expression, h, want)
		}
	}
	if err := (health.Rule{Kind: "Widget.example.com", Healthy: "true", Observed: `"1"`}).Check(); err == nil {
		t.Error("a text as a generation: no error")
	}
}

// TestRuleNulls: what is null is absent, as where a file has an empty key.
func TestRuleNulls(t *testing.T) {
	rule := health.Rule{
		Kind:      "Widget.example.com",
		Suspended: `"paused" in metadata.?annotations.orValue({}) || spec.?mode.orValue("run") == "stop"`,
		Degraded:  `status.?parts.orValue([]).exists(p, p.?state.orValue("").endsWith("Failed"))`,
		Healthy:   ready + `"True"`,
	}
	const conditions = `conditions: [{type: Ready, status: "True"}]`
	for _, rest := range []string{
		"metadata: {name: w, annotations: null}\nspec: null\nstatus: {parts: null, " + conditions + "}",
		"spec: {mode: null}\nstatus: {parts: [null, {state: null}, {}], " + conditions + "}",
	} {
		if h := health.NewEvaluator(noon, rule).Evaluate(widget(t, rest)); h.Status != health.Healthy || h.Stage != "entry" || h.RuleError != nil {
			t.Errorf("%s: %+v", rest, h)
		}
	}
	if h := health.NewEvaluator(noon, rule).Evaluate(widget(t, "status: {parts: [null, {state: ItFailed}], "+conditions+"}")); h.Status != health.Degraded {
		t.Errorf("got %+v", h)
	}
}

// TestProbe: an expression that fails where a field is absent, null or empty is found.
func TestProbe(t *testing.T) {
	for expression, want := range map[string]string{
		`status.phase == "Up"`:                                                      "no such key: phase",
		`status.?phase.orValue("") == "Up"`:                                         "",
		`has(status.phase) && status.phase == "Up"`:                                 "",
		`status.?phase.orValue("") == "Up" && status.reason == "A"`:                 "no such key: reason",
		`status.?parts.orValue([]).exists(p, p.state == "bad")`:                     "no such key: state",
		`status.?parts.orValue([]).exists(p, p.condition("Ready").status == "bad")`: "",
		`status.?by.orValue({}).exists(n, status.by[n].state == 2)`:                 "no such key: state",
		`status.?ready.orValue(0) < spec.replicas`:                                  "no such key: replicas",
		`metadata.annotations["a/b"] == "c"`:                                        "no such key: annotations",
		`"a/b" in metadata.?annotations.orValue({})`:                                "",
		`status.condition("A").reason.matches("x")`:                                 "",
		`spec.nodeSets.map(n, n.?count.orValue(0)).sum() > 3`:                       "no such key: nodeSets",
		`size(status.?list.orValue([])) > 0 && status.list[0].?a.orValue("") == ""`: "",
		`status.?list.orValue([]).filter(l, l.?a.orValue("") == "x")[0].b == "y"`:   "index out of bounds: 0",
	} {
		failures, err := health.Rule{Kind: "Widget.example.com", Origin: "file x.yaml", Degraded: expression}.Probe()
		if err != nil {
			t.Errorf("%s: %v", expression, err)
		}
		found := want == ""
		for _, f := range failures {
			found = found || f.Message == want
		}
		if !found || want == "" && len(failures) > 0 {
			t.Errorf("%s: %+v, want %s", expression, failures, want)
		}
	}
	if _, err := (health.Rule{Kind: "Widget.example.com", Degraded: "statu.x"}).Probe(); err == nil {
		t.Error("a rule that does not compile: no error")
	}
}

// TestRuleWithheld: what the entry does not call healthy is not called so by others.
func TestRuleWithheld(t *testing.T) {
	o := widget(t, `status: {phase: Running, conditions: [{type: Ready, status: "True"}]}`)
	for _, rule := range []health.Rule{
		{Kind: "Widget.example.com", Healthy: `status.?deep.orValue("") == "yes"`},
		{Kind: "Widget.example.com", Healthy: `false`},
	} {
		if h := health.NewEvaluator(noon, rule).Evaluate(o); h.Status == health.Healthy {
			t.Errorf("%s: %+v", rule.Healthy, h)
		}
	}
}

// TestRuleOfBuiltIn: a user's rule for a built-in kind sees its fields, too; of what was
// read as metadata nothing is asked.
func TestRuleOfBuiltIn(t *testing.T) {
	judge := health.NewEvaluator(noon, health.Rule{Kind: "Deployment.apps", Degraded: `metadata.name == "web" && status.readyReplicas < 2`})
	o := object.Object{Ref: object.Ref{Group: "apps", Kind: "Deployment", Name: "web"}, Version: "v1"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Status: appsv1.DeploymentStatus{ReadyReplicas: 1}}
	o.Meta, o.Body = d, d
	if h := judge.Evaluate(o); h.Status != health.Degraded || h.Stage != "entry" {
		t.Errorf("got %+v", h)
	}
	p := &metav1.PartialObjectMetadata{ObjectMeta: d.ObjectMeta}
	o.Meta, o.Body = p, p
	if h := judge.Evaluate(o); h.Stage == "entry" {
		t.Errorf("of metadata alone: %+v", h)
	}
}

// TestCheck: what does not compile is refused, with its place.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		rule         health.Rule
		field        string
		line, column int
		message      string
	}{
		{health.Rule{Degraded: `status.x ==`}, "degraded", 1, 12, "Syntax error"},
		{health.Rule{Degraded: "true", Progressing: "true ||\n  statu.x == 1"}, "progressing", 2, 3, "undeclared reference to 'statu'"},
		{health.Rule{Suspended: `spec.suspend`}, "suspended", 1, 1, "expected a bool"},
		{health.Rule{Healthy: `"yes"`}, "healthy", 1, 1, "it gives a string: expected a bool"},
		{health.Rule{Healthy: `true`, Message: `1 + 1`}, "message", 1, 1, "it gives a int: expected a string"},
		{health.Rule{Healthy: `status.condition(1).status == ""`}, "healthy", 1, 17, "no matching overload"},
	} {
		c.rule.Kind = "Widget.example.com"
		var wrong *health.ExpressionError
		if err := c.rule.Check(); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", c.rule, err)
			continue
		}
		if wrong.Field != c.field || wrong.Line != c.line || wrong.Column != c.column || !strings.Contains(wrong.Message, c.message) || wrong.Kind != c.rule.Kind {
			t.Errorf("%+v: got %v", c.rule, wrong)
		}
	}
	if err := (health.Rule{Kind: "Widget.example.com", Degraded: ready + `"False"`, Message: `status.message`}).Check(); err != nil {
		t.Error(err)
	}
	if h := health.NewEvaluator(noon, health.Rule{Kind: "Widget.example.com", Healthy: "tru"}).Evaluate(widget(t, "status: {a: 1}")); h.Status != health.Unknown || h.RuleError == nil || h.RuleError.Field != "" {
		t.Errorf("a rule that nobody checked: %+v", h)
	}
}

// TestParseRules: all that is wrong in a file is told, where it stands.
func TestParseRules(t *testing.T) {
	const good = `
- kind: Widget.example.com
  source: https://example.com
  degraded: status.condition("Ready").status == "False"
---
kind: Gadget.example.com
healthy: |
  status.ready == true
`
	rules, problems := health.ParseRules("x.yaml", []byte(good))
	if len(problems) > 0 || len(rules) != 2 || rules[1].Kind != "Gadget.example.com" || rules[0].Origin != "file x.yaml" {
		t.Fatalf("got %+v, %v", rules, problems)
	}
	for text, want := range map[string]string{
		"":       "1:1 the file is empty: expected a list of rules",
		"# none": "1:1 the file is empty: expected a list of rules",
		"- {kind: Widget.example.com, degradedd: 'true'}":                "1:30 unknown key \"degradedd\" (did you mean degraded?)",
		"- {kind: Widget.example.com}":                                   "1:3 the rule is empty: expected degraded, progressing, suspended, derived or healthy",
		"- {healthy: 'true'}":                                            "1:3 kind is missing",
		"- {kind: widgets/x, healthy: 'true'}":                           "1:10 \"widgets/x\" is not a kind: write Kind.group, as Certificate.cert-manager.io",
		"- {kind: A.b, healthy: 'true'}\n- {kind: A.b, healthy: 'true'}": "2:10 a second rule for A.b: expected one, or one for each of its versions (versions)",
		"- {kind: A.b, healthy: 'true', versions: [v1, v2]}\n- {kind: A.b, healthy: 'true', versions: [v3, v2]}": "2:42 a second rule for A.b v2: expected one",
		"- {kind: A.b, healthy: 'true', versions: one}":                                                          "1:42 \"one\" is not an API version: expected v1, v1beta2 or the like",
		"- kind: A.b\n  healthy: statu.x == 1":                                                                   "2:12 healthy: undeclared reference to 'statu' (in container '')",
		"- kind: A.b\n  healthy: 'spec.x == ''a'' && statu.x == 1'":                                              "2:32 healthy: undeclared reference to 'statu' (in container '')",
		"- kind: A.b\n  healthy: |\n    spec.x == 1 ||\n\n    spec.y == statu":                                   "5:15 healthy: undeclared reference to 'statu' (in container '')",
		"- kind: A.b\n  healthy: >-  # folded\n    spec.x == 1 ||\n    spec.y == statu":                          "4:15 healthy: undeclared reference to 'statu' (in container '')",
		"- kind: A.b\n  healthy: \"spec.x == \\\"é\\\" || statu\"":                                               "2:32 healthy: undeclared reference to 'statu' (in container '')",
		"- kind: A.b\n  healthy: spec.x == 1 ||\n    statu == 2":                                                 "3:5 healthy: undeclared reference to 'statu' (in container '')",
	} {
		_, problems := health.ParseRules("x.yaml", []byte(text))
		if len(problems) != 1 {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		if got := fmt.Sprintf("%d:%d %s", problems[0].Line, problems[0].Column, problems[0].Message); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestRuleVersions: a rule for some versions of a kind says nothing of objects of others. An
// object whose version is not known is judged by the first rule.
func TestRuleVersions(t *testing.T) {
	rules, problems := health.ParseRules("x.yaml", []byte(`
- {kind: Widget.example.com, versions: v1beta1, degraded: 'status.condition("Ready").status == "False"'}
- {kind: Widget.example.com, versions: [v1, v1beta2], healthy: 'status.condition("Ready").status == "False"', revision: '"new"', observed: 'status.?seen.orValue(1)'}
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	// The catalogue's rule is for the versions that the user's rules leave.
	rules = append(rules, health.Rule{Kind: "Widget.example.com", Suspended: `status.condition("Ready").status == "False"`})
	judge := health.NewEvaluator(noon, rules...)
	for version, want := range map[string]health.Status{"v1beta1": health.Degraded, "v1": health.Healthy, "v1beta2": health.Healthy, "v2": health.Suspended, "": health.Degraded} {
		o := widget(t, `status: {conditions: [{type: Ready, status: "False"}]}`)
		o.Version = version
		h := judge.Evaluate(o)
		if h.Status != want || h.Stage != "entry" || (h.History != nil) != (want == health.Healthy) {
			t.Errorf("%q: %+v, want %s", version, h, want)
		}
		o = widget(t, `status: {seen: 0, conditions: [{type: Ready, status: "False"}]}`)
		o.Meta.SetGeneration(1)
		o.Version = version
		if h := judge.Evaluate(o); (h.Reason == health.ReasonNotObserved) != (want == health.Healthy) {
			t.Errorf("%q, behind: %+v", version, h)
		}
	}
}

// TestRuleAtOnce: a judge is asked by several at once.
func TestRuleAtOnce(t *testing.T) {
	judge := health.NewEvaluator(noon, health.Rule{Kind: "Widget.example.com", Degraded: `status.condition("A").status == "True" || status.condition("B").status == "True" || status.condition("C").status == "True"`})
	o := widget(t, `status: {conditions: [{type: C, status: "True", message: m}]}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if h := judge.Evaluate(o); h.Status != health.Degraded || h.Message != "m" {
					t.Errorf("got %+v", h)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkRule(b *testing.B) {
	judge := health.NewEvaluator(noon, health.Rule{
		Kind: "Widget.example.com", Degraded: ready + `"False"`, Progressing: `status.?phase.orValue("") in ["Starting", "Pending"]`,
		Suspended: `spec.?suspend.orValue(false) == true`, Healthy: ready + `"True"`,
	})
	o := widget(b, `status: {phase: Running, conditions: [{type: Ready, status: "True", message: m}]}`)
	for b.Loop() {
		judge.Evaluate(o)
	}
}

// FuzzParseRules: whatever stands in a file, what is wrong is told at a place in it, and
// what is not can be asked.
func FuzzParseRules(f *testing.F) {
	f.Add("- {kind: A.b, healthy: 'statu.x'}")
	f.Add("kind: A.b\nhealthy: |\n  status.x ==\n   \"é\" || nothing\n---\n- degraded: >-\n    1 +\n")
	f.Add("- kind: &a A.b\n  healthy: *a\n- kind: A.b\n  message: \"a\\\n    b\"\n  healthy: !!str true\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules, problems := health.ParseRules("x.yaml", []byte(text))
		lines := strings.Split(text, "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Line > len(lines)+1 || p.Message == "" {
				t.Errorf("%q: %+v", text, p)
			}
		}
		if len(problems) > 0 {
			return
		}
		for _, r := range rules {
			if err := r.Check(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
