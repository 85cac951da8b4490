package metrics

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

// cannedServer is a server of which the names of metrics and the sums of quantities are known:
// what queries mean is tested with a real Prometheus, in test/e2e.
type cannedServer struct {
	// names are the metrics that it has.
	names []string
	// sums are what it answers to the query that contains a text, per hour of its range.
	sums map[string][]row
	// longest is the range that it answers; 0 means any.
	longest time.Duration
	// answer is asked first, and answers where it returns true.
	answer func(w http.ResponseWriter, query string) bool
	// extra is added to every answer (warnings, infos, isPartial).
	extra map[string]any

	mu       sync.Mutex
	requests []request
}

type request struct {
	method, path string
	header       http.Header
	form         url.Values
}

func (f *cannedServer) start(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func (f *cannedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	f.requests = append(f.requests, request{r.Method, r.URL.Path, r.Header, r.Form})
	f.mu.Unlock()
	query := r.Form.Get("query")
	if f.answer != nil && f.answer(w, query) {
		return
	}
	if strings.Contains(r.URL.Path, "/label/") {
		names := []string{}
		if strings.Contains(r.URL.Path, "__name__") {
			names = f.names
		}
		f.write(w, names)
		return
	}
	over := rangeOf(query)
	if f.longest > 0 && over > f.longest {
		fakeError(w, http.StatusUnprocessableEntity, "execution", "query processing would load too many samples into memory in query execution")
		return
	}
	type vector struct {
		Metric map[string]string `json:"metric"`
		Value  [2]any            `json:"value"`
	}
	result := []vector{}
	for text, rows := range f.sums {
		if !strings.HasPrefix(query, text) {
			continue
		}
		for _, r := range rows {
			result = append(result, vector{r.labels, [2]any{1, fmt.Sprint(r.value * int64(over/time.Minute) / 60)}})
		}
	}
	f.write(w, map[string]any{"resultType": "vector", "result": result})
}

func (f *cannedServer) write(w http.ResponseWriter, data any) {
	out := map[string]any{"status": "success", "data": data}
	maps.Copy(out, f.extra)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// rangeOf is the range of the outermost subquery of a query, in whole minutes.
func rangeOf(query string) time.Duration {
	at := strings.LastIndex(query, "[")
	text, _, _ := strings.Cut(query[at+1:], ":")
	text, _, _ = strings.Cut(text, "]")
	d, _ := model.ParseDuration(text)
	return time.Duration(d).Round(time.Minute)
}

func fakeError(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": kind, "error": message})
}

// fakeBegin is the moment at which the data of tests begin: a round one, in the past.
var fakeBegin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// measure measures a window with a server.
func measure(t *testing.T, target string, w Window, change ...func(*HistoryOptions)) *UsageReport {
	t.Helper()
	o := HistoryOptions{Window: w}
	for _, c := range change {
		c(&o)
	}
	h, err := NewHistory(target, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &UsageReport{}
	if err := h.Measure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}
