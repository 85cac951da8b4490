package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// talk is stderr, read while it is written.
type talk struct {
	mu   sync.Mutex
	text bytes.Buffer
	// told gets the first URL that is written.
	told chan string
}

var servedAt = regexp.MustCompile(`http://[^ ,]+/metrics`)

func (w *talk) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if url := servedAt.FindString(string(p)); url != "" {
		w.told <- url
	}
	return w.text.Write(p)
}

func (w *talk) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// served is a server on a real socket.
type served struct {
	t    *testing.T
	url  string
	talk *talk
	// clock is the time, in nanoseconds.
	clock atomic.Int64
	stop  context.CancelFunc
	ended chan error
}

const testInterval = time.Minute

// startServing starts a server whose clock stands still.
func startServing(t *testing.T, addr string, compute func(context.Context) (view.Output, error)) *served {
	t.Helper()
	s := &served{t: t, talk: &talk{told: make(chan string, 1)}, ended: make(chan error, 1)}
	s.clock.Store(time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC).UnixNano())
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	o := MetricsOptions{Address: addr, Compute: compute, Interval: testInterval, Now: func() time.Time { return time.Unix(0, s.clock.Load()) }, ErrOut: s.talk}
	go func() { s.ended <- ServeMetrics(ctx, o) }()
	select {
	case s.url = <-s.talk.told:
	case err := <-s.ended:
		t.Fatalf("serve: %v", err)
	}
	t.Cleanup(func() { stop() })
	return s
}

func (s *served) later(d time.Duration) { s.clock.Add(int64(d)) }

// get returns the status and the body of a scrape.
func (s *served) get(accept string) (int, string, http.Header) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

// value reads a sample without labels from a scrape, by the parser of Prometheus'
// libraries.
func value(t *testing.T, body, name string) float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	read, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	f := read[name]
	if f == nil {
		t.Fatalf("no %s in\n%s", name, body)
	}
	return f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
}

// figure answers with how often it was asked.
func figure(n int64) view.Output {
	return view.Output{Families: []view.Family{{Name: "sysop_asked", Type: view.Gauge, Help: "Times.", Samples: []view.Sample{{Value: fmt.Sprint(n)}}}}}
}

func TestServeComputesAtMostEveryInterval(t *testing.T) {
	var asked atomic.Int64
	s := startServing(t, "127.0.0.1:0", func(context.Context) (view.Output, error) { return figure(asked.Add(1)), nil })
	if n := asked.Load(); n != 0 {
		t.Errorf("computed %d times before anybody asked", n)
	}
	want, computed := 0.0, int64(0)
	for i, c := range []struct {
		later time.Duration
		anew  bool
	}{{0, true}, {0, false}, {testInterval - 1, false}, {1, true}, {0, false}, {10 * testInterval, true}} {
		if s.later(c.later); c.anew {
			want, computed = want+1, s.clock.Load()
		}
		status, body, _ := s.get("")
		if got := value(t, body, "sysop_asked"); status != http.StatusOK || got != want {
			t.Errorf("scrape %d: status %d, computation %v, want %v", i, status, got, want)
		}
		if got := value(t, body, "sysop_last_success_timestamp_seconds"); got != float64(computed)/1e9 {
			t.Errorf("scrape %d: computed at %f, want %d ns", i, got, computed)
		}
	}
}

func TestServeComputesOnceForManyScrapers(t *testing.T) {
	var asked, under, most atomic.Int64
	release := make(chan struct{})
	began := make(chan struct{}, 100)
	s := startServing(t, "127.0.0.1:0", func(context.Context) (view.Output, error) {
		most.Store(max(most.Load(), under.Add(1)))
		defer under.Add(-1)
		began <- struct{}{}
		<-release
		return figure(asked.Add(1)), nil
	})
	// A scraper that gives up stops nothing.
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
		if err == nil {
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		}
	}()
	<-began
	giveUp()
	<-gone
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if status, body, _ := s.get(""); status != http.StatusOK || value(t, body, "sysop_asked") != 1 {
				t.Errorf("status %d:\n%s", status, body)
			}
		})
	}
	close(release)
	all.Wait()
	if asked.Load() != 1 || most.Load() != 1 {
		t.Errorf("computed %d times, %d at once", asked.Load(), most.Load())
	}
}

func TestServeKeepsTheLastFiguresForAWhile(t *testing.T) {
	var broken atomic.Bool
	var asked atomic.Int64
	s := startServing(t, "127.0.0.1:0", func(context.Context) (view.Output, error) {
		if n := asked.Add(1); !broken.Load() {
			return figure(n), nil
		}
		return view.Output{}, errors.New("list pods in shop: the server is \x1b[31mgone")
	})
	s.get("")
	broken.Store(true)
	for failures := 1; failures <= staleAfter; failures++ {
		s.later(testInterval)
		status, body, _ := s.get("")
		if status != http.StatusOK || value(t, body, "sysop_asked") != 1 || value(t, body, "sysop_errors_total") != float64(failures) {
			t.Errorf("after %d failures: status %d\n%s", failures, status, body)
		}
		s.get("") // Not computed again within the interval, though it failed.
	}
	s.later(testInterval)
	if status, body, _ := s.get(""); status != http.StatusServiceUnavailable || body != "list pods in shop: the server is \\x1b[31mgone\n" {
		t.Errorf("figures that are too old: status %d, %q", status, body)
	}
	if got := strings.Count(s.talk.String(), "warning: list pods in shop: the server is \\x1b[31mgone\n"); got != staleAfter+1 {
		t.Errorf("told %d times:\n%s", got, s.talk)
	}
	broken.Store(false)
	s.later(testInterval)
	if status, body, _ := s.get(""); status != http.StatusOK || value(t, body, "sysop_asked") != staleAfter+3 {
		t.Errorf("when it works again: status %d\n%s", status, body)
	}
}

