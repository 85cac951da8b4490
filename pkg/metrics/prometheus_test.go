package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

const uidA = "11111111-2222-3333-4444-555555555555"

func equal(t *testing.T, what string, got decimal.Decimal, want string) {
	t.Helper()
	if w := decimal.RequireFromString(want); !got.Round(15).Equal(w.Round(15)) {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// steady is a server with one container that uses a core and 1000 bytes.
func steady() *cannedServer {
	labels := map[string]string{"namespace": "shop", "pod": "web-1", "uid": uidA, "container": "web"}
	return &cannedServer{
		names: []string{cpuMetric, memoryMetric, startMetric},
		sums: map[string][]row{
			"sum_over_time((sum by (namespace,pod,uid,container) (round(":               {{labels, 3_600_000_000}},
			"sum_over_time((sum by (namespace,pod,uid,container) (label":                {{labels, 60_000}},
			"sum_over_time(((sum by (namespace,pod,uid,container) (label":               {{labels, 60_000}},
			"sum_over_time((sum_over_time((sum by (namespace,pod,uid,container) (label": {{labels, 60_000}},
		},
	}
}

// lastHour is a window of an hour.
func lastHour() Window { return Window{fakeBegin.Add(3 * time.Hour), fakeBegin.Add(4 * time.Hour)} }

func TestAddressErrors(t *testing.T) {
	for address, want := range map[string]string{
		"":                              "http://prometheus:9090",
		"prometheus:9090":               "not an http or https URL",
		"ftp://prometheus":              "not an http or https URL",
		"http://":                       "not an http or https URL",
		"http://u:secret@p ro:9090":     "not an http or https URL",
		"http://prometheus:9090/?a=b":   "a query or a fragment",
		"http://prometheus:9090/#graph": "a query or a fragment",
	} {
		_, err := NewHistory(address, HistoryOptions{Window: lastHour()})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error is %v, want one with %q", address, err, want)
		}
	}
	if _, err := NewHistory("http://a", HistoryOptions{}); err == nil {
		t.Error("no window is no error")
	}
}

// TestDirect looks at what is sent: the path, who asks, and that a long query is posted.
func TestDirect(t *testing.T) {
	f := steady()
	server := httptest.NewServer(http.StripPrefix("/prometheus", f))
	defer server.Close()
	target := strings.Replace(server.URL, "http://", "http://ann:pa%20ss@", 1) + "/prometheus/"
	r := measure(t, target, lastHour(), func(o *HistoryOptions) {
		o.Namespaces = append(manyNamespaces(), "shop", "b.c")
	})
	equal(t, "CPU", r.Pods[0].Used.Value(CPU), "1")
	f.mu.Lock()
	defer f.mu.Unlock()
	posted, got := 0, 0
	for i, r := range f.requests {
		user, password, _ := (&http.Request{Header: r.header}).BasicAuth()
		if user != "ann" || password != "pa ss" || !strings.HasPrefix(r.path, "/api/v1/") {
			t.Fatalf("request %d is of %q to %s", i, user, r.path)
		}
		query := r.form.Get("query")
		switch {
		case query == "" || strings.HasPrefix(query, "sum_over_time(((group("): // steps are of the cluster
			continue
		case r.method == http.MethodPost:
			posted++
		default:
			got++
		}
		if !strings.Contains(query, `namespace=~"a-rather`) || !strings.Contains(query, `|b\\.c|shop"`) {
			t.Errorf("query %s is of all namespaces", query)
		}
	}
	if posted == 0 || got != 0 {
		t.Errorf("of long queries %d are posted, %d are not", posted, got)
	}
}

// TestLongQueries has proxies that refuse long URLs, or to post: by either way each query arrives.
func TestLongQueries(t *testing.T) {
	for name, status := range map[string]int{"posts": http.StatusOK, "forbids to post": http.StatusForbidden, "knows no POST": http.StatusMethodNotAllowed} {
		t.Run(name, func(t *testing.T) {
			f := steady()
			var refused, long atomic.Int64
			proxy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost && status != http.StatusOK:
					refused.Add(1)
					w.WriteHeader(status)
				case r.Method == http.MethodGet && status == http.StatusOK && len(r.URL.String()) > 8<<10:
					w.WriteHeader(http.StatusRequestURITooLong)
				default:
					if r.Method == http.MethodPost || len(r.URL.String()) > 8<<10 {
						long.Add(1)
					}
					f.ServeHTTP(w, r)
				}
			})
			server := httptest.NewServer(proxy)
			defer server.Close()
			r := measure(t, server.URL, lastHour(), func(o *HistoryOptions) { o.Namespaces = append(manyNamespaces(), "shop") })
			equal(t, name, r.Pods[0].Used.Value(CPU), "1")
			if long.Load() == 0 || refused.Load() > parallel || (refused.Load() > 0) != (status != http.StatusOK) {
				t.Errorf("%d long queries arrived, POST was refused %d times", long.Load(), refused.Load())
			}
		})
	}
}

