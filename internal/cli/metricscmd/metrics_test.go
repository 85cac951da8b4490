package metricscmd

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"
)

// evaluated is a server without samples, which keeps the latest moment that it was
// asked about.
type evaluated struct {
	mu   sync.Mutex
	last float64
}

func (e *evaluated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if at, err := strconv.ParseFloat(r.FormValue("time"), 64); err == nil {
		e.mu.Lock()
		e.last = max(e.last, at)
		e.mu.Unlock()
	}
	if strings.Contains(r.URL.Path, "/label/") {
		fmt.Fprint(w, `{"status":"success","data":["kube_pod_info","container_cpu_usage_seconds_total"]}`)
		return
	}
	fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
}

// TestAWindowThatEndsNowMoves asks one question twice, an hour later, as --watch and
// --listen do.
func TestAWindowThatEndsNowMoves(t *testing.T) {
	asked := &evaluated{}
	server := httptest.NewServer(asked)
	defer server.Close()
	now := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)
	for window, moves := range map[string]bool{"1h": true, "2026-11-01/2026-11-02": false} {
		at := now
		env := command.Env{IOStreams: genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard}, Now: func() time.Time { return at }}
		o := &metricsOptions{Common: command.NewCommon(env, "tree"), by: []string{"stack"}, share: "even", shareBy: "even", shareOverhead: "0", interval: time.Minute}
		o.Output, o.window, o.Address = "tree", window, server.URL
		o.focus.Version = focus.Versions()[0]
		o.From = filepath.Join(t.TempDir(), "snapshot.yaml")
		if err := os.WriteFile(o.From, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		q, err := o.question(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ends []float64
		for range 2 {
			asked.last = 0
			if _, err := o.Measure(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, asked.last)
			at = at.Add(time.Hour)
		}
		want := 0.0
		if moves {
			want = time.Hour.Seconds()
		}
		if ends[0] == 0 || ends[1]-ends[0] != want {
			t.Errorf("window %s: asked about %v, then about %v", window, ends[0], ends[1])
		}
	}
}

// A token goes to the server that was named, and nowhere else.
func TestTokenOfPrometheus(t *testing.T) {
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, "elsewhere "+r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("abc.def\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := prometheus.Access{TokenFile: file}.Client(nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if len(seen) != 1 || seen[0] != "Bearer abc.def" {
		t.Errorf("requests %q", seen)
	}
	for text, want := range map[string]string{"": "holds no value", "a b": "holds no token"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (prometheus.Access{TokenFile: file}).Client(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if _, err := (prometheus.Access{TokenFile: file + "none"}).Client(nil); err == nil {
		t.Error("a file that is not there is taken")
	}
}