func TestServeHasNothingToShowYet(t *testing.T) {
	s := startServing(t, "127.0.0.1:0", func(context.Context) (view.Output, error) { return view.Output{}, errors.New("no cluster") })
	if status, body, _ := s.get(""); status != http.StatusServiceUnavailable || body != "no cluster\n" {
		t.Errorf("status %d, %q", status, body)
	}
}

func TestServeWritesWhatIsAskedFor(t *testing.T) {
	s := startServing(t, "127.0.0.1:0", func(context.Context) (view.Output, error) { return figure(1), nil })
	for accept, open := range map[string]bool{
		"":    false,
		"*/*": false,
		// Prometheus 2 and 3.
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1":                           true,
		"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;q=0.3,*/*;q=0.2": true,
		"application/openmetrics-text":                                      true,
		"application/openmetrics-text;version=0.0.1":                        false,
		"application/openmetrics-text; version=2.0.0":                       false,
		"text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.8": false,
		"application/openmetrics-text;q=0":                                  false,
		"application/openmetrics-text;q=x, ;;":                              false,
		"application/json":                                                  false,
	} {
		status, body, head := s.get(accept)
		kind := "text/plain; version=0.0.4; charset=utf-8"
		if open {
			kind = "application/openmetrics-text; version=1.0.0; charset=utf-8"
		}
		if status != http.StatusOK || head.Get("Content-Type") != kind || strings.HasSuffix(body, "# EOF\n") != open {
			t.Errorf("%q: status %d, %s:\n%s", accept, status, head.Get("Content-Type"), body)
		}
	}
}

func TestServeAnswersToItsOwnAddress(t *testing.T) {
	s := startServing(t, ":0", func(context.Context) (view.Output, error) { return figure(1), nil })
	if !strings.HasPrefix(s.url, "http://127.0.0.1:") {
		t.Errorf("no host is served at %s", s.url)
	}
	for _, c := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "/metrics", "", http.StatusOK},
		{"HEAD", "/metrics", "", http.StatusOK},
		{"GET", "/metrics", "localhost:9090", http.StatusOK},
		{"GET", "/metrics", "[::1]:9090", http.StatusOK},
		{"GET", "/metrics", "rebound.example.com", http.StatusForbidden},
		{"GET", "/metrics", "10.0.0.1", http.StatusForbidden},
		{"POST", "/metrics", "", http.StatusMethodNotAllowed},
		{"GET", "/", "", http.StatusOK},
		{"GET", "/other", "", http.StatusNotFound},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, strings.TrimSuffix(s.url, "/metrics")+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			req.Host = c.host
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%v: status %d", c, resp.StatusCode)
		}
	}
	if strings.Contains(s.talk.String(), "warning") {
		t.Errorf("told:\n%s", s.talk)
	}
}

func TestServeWarnsWhereOthersReachIt(t *testing.T) {
	s := startServing(t, "0.0.0.0:0", func(context.Context) (view.Output, error) { return figure(1), nil })
	if !strings.Contains(s.talk.String(), "can be reached from other machines") {
		t.Errorf("told:\n%s", s.talk)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	began := make(chan struct{})
	s := startServing(t, "127.0.0.1:0", func(ctx context.Context) (view.Output, error) {
		close(began)
		<-ctx.Done()
		return view.Output{}, ctx.Err()
	})
	answered := make(chan int, 1)
	go func() {
		status, _, _ := s.get("")
		answered <- status
	}()
	<-began
	s.stop()
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if status := <-answered; status != http.StatusServiceUnavailable {
		t.Errorf("the scrape under way: status %d", status)
	}
	if strings.Contains(s.talk.String(), "warning") {
		t.Errorf("told:\n%s", s.talk)
	}
}

func TestServeRefusesAddresses(t *testing.T) {
	s := startServing(t, "127.0.0.1:0", func(context.Context) (view.Output, error) { return figure(1), nil })
	taken := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/metrics")
	for _, addr := range []string{"127.0.0.1", "", "127.0.0.1:x", "[::1", taken} {
		err := ServeMetrics(t.Context(), MetricsOptions{Address: addr, Interval: testInterval, Now: time.Now, ErrOut: io.Discard})
		if err == nil || hint.For(err) == "" || !strings.HasPrefix(err.Error(), "listen at ") {
			t.Errorf("%q: %v", addr, err)
		}
	}
}
