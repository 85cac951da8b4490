package all

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// appOf is the app of a System with one root of its name.
func appOf(name, group, kind, namespace string) check.SystemApp {
	return check.SystemApp{Name: name, Roots: []object.Ref{{Group: group, Kind: kind, Namespace: namespace, Name: name}}}
}

// lastBackup makes a world know of a good backup of a claim, of an age.
func lastBackup(w *checktest.World, namespace, claim string, age time.Duration) {
	w.Now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	w.Copies = []check.Copy{{
		Record: object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: claim + "-backup"}, Time: w.Now.Add(-age),
		Parts: []check.CopiedPart{{Object: object.Ref{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: claim}}},
	}}
}

// TestBadTripsEveryRule checks the deliberately bad operator and its application.
func TestBadTripsEveryRule(t *testing.T) {
	found := map[string]int{}
	w := checktest.Read(t, operator.Find, checktest.Directory(t, "../testdata/bad"))
	w.System = &check.System{
		Apps:        []check.SystemApp{appOf("front", "apps", "Deployment", "apart"), appOf("store", "apps", "Deployment", "apart"), appOf("cache", "", "Service", "apart")},
		Connections: []check.SystemConnection{{From: "store", To: "front", Port: "sql"}},
	}
	lastBackup(w, "bad", "files", 3*24*time.Hour)
	for _, s := range w.Subjects(Rules()) {
		for _, r := range s.Results {
			found[r.Rule.ID] += len(r.Findings)
		}
	}
	for _, r := range Rules() {
		if r.Uncheckable == "" && found[r.ID] == 0 {
			t.Errorf("rule %s finds nothing wrong in testdata/bad", r.ID)
		}
	}
}

// TestGoodTripsNone checks the good one: every rule has something to look at there, and
// nothing is wrong or left open.
func TestGoodTripsNone(t *testing.T) {
	right := map[string]int{}
	w := checktest.Read(t, operator.Find, checktest.Directory(t, "../testdata/good"))
	w.System = &check.System{
		Apps:        []check.SystemApp{appOf("main", "example.com", "Shop", "shop"), appOf("shop-operator", "apps", "Deployment", "shop-operator")},
		Connections: []check.SystemConnection{{From: "shop-operator", To: "main", Port: "8080"}},
	}
	w.System.Namespace, w.System.Apps[1].NotScaled = "shop", true
	lastBackup(w, "shop", "media", 20*time.Hour)
	for _, s := range w.Subjects(Rules()) {
		for _, r := range s.Results {
			right[r.Rule.ID] += len(r.Passed)
			for _, f := range r.Findings {
				t.Errorf("%s %s: %s: %s %s = %q", s.Scope, s.Name, r.Rule.ID, f.Object, f.Field, f.Value)
				t.Log(f.Message)
			}
			for _, o := range r.Unknowns {
				if r.Rule.Uncheckable == "" {
					t.Errorf("%s %s: %s: not decided: %s: %s", s.Scope, s.Name, r.Rule.ID, o.Object, o.Reason)
				}
			}
		}
	}
	for _, r := range Rules() {
		if r.Uncheckable == "" && right[r.ID] == 0 {
			t.Errorf("rule %s has nothing to look at in testdata/good", r.ID)
		}
	}
}

// TestRulesAreWhole says that each rule has all that a reader needs, and an ID of its own.
func TestRulesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.ID == "" || seen[r.ID] {
			t.Errorf("rule %q occurs twice, or has no ID", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.Why == "" || r.Severity == 0 || len(r.Guidelines) == 0 || !slices.Contains(check.Categories(), r.Category) {
			t.Errorf("rule %s lacks a word: %+v", r.ID, r)
		}
		if strings.HasSuffix(r.Title, ".") || strings.ToUpper(r.Title[:1]) != r.Title[:1] && !strings.HasPrefix(r.Title, "kubectl") {
			t.Errorf("rule %s: the title %q has a capital and no full stop", r.ID, r.Title)
		}
		set := 0
		for _, is := range []bool{r.Definition != nil, r.Operator != nil, r.Stack != nil, r.Uncheckable != ""} {
			if is {
				set++
			}
		}
		if set != 1 {
			t.Errorf("rule %s looks at %d kinds of subjects, wants one", r.ID, set)
		}
		if r.Fix == "" && r.Uncheckable == "" {
			t.Errorf("rule %s says no way out", r.ID)
		}
	}
}
