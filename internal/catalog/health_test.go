package catalog_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// now is long after the objects of the fixtures were made.
var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestHealth holds the rules of health against the fixtures of testdata/health: a
// section "KIND STATUS" has objects, the rule of the kind says that status of each,
// and every state that a rule names is there; "KIND VERSION STATUS" has those of the
// first version of a rule for some versions only. Nothing that is not Healthy is called so
// by the judge as a whole.
func TestHealth(t *testing.T) {
	rules := catalog.Health(nil)
	judge := health.NewEvaluator(now, rules...)
	seen := map[string]int{}
	files, _ := filepath.Glob(filepath.Join(dir, "testdata", "health", "*.txtar"))
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range archive.Files {
			words := strings.Fields(section.Name)
			kind, status := strings.Join(words[:len(words)-1], " "), words[len(words)-1]
			seen[section.Name]++
			for i, o := range fixtures(t, kind, section.Data) {
				h := judge.Evaluate(o)
				if string(h.Status) != status || h.Stage != "entry" || h.Reason == "" {
					t.Errorf("%s: %s, object %d: %+v", filepath.Base(file), section.Name, i+1, h)
				}
				if h.RuleError != nil {
					t.Errorf("%s: %s, object %d: %v", filepath.Base(file), section.Name, i+1, h.RuleError)
				}
			}
		}
	}
	known := 0
	for _, r := range rules {
		for status, expression := range map[health.Status]string{health.Degraded: r.Degraded, health.Progressing: r.Progressing, health.Suspended: r.Suspended, health.Unknown: r.Derived, health.Healthy: r.Healthy} {
			section := fmt.Sprintf("%s %s", versioned(&r), status)
			if n := seen[section]; expression != "" && n != 1 {
				t.Errorf("%s: %d sections in the fixtures, want one", section, n)
			}
			delete(seen, section)
			known++
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
	for section := range seen {
		t.Errorf("%s: no rule says this", section)
	}
	if known < 70 {
		t.Errorf("%d states are known", known)
	}
}

// versioned is the kind of a rule, with the first of its versions where it has some.
func versioned(r *health.Rule) string {
	if len(r.Versions) == 0 {
		return r.Kind
	}
	return r.Kind + " " + r.Versions[0]
}

// fixtures reads the objects of a section: each is written without its kind and name. They
// are of version v1, where the kind is not followed by another one.
func fixtures(t *testing.T, kind string, data []byte) []object.Object {
	t.Helper()
	kind, version, _ := strings.Cut(kind, " ")
	version = cmp.Or(version, "v1")
	gk := declare.GroupKind(kind)
	var all []object.Object
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var fields map[string]any
		err := dec.Decode(&fields)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		u := &unstructured.Unstructured{Object: asJSON(fields).(map[string]any)}
		u.SetAPIVersion(gk.Group + "/" + version)
		u.SetKind(gk.Kind)
		u.SetName("it")
		u.SetGeneration(1)
		u.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Hour)))
		all = append(all, object.Object{Ref: object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: "shop", Name: "it"}, Version: version, Meta: u, Body: u})
	}
}

// asJSON makes the numbers of YAML those of JSON, as objects have them.
func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asJSON(v[k])
		}
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case int:
		return int64(v)
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return v
}

// TestHealthOfSilence: no rule calls an object without a status healthy because of a
// field that somebody will write yet. Kinds of which the status says nothing are those
// whose rule is true of all.
func TestHealthOfSilence(t *testing.T) {
	rules := catalog.Health(nil)
	judge := health.NewEvaluator(now, rules...)
	for _, r := range rules {
		for _, o := range fixtures(t, versioned(&r), []byte("spec: {}\n---\nspec: {}\nstatus: {}\n")) {
			if h := judge.Evaluate(o); (h.Status == health.Healthy) != (r.Healthy == "true") {
				t.Errorf("%s, without a status: %+v", r.Kind, h)
			}
			if h := judge.Evaluate(o); h.Status == health.Degraded || h.RuleError != nil {
				t.Errorf("%s, without a status: %+v", r.Kind, h)
			}
		}
		for _, o := range fixtures(t, versioned(&r), []byte("status: {nothingKnown: 1, conditions: [{type: Nothing, status: Known}]}\n")) {
			if h := judge.Evaluate(o); h.RuleError != nil {
				t.Errorf("%s, with a status that says nothing: %+v", r.Kind, h)
			}
		}
	}
}

// TestHealthParse: what is wrong with the health of a kind is told, where it stands.
func TestHealthParse(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: widget
title: Widget operator
description: Makes widgets.
source: https://example.com/widget
kinds:
- {kind: Widget.example.com, versions: [v1], health: HEALTH}
relations: []
`
	for given, want := range map[string]string{
		"{source: a, healthy: 'true'}": "",
		"{source: a}":                  "8:54 it is empty: expected degraded, progressing, suspended or healthy",
		"{healthy: 'true'}":            "8:54 source is missing",
		"[{source: a, healthy: 'true', versions: [v1]}, {source: a, degraded: 'true', versions: v2}]": "",
		"[{source: a, healthy: 'true', versions: [v1]}, {source: a, degraded: 'true', versions: v1}]": "8:101 a second rule for the kind v1: expected one",
		"[{source: a, healthy: 'true', versions: [v1]}, {source: a, degraded: 'true'}]":               "8:101 a second rule for the kind: expected one, or one for each of its versions (versions)",
		"{source: a, healthy: 'true', versions: 1.2}":                                                 "8:93 \"1.2\" is not an API version: expected v1, v1beta2 or the like",
		"{source: a, healthy: 'true', versions: []}":                                                  "8:93 the list of versions is empty",
		"[]":                                 "8:54 expected a rule, or a list of rules for different versions",
		"{source: a, healthy: statu.x == 1}": "8:75 healthy: undeclared reference to 'statu' (in container '')",
		"{source: a, helthy: 'true', degraded: status}": "8:66 unknown key \"helthy\" (did you mean healthy?); 8:92 degraded: it gives a map(string, dyn): expected a bool; compare it with a value, as in status.ready == true",
	} {
		_, problems := catalog.Parse("widget", []byte(strings.Replace(text, "HEALTH", given, 1)))
		var told []string
		for _, p := range problems {
			told = append(told, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message))
		}
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", given, got, want)
		}
	}
}

// TestHealthServed: rules are given for the kinds that are there.
func TestHealthServed(t *testing.T) {
	kinds := object.NewKinds([]object.Resource{{Group: "cert-manager.io", Version: "v1", Kind: "Certificate", Plural: "certificates", Namespaced: true, Custom: true}})
	rules := catalog.Health(kinds)
	if len(rules) != 1 || rules[0].Kind != "Certificate.cert-manager.io" || rules[0].Origin != "catalog cert-manager" {
		t.Errorf("got %+v", rules)
	}
}