// manyNamespaces have names that make every query long.
func manyNamespaces() []string {
	var out []string
	for i := range 400 {
		out = append(out, "a-rather-long-namespace-"+strconv.Itoa(i))
	}
	return out
}

// TestSplits has a server that evaluates only short ranges: the queries are divided, the
// figures the same.
func TestSplits(t *testing.T) {
	for _, longest := range []time.Duration{7 * time.Minute, 20 * time.Minute, 59 * time.Minute} {
		f := steady()
		f.longest = longest
		r := measure(t, f.start(t), lastHour())
		equal(t, "memory", r.Pods[0].Used.Value(Memory), "1000")
		for _, n := range r.Notes {
			if n.Reason == "Refused" {
				t.Errorf("at most %s: %+v", longest, n)
			}
		}
	}
}

// TestRefused has a server that will not answer one metric: it is told, and the others
// stand.
func TestRefused(t *testing.T) {
	f := steady()
	f.answer = func(w http.ResponseWriter, query string) bool {
		if !strings.Contains(query, memoryMetric) || strings.Contains(query, cpuMetric) {
			return false
		}
		fakeError(w, http.StatusUnprocessableEntity, "execution", "query processing would load too many samples into memory in query execution")
		return true
	}
	r := measure(t, f.start(t), lastHour())
	equal(t, "CPU", r.Pods[0].Used.Value(CPU), "1")
	if _, ok := r.Pods[0].Used.Lookup(Memory); ok {
		t.Error("memory is known")
	}
	n := note(r, "Refused")
	for _, m := range r.Notes {
		if m.Subject == "container_memory_used" {
			n = m
		}
	}
	if !n.LowersFigures || n.Subject != "container_memory_used" || !strings.Contains(n.Message, "too many samples") {
		t.Errorf("note is %+v", n)
	}
}

func note(r *UsageReport, reason string) Note {
	for _, n := range r.Notes {
		if n.Reason == reason {
			return n
		}
	}
	return Note{}
}

// TestWarnings has a server that says that its answers are not whole.
func TestWarnings(t *testing.T) {
	f := steady()
	f.extra = map[string]any{
		"warnings": []string{"results truncated due to limit"}, "infos": []string{"PromQL info: metric might not be a counter"}, "isPartial": true,
	}
	r := measure(t, f.start(t), lastHour())
	var marked, plain int
	for _, n := range r.Notes {
		switch {
		case n.Reason == "Warning" && n.LowersFigures:
			marked++
		case n.Reason == "Info" && !n.LowersFigures:
			plain++
		}
	}
	if marked != 2 || plain != 1 {
		t.Errorf("notes are %+v", r.Notes)
	}
	equal(t, "CPU", r.Pods[0].Used.Value(CPU), "1")
}

