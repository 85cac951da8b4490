package metrics_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// server is an API server that answers what it was told to, and counts.
type server struct {
	mu      sync.Mutex
	answers map[string]answer
	asked   map[string]int
	flying  int
	most    int
}

type answer struct {
	code   int
	reason metav1.StatusReason
	body   string
	hold   chan struct{} // is waited for, where there is one, after came was told
	came   chan struct{}
}

func ok(body any) answer {
	text, isText := body.(string)
	if !isText {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	return answer{code: http.StatusOK, body: text}
}

func forbidden() answer {
	return answer{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden}
}

// get starts the server, and returns the requests of a cluster to it.
func (s *server) get(t *testing.T) metrics.GetFunc {
	t.Helper()
	s.asked = map[string]int{}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	c, err := source.NewCluster(source.ClusterOptions{Config: &rest.Config{Host: h.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Get
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.flying++
	s.most = max(s.most, s.flying)
	a, known := s.answers[r.URL.Path]
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flying--
	}()
	if a.hold != nil {
		a.came <- struct{}{}
		<-a.hold
	}
	switch {
	case !known:
		http.Error(w, "404 page not found", http.StatusNotFound)
	case a.reason != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.code)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: int32(a.code), Reason: a.reason, Message: fmt.Sprintf("%s is %s here", r.URL.Path, a.reason),
		})
	case a.code != http.StatusOK:
		http.Error(w, a.body, a.code)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(a.body))
	}
}

// requests returns how often each path was asked for, and how often in all.
func (s *server) requests(containing string) (map[string]int, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, all := map[string]int{}, 0
	for path, n := range s.asked {
		if strings.Contains(path, containing) {
			out[path] = n
			all += n
		}
	}
	return out, all
}

var now = time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC)

func podRef(ns, name string) object.Ref {
	return object.Ref{Kind: "Pod", Namespace: ns, Name: name}
}

// podsOf returns a reading of pods "ns/name" or "ns/name@node", which are in order
// and have run for an hour.
func podsOf(names ...string) *metrics.UsageReport {
	r := &metrics.UsageReport{To: now}
	for _, name := range names {
		name, node, _ := strings.Cut(name, "@")
		ns, name, _ := strings.Cut(name, "/")
		r.Pods = append(r.Pods, metrics.Pod{
			Ref: podRef(ns, name), UID: uidOf(name), Node: node, Started: now.Add(-time.Hour),
			Containers: []metrics.Container{{Name: "a"}, {Name: "b"}},
		})
	}
	return r
}

func measure(t *testing.T, s metrics.Source, r *metrics.UsageReport) {
	t.Helper()
	if err := s.Measure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// has compares an amount; "" stands for one that is not known.
func has(t *testing.T, what string, a metrics.Amounts, res metrics.Resource, want string) {
	t.Helper()
	got := ""
	if d, ok := a.Lookup(res); ok {
		got = d.String()
	}
	if got != want {
		t.Errorf("%s: %s is %q, want %q", what, res, got, want)
	}
}
