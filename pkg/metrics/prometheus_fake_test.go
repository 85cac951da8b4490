package metrics

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeServer answers the queries that a History asks, name{matchers}[range] and
// last_over_time of it, over series in memory, as Prometheus does.
type fakeServer struct {
	series []fakeSeries
	// closed makes ranges closed, as before version 3.
	closed bool
	// most is the number of samples that a query may load; 0 means any.
	most int
	// answer is asked first, and answers where it returns true.
	answer func(w http.ResponseWriter, query string) bool
	// extra is added to every answer (warnings, infos, isPartial).
	extra map[string]any

	mu      sync.Mutex
	queries []url.Values
	headers []http.Header
	methods []string
	paths   []string
}

type fakeSeries struct {
	labels  map[string]string
	samples []fakeSample
}

// fakeSample has its value as text, so that it is sent to the last digit.
type fakeSample struct {
	t int64
	v string
}

func (f *fakeServer) start(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

var (
	fakeQuery   = regexp.MustCompile(`^(last_over_time\()?([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\[(\d+)(ms|s)\]\)?$`)
	fakeMatcher = regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)("(?:[^"\\]|\\.)*")`)
)

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	f.queries = append(f.queries, r.Form)
	f.headers = append(f.headers, r.Header)
	f.methods = append(f.methods, r.Method)
	f.paths = append(f.paths, r.URL.Path)
	f.mu.Unlock()
	query := r.Form.Get("query")
	if f.answer != nil && f.answer(w, query) {
		return
	}
	at, err := strconv.ParseFloat(r.Form.Get("time"), 64)
	if err != nil {
		fakeError(w, http.StatusBadRequest, "bad_data", "time: "+err.Error())
		return
	}
	got, loaded, err := f.evaluate(query, int64(at*1000+0.5))
	switch {
	case err != nil:
		fakeError(w, http.StatusBadRequest, "bad_data", err.Error())
	case f.most > 0 && loaded > f.most:
		fakeError(w, http.StatusUnprocessableEntity, "execution", "query processing would load too many samples into memory in query execution")
	default:
		out := map[string]any{"status": "success", "data": got}
		maps.Copy(out, f.extra)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}
}

func fakeError(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": kind, "error": message})
}

// evaluate returns the data of an answer, and how many samples it took.
func (f *fakeServer) evaluate(query string, at int64) (data any, loaded int, err error) {
	m := fakeQuery.FindStringSubmatch(query)
	if m == nil {
		return nil, 0, fmt.Errorf("parse error: %s", query)
	}
	length, _ := strconv.ParseInt(m[4], 10, 64)
	if m[5] == "s" {
		length *= 1000
	}
	match, err := fakeMatchers(m[3])
	if err != nil {
		return nil, 0, err
	}
	type row struct {
		Metric map[string]string `json:"metric"`
		Values [][]any           `json:"values,omitempty"`
		Value  []any             `json:"value,omitempty"`
	}
	rows := []row{}
	for _, s := range f.series {
		if s.labels["__name__"] != m[2] || !match(s.labels) {
			continue
		}
		r := row{Metric: s.labels}
		for _, x := range s.samples {
			if x.t <= at && (x.t > at-length || f.closed && x.t == at-length) {
				r.Values = append(r.Values, []any{json.Number(formatMillis(x.t)), x.v})
			}
		}
		if len(r.Values) == 0 {
			continue
		}
		loaded += len(r.Values)
		if m[1] != "" {
			last := r.Values[len(r.Values)-1]
			r.Metric = maps.Clone(r.Metric)
			r.Value, r.Values = []any{json.Number(formatMillis(at)), last[1]}, nil
		}
		rows = append(rows, r)
	}
	if m[1] != "" {
		return map[string]any{"resultType": "vector", "result": rows}, 0, nil
	}
	return map[string]any{"resultType": "matrix", "result": rows}, loaded, nil
}

func fakeMatchers(text string) (func(map[string]string) bool, error) {
	var all []func(map[string]string) bool
	for _, m := range fakeMatcher.FindAllStringSubmatch(text, -1) {
		name := m[1]
		value, err := strconv.Unquote(m[3])
		if err != nil {
			return nil, err
		}
		re, err := regexp.Compile("^(?:" + value + ")$")
		if err != nil && strings.HasSuffix(m[2], "~") {
			return nil, err
		}
		switch m[2] {
		case "=":
			all = append(all, func(l map[string]string) bool { return l[name] == value })
		case "!=":
			all = append(all, func(l map[string]string) bool { return l[name] != value })
		case "=~":
			all = append(all, func(l map[string]string) bool { return re.MatchString(l[name]) })
		case "!~":
			all = append(all, func(l map[string]string) bool { return !re.MatchString(l[name]) })
		}
	}
	return func(l map[string]string) bool {
		return !slices.ContainsFunc(all, func(m func(map[string]string) bool) bool { return !m(l) })
	}, nil
}

// add puts a series in: values are in the unit of the metric, each at its moment.
func (f *fakeServer) add(name string, labels map[string]string, samples ...fakeSample) {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels["__name__"] = name
	f.series = append(f.series, fakeSeries{labels: labels, samples: samples})
}

// constant is one value at several moments.
func constant(v string, times ...int64) []fakeSample {
	out := make([]fakeSample, len(times))
	for i, t := range times {
		out[i] = fakeSample{t, v}
	}
	return out
}

// grid is the moments from from to to, both in it.
func grid(from, to, step int64) []int64 {
	var out []int64
	for t := from; t <= to; t += step {
		out = append(out, t)
	}
	return out
}

// fakeBegin is the moment at which the data of tests begin: a round one, in the past.
var fakeBegin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixMilli() //nolint:gochecknoglobals // a constant

func window(from, to int64) Window {
	return Window{From: time.UnixMilli(from).UTC(), To: time.UnixMilli(to).UTC()}
}

// measure reads a window of a server.
func measure(t *testing.T, target string, w Window, seed *UsageReport, change ...func(*HistoryOptions)) *UsageReport {
	t.Helper()
	o := HistoryOptions{Window: w}
	for _, c := range change {
		c(&o)
	}
	h, err := NewHistory(target, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if seed == nil {
		seed = &UsageReport{}
	}
	if err := h.Measure(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	return seed
}