// TestBroken has servers that are none, or stop answering: the error says so, and the
// reading is left as it was.
func TestBroken(t *testing.T) {
	page := func(status int, kind, body string) func(http.ResponseWriter, string) bool {
		return func(w http.ResponseWriter, _ string) bool {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, string) bool
		want   string
	}{
		"a page to log in":     {page(200, "text/html", "<html>Log in</html>"), "web page"},
		"a page with 401":      {page(401, "text/html", "<html>Log in</html>"), "access is denied"},
		"forbidden":            {page(403, "application/json", `{"status":"error","errorType":"forbidden","error":"tenant is not yours"}`), "tenant is not yours"},
		"no right to proxy":    {page(403, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"services \"prometheus\" is forbidden","reason":"Forbidden","code":403}`), `403: services "prometheus" is forbidden`},
		"not found":            {page(404, "text/plain", "404 page not found"), "is a path missing"},
		"other JSON":           {page(200, "application/json", `{"kind":"Status"}`), "not a response of Prometheus'"},
		"a scalar":             {page(200, "application/json", `{"status":"success","data":{"resultType":"scalar","result":[]}}`), "are no list"},
		"an empty tenant":      {page(200, "application/json", `{"status":"success","data":[]}`), "a tenant or label matchers"},
		"too many requests":    {page(429, "text/plain", "rate limit"), "429"},
		"nothing":              {page(200, "application/json", ``), "the body is empty"},
		"half of the JSON":     {page(200, "application/json", `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"2"],[2,`), "cut off"},
		"a bad gateway":        {page(502, "text/html", "<html>Bad gateway</html>"), "502"},
		"every query is wrong": {page(400, "application/json", `{"status":"error","errorType":"bad_data","error":"parse error"}`), "parse error"},
		"a body that is cut": {func(w http.ResponseWriter, _ string) bool {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"status":`))
			return true
		}, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &cannedServer{answer: c.answer}
			err := failure(t, f.start(t))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("error is %v, want one with %q and the server", err, c.want)
			}
		})
	}
}

// failure measures with a server that will fail, without a pause between tries.
func failure(t *testing.T, target string) error {
	t.Helper()
	h, err := NewHistory(target, HistoryOptions{Window: lastHour()})
	if err != nil {
		t.Fatal(err)
	}
	h.server.wait = func(context.Context, time.Duration) error { return nil }
	r := UsageReport{}
	err = h.Measure(t.Context(), &r)
	if err != nil && (!r.From.IsZero() || len(r.Pods) > 0) {
		t.Errorf("the reading was changed: %+v", r)
	}
	return err
}

