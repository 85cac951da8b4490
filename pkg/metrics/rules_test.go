package metrics

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRuleLabels has matchers of one value, which are labels of what is recorded, and others.
func TestRuleLabels(t *testing.T) {
	for _, r := range Rules("cluster=\"eu-1\", tenant = 'a\"b', zone=~\"x=.*\", stage!=\"dev\", namespace=\"shop\"") {
		if r.Labels["cluster"] != "eu-1" || r.Labels["tenant"] != `a"b` || r.Labels["zone"] != "" || r.Labels["stage"] != "" {
			t.Fatalf("labels of %s are %v", r.Record, r.Labels)
		}
		if text := r.Labels["sysop_matchers"]; !strings.Contains(text, `stage!="dev"`) {
			t.Errorf("%s has the matchers %q", r.Record, text)
		}
		if _, ok := r.Labels["namespace"]; ok && r.Record == "sysop:pod_running" {
			t.Errorf("%s loses its namespaces: %v", r.Record, r.Labels)
		}
	}
	if r := Rules("")[0]; len(r.Labels) != 0 {
		t.Errorf("labels without matchers are %v", r.Labels)
	}
}

// TestRefusedHalf has a server that answers a half of a window and refuses the other one, of one
// quantity: that half is not its figure.
func TestRefusedHalf(t *testing.T) {
	f := steady()
	f.longest = 30 * time.Minute
	var asked atomic.Int64
	f.answer = func(w http.ResponseWriter, query string) bool {
		half := rangeOf(query) <= f.longest && strings.Contains(query, memoryMetric) && !strings.Contains(query, cpuMetric)
		if !half || !strings.Contains(query, "by (namespace,pod,uid,container)") || asked.Add(1) == 1 {
			return false
		}
		fakeError(w, http.StatusBadRequest, "execution", "no")
		return true
	}
	r := measure(t, f.start(t), lastHour())
	if v, ok := r.Pods[0].Used[Memory]; ok {
		t.Errorf("memory is %s", v)
	}
	if n := note(r, "Refused"); n.Subject != "container_memory_used" {
		t.Errorf("note is %+v", n)
	}
}

// TestEvaluatedStep has recording rules that cover a window of 40 days, of which steps have 15
// minutes otherwise.
func TestEvaluatedStep(t *testing.T) {
	w := Window{fakeBegin.Add(-40 * 24 * time.Hour), fakeBegin}
	for names, want := range map[string]time.Duration{"": 15 * time.Minute, "sysop:steps": RuleInterval} {
		f := steady()
		f.names = append(f.names, names)
		f.sums["max(count_over_time(sysop:steps["] = []row{{map[string]string{}, 12}}
		h, err := NewHistory(f.start(t), nil, HistoryOptions{Window: w})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.EvaluatedStep(t.Context()); err != nil || got != want {
			t.Errorf("the step with %q is %s (%v), want %s", names, got, err, want)
		}
	}
}
