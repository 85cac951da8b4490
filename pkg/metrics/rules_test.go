package metrics

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/shopspring/decimal"
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
	if v, ok := r.Pods[0].Used.Lookup(Memory); ok {
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
		f.sums["max(count_over_time(sysop:steps{sysop_matchers=\"\"}["] = []row{{map[string]string{}, 12}}
		h, err := NewHistory(f.start(t), HistoryOptions{Window: w})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.EvaluatedStep(t.Context()); err != nil || got != want {
			t.Errorf("the step with %q is %s (%v), want %s", names, got, err, want)
		}
	}
}

// seriesServer is a server that has series and one sample of each step of the last hour.
type seriesServer []map[string]string

// of returns the series that a selector selects.
func (s seriesServer) of(t *testing.T, selector string) (found []map[string]string) {
	t.Helper()
	name, matchers, _ := strings.Cut(selector, "{")
	all := matcherForm.FindAllString(matchers, -1)
	if name != "" {
		all = append(all, "__name__="+strconv.Quote(name))
	}
	for _, series := range s {
		if !slices.ContainsFunc(all, func(text string) bool {
			m := matcherForm.FindStringSubmatch(text)
			value, err := strconv.Unquote(m[3])
			if err != nil {
				t.Error(err)
			}
			same := series[m[1]] == value
			if strings.HasSuffix(m[2], "~") {
				same = regexp.MustCompile("^(?:" + value + ")$").MatchString(series[m[1]])
			}
			return same == strings.HasPrefix(m[2], "!")
		}) {
			found = append(found, series)
		}
	}
	return found
}

var recordedForm = regexp.MustCompile(`(sysop:[a-z_]+(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?)[[)]`)

// start answers queries of what was recorded; those of samples have no rows.
func (s seriesServer) start(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := []string{}
		if label, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/values"), "/api/v1/label/"); ok {
			for _, selector := range r.URL.Query()["match[]"] {
				for _, series := range s.of(t, selector) {
					if value := series[label]; value != "" && !slices.Contains(data, value) {
						data = append(data, value)
					}
				}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": data})
			return
		}
		result := []any{}
		if m := recordedForm.FindStringSubmatch(r.FormValue("query")); m != nil {
			for _, series := range s.of(t, m[1]) {
				labels := maps.Clone(series)
				labels["metric"] = series["__name__"]
				result = append(result, map[string]any{"metric": labels, "value": []any{1, series["value"]}})
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestRecordedOfOthers has rules whose matchers labels cannot say, and others without matchers: a
// window uses what the rules with its own matchers recorded, also where the samples are gone.
func TestRecordedOfOthers(t *testing.T) {
	recorded := func(pod, matchers string) seriesServer {
		steps := recordedLabels(matchers)
		steps["__name__"], steps["value"] = "sysop:steps", "12"
		running := maps.Clone(steps)
		running["__name__"], running["namespace"], running["pod"], running["uid"] = "sysop:pod_running", "shop", pod, pod
		return seriesServer{steps, running}
	}
	raw := seriesServer{{"__name__": phaseMetric, "cluster": "eu-1"}, {"__name__": phaseMetric, "cluster": "dev"}}
	const europe, notDev, one = `cluster=~"eu-.*"`, `cluster!="dev"`, `cluster="eu-1"`
	for _, c := range []struct {
		name, matchers string
		server         seriesServer
		want           string // the pod that ran
	}{
		{"no matchers, other rules", "", slices.Concat(raw, recorded("europe", europe)), ""},
		{"no matchers", "", slices.Concat(raw, recorded("europe", europe), recorded("plain", "")), "plain"},
		{"a negative matcher, other rules", notDev, slices.Concat(raw, recorded("europe", europe), recorded("plain", "")), ""},
		{"a negative matcher", notDev, slices.Concat(raw, recorded("europe", europe), recorded("own", notDev)), "own"},
		{"several values, rules of one", europe, slices.Concat(raw, recorded("one", one)), ""},
		{"several values", europe, slices.Concat(raw, recorded("one", one), recorded("own", europe)), "own"},
		{"one value", one, slices.Concat(raw, recorded("one", one), recorded("more", one+","+notDev)), "one"},
		{"samples that are gone", europe, recorded("own", europe), "own"},
		{"samples that are gone, without matchers", "", recorded("plain", ""), "plain"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := measure(t, c.server.start(t), lastHour(), func(o *HistoryOptions) { o.Matchers, o.Step = c.matchers, ruleStep })
			got := ""
			for i := range r.Pods {
				got += r.Pods[i].Ref.Name
			}
			if got != c.want {
				t.Errorf("pods that ran are %q, want %q; notes %+v", got, c.want, r.Notes)
			}
		})
	}
}

// TestRecordedRequests has a pod of whose requests only the spec knows, and no samples: what was
// recorded of it counts.
func TestRecordedRequests(t *testing.T) {
	labels := map[string]string{"namespace": "shop", "pod": "web", "uid": uidA, "resource": "cpu", "value": "3600000000000"}
	charged, requested, running := maps.Clone(labels), maps.Clone(labels), maps.Clone(labels)
	charged["__name__"], requested["__name__"], running["__name__"] = "sysop:pod_charged", "sysop:pod_requested", "sysop:pod_running"
	s := seriesServer{{"__name__": "sysop:steps", "value": "12"}, charged, requested, running}
	h, err := NewHistory(s.start(t), HistoryOptions{Window: lastHour(), Step: ruleStep})
	if err != nil {
		t.Fatal(err)
	}
	r := &UsageReport{Pods: []Pod{{Ref: object.Ref{Kind: "Pod", Namespace: "shop", Name: "web"}, UID: uidA, Requested: AmountsOf(map[Resource]decimal.Decimal{CPU: decimal.NewFromInt(1)})}}}
	if err := h.Measure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if len(r.Pods) != 1 || r.Pods[0].Charged.Value(CPU).IsZero() || r.Pods[0].Requested.Value(CPU).IsZero() {
		t.Errorf("pods are %+v", r.Pods)
	}
}