// TestStops has a server that goes away within the window.
func TestStops(t *testing.T) {
	f := steady()
	var n atomic.Int64
	f.answer = func(http.ResponseWriter, string) bool {
		if n.Add(1) >= 6 {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if err := failure(t, f.start(t)); err == nil || !strings.Contains(err.Error(), "query http://127.0.0.1") || strings.Contains(err.Error(), "query=") {
		t.Errorf("error is %v, want a short one that names the server", err)
	}
}

// TestTries has a server that is away for a moment.
func TestTries(t *testing.T) {
	f := steady()
	var n atomic.Int64
	f.answer = func(w http.ResponseWriter, _ string) bool {
		if n.Add(1)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}
	h, err := NewHistory(f.start(t), HistoryOptions{Window: lastHour()})
	if err != nil {
		t.Fatal(err)
	}
	// One query at a time, so that each is refused twice.
	h.server.wait = func(context.Context, time.Duration) error { return nil }
	slot := make(chan struct{}, 1)
	h.server.client.Transport = roundTrip(func(r *http.Request) (resp *http.Response, err error) {
		slot <- struct{}{}
		defer func() { <-slot }()
		for range 3 {
			if resp, err = http.DefaultTransport.RoundTrip(r); err != nil || resp.StatusCode == http.StatusOK {
				break
			}
		}
		return resp, err
	})
	var r UsageReport
	if err := h.Measure(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	equal(t, "CPU", r.Pods[0].Used.Value(CPU), "1")
}

// TestCancel ends the context while a query is under way.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &cannedServer{answer: func(http.ResponseWriter, string) bool { cancel(); return false }}
	h, err := NewHistory(f.start(t), HistoryOptions{Window: lastHour()})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Measure(ctx, &UsageReport{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that the context ended", err)
	}
}

// TestSlow has a server that answers no query over more than ten minutes in time, and says so
// as Prometheus does.
func TestSlow(t *testing.T) {
	f := steady()
	f.answer = func(w http.ResponseWriter, query string) bool {
		if query != "" && rangeOf(query) > 10*time.Minute {
			fakeError(w, http.StatusServiceUnavailable, "timeout", "query timed out in expression evaluation")
			return true
		}
		return false
	}
	equal(t, "memory", measure(t, f.start(t), lastHour()).Pods[0].Used.Value(Memory), "1000")
}

// TestCancelled ends the context while the server does not answer: it ends at once.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	f := &cannedServer{answer: func(http.ResponseWriter, string) bool { cancel(); <-release; return true }}
	server := httptest.NewServer(f)
	h, err := NewHistory(server.URL, HistoryOptions{Window: lastHour()})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Measure(ctx, &UsageReport{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that the context ended", err)
	}
}

// TestSilentServer has a server that never answers: after the time that a query has, the
// error says so.
func TestSilentServer(t *testing.T) {
	h, err := NewHistory("http://127.0.0.1:1", HistoryOptions{Window: lastHour(), Timeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	h.server.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	var refused *QueryError
	if err := h.Measure(t.Context(), &UsageReport{}); !errors.As(err, &refused) || refused.Type != "timeout" {
		t.Errorf("error is %v, want that no answer came", err)
	}
	if n := asked.Load(); n > 4*parallel {
		t.Errorf("it was asked %d times", n)
	}
}

// TestPieces has a long window: it is asked in pieces that servers evaluate, and the number of
// queries is told as they are answered.
func TestPieces(t *testing.T) {
	f := steady()
	var answered, needed int
	r := measure(t, f.start(t), Window{fakeBegin, fakeBegin.AddDate(0, 0, 30)}, func(o *HistoryOptions) {
		o.Progress = func(a, n int) { answered, needed = a, n }
	})
	equal(t, "memory", r.Pods[0].Used.Value(Memory), "720000")
	if answered != needed || answered < 20 {
		t.Errorf("%d of %d queries were answered", answered, needed)
	}
	for _, q := range f.requests {
		if over := rangeOf(q.form.Get("query")); q.form.Get("query") != "" && (over > 72*time.Hour || over%(5*time.Minute) != 0) {
			t.Errorf("a query is over %s: %s", over, q.form.Get("query"))
		}
	}
}

// TestSteps: the step follows from the window, and a window has a whole one.
func TestSteps(t *testing.T) {
	for days, want := range map[int]time.Duration{1: time.Minute, 2: time.Minute, 7: 5 * time.Minute, 31: 5 * time.Minute, 90: 15 * time.Minute, 365: time.Hour} {
		if got := StepFor(Window{fakeBegin, fakeBegin.AddDate(0, 0, days)}); got != want {
			t.Errorf("the step of %d days is %s, want %s", days, got, want)
		}
	}
	for want, o := range map[string]HistoryOptions{
		"no whole step": {Window: Window{fakeBegin.Add(time.Second), fakeBegin.Add(50 * time.Second)}},
		"write one of":  {Window: lastHour(), Step: 7 * time.Minute},
	} {
		if _, err := NewHistory("http://a", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}

// A question that a server sends on would go to another host with all that is in it.
func TestDirectIsNotRedirected(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the question went elsewhere") }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	if err := failure(t, server.URL); err == nil || !strings.Contains(err.Error(), "redirects elsewhere") && !strings.Contains(err.Error(), "307") {
		t.Errorf("error is %v, want that the server redirects", err)
	}
}

// roundTrip is a function that sends requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
