package metrics

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestInspect has a metric that is always there, one that began in the window, one that ended, and
// one with a gap.
func TestInspect(t *testing.T) {
	w := Window{fakeBegin, fakeBegin.Add(24 * time.Hour)}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.ParseInt(r.FormValue("time"), 10, 64)
		if err != nil {
			t.Errorf("the time is %q", r.FormValue("time"))
		}
		hour := int(time.Unix(seconds, 0).Sub(w.From) / time.Hour)
		result := []any{}
		for name, there := range map[string]bool{cpuMetric: true, memoryMetric: hour > 12, phaseMetric: hour < 20, infoMetric: hour != 18, "other": true} {
			if there {
				result = append(result, map[string]any{"metric": map[string]string{"metric": name}, "value": []any{1, "1"}})
			}
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}})
	}))
	defer server.Close()
	h, err := NewHistory(server.URL, HistoryOptions{Window: w})
	if err != nil {
		t.Fatal(err)
	}
	all, err := h.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		status Availability
		since  int // hours; -1 for none
	}{cpuMetric: {Present, 0}, memoryMetric: {Partial, 13}, phaseMetric: {Partial, -1}, infoMetric: {Partial, 19}}
	for _, m := range all {
		expected, ok := want[m.Metric]
		if !ok {
			expected.status, expected.since = Absent, -1
		}
		since := -1
		if m.Since != nil {
			since = int(m.Since.Sub(w.From) / time.Hour)
		}
		if m.Status != expected.status || since != expected.since || (m.Consequence == "") != (m.Status == Present) {
			t.Errorf("%s is %+v, since hour %d", m.Metric, m, since)
		}
	}
}

// TestRequiredMetrics holds the facts that windows query to the metrics that the server is asked for.
func TestRequiredMetrics(t *testing.T) {
	asked := (&expressions{}).metrics()
	for _, f := range facts() {
		if !slices.Contains(asked, f.metric) {
			t.Errorf("%s is queried, and the server is not asked whether it has it", f.metric)
		}
	}
}

// TestInspectRules has rules with matchers that labels cannot say: those of the same matchers count.
func TestInspectRules(t *testing.T) {
	const europe = `cluster=~"eu-.*"`
	for matchers, want := range map[string]Availability{europe: Present, `cluster!="dev"`: Absent, "": Absent} {
		s := seriesServer{{"__name__": "sysop:steps", "sysop_matchers": europe, "value": "1"}}
		h, err := NewHistory(s.start(t), HistoryOptions{Window: lastHour(), Matchers: matchers})
		if err != nil {
			t.Fatal(err)
		}
		all, err := h.Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last := all[len(all)-1]; last.Metric != "sysop:steps" || last.Status != want {
			t.Errorf("with %q: %+v, want %s", matchers, last, want)
		}
	}
}
