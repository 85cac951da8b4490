package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// budgetObject is an object of a kind with a list that makes rules expensive.
func budgetObject(kind string, items int) object.Object {
	list := make([]any, items)
	for i := range list {
		list[i] = int64(i)
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "b"},
		"status": map[string]any{"items": list, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	}}
	return object.Object{Ref: object.Ref{Group: "example.com", Kind: kind, Namespace: "b", Name: "a"}, Version: "v1", Meta: u, Body: u}
}

// TestBudgetOfRun has objects that make a rule as expensive as can be. It stops for the rest of
// the run, and says so; the others are asked until the run has spent its budget, too.
func TestBudgetOfRun(t *testing.T) {
	const costly = `status.items.all(a, status.items.all(b, status.items.all(c, a + b + c >= 0)))`
	var rules []Rule
	for i := range 6 {
		rules = append(rules, Rule{Kind: fmt.Sprintf("Widget%d.example.com", i), Origin: "file x.yaml", Healthy: costly})
	}
	rules = append(rules, Rule{Kind: "Cheap.example.com", Healthy: `status.items.size() > 0`})
	j := NewEvaluator(time.Now(), rules...)
	// As in a run, by hundredths, so that the test does not take as long.
	j.budget.limit = maxRunCost / 100
	for _, entries := range j.entries {
		for _, e := range entries {
			e.budget.limit = maxRuleCost / 100
		}
	}
	judged := func(kind string, items, times int) (failed int, h Health) {
		for range times {
			if h = j.Evaluate(budgetObject(kind, items)); h.RuleError != nil {
				failed++
			}
		}
		return failed, h
	}
	failed, h := judged("Widget0", 60, 4)
	if failed == 0 || !strings.Contains(h.RuleError.Error(), "this rule has spent its budget of this run, 500000 units of CEL") || !strings.Contains(h.RuleError.Error(), "Widget0.example.com") {
		t.Errorf("the first rule: %d failed, %+v", failed, h.RuleError)
	}
	if h.Status != Unknown || h.Reason != NoVerdict || !strings.HasPrefix(h.Message, "its health rule was not evaluated: ") {
		t.Errorf("nothing is called Healthy without its rule: %+v", h)
	}
	if failed, h := judged("Cheap", 60, 100); failed != 0 || h.Stage != "entry" {
		t.Errorf("a rule that costs little: %d failed, %+v", failed, h)
	}
	for i := 1; i < 6; i++ {
		judged(fmt.Sprintf("Widget%d", i), 60, 4)
	}
	if failed, h := judged("Cheap", 60, 1); failed != 1 || !strings.Contains(h.RuleError.Error(), "the health rules have spent the budget of this run, 2000000 units of CEL") {
		t.Errorf("after all: %d failed, %+v", failed, h.RuleError)
	}
	// Another run begins anew.
	if h := NewEvaluator(time.Now(), rules...).Evaluate(budgetObject("Cheap", 60)); h.RuleError != nil || h.Stage != "entry" {
		t.Errorf("the next run: %+v", h)
	}
}

// TestBudgetIsFarFromReal holds the budget of a run against what the rules of 100,000 objects cost.
func TestBudgetIsFarFromReal(t *testing.T) {
	j := NewEvaluator(time.Now(), Rule{Kind: "Widget0.example.com", Degraded: `status.?phase.orValue("") == "Failed"`, Progressing: `status.condition("Ready").status == "Unknown"`, Healthy: `status.condition("Ready").status == "True"`, Message: `status.condition("Ready").message`})
	if h := j.Evaluate(budgetObject("Widget0", 5)); h.RuleError != nil || h.Stage != "entry" {
		t.Fatalf("%+v", h)
	}
	if spent := j.budget.spent.Load(); spent == 0 || spent*100_000 > maxRuleCost {
		t.Errorf("an object costs %d units: 100,000 of a kind are more than the %d of a rule", spent, maxRuleCost)
	}
}

// TestBudgetOfEndedExpression: what was ended for its cost is counted.
func TestBudgetOfEndedExpression(t *testing.T) {
	j := NewEvaluator(time.Now(), Rule{Kind: "Widget0.example.com", Healthy: `status.items.all(a, status.items.all(b, status.items.all(c, status.items.all(d, a + b + c + d >= 0))))`})
	start := time.Now()
	if h := j.Evaluate(budgetObject("Widget0", 60)); h.RuleError == nil || !strings.Contains(h.RuleError.Message, "cost limit") {
		t.Fatalf("%+v", h)
	}
	t.Logf("an expression that is ended takes %s", time.Since(start))
	if spent := j.budget.spent.Load(); spent < maxCost {
		t.Errorf("%d units are counted, and %d were spent", spent, maxCost)
	}
}
