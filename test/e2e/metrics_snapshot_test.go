package e2e

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// frozen answers what the API server answered when it was asked for the same the first
// time: so two runs look at the same samples.
func frozen() faults.Effect {
	var mu sync.Mutex
	said := map[string]*httptest.ResponseRecorder{}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		mu.Lock()
		defer mu.Unlock()
		answer, ok := said[r.URL.String()]
		if !ok {
			answer = httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			said[r.URL.String()] = answer
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client has gone
	}
}

// withoutTime is a document without what is said of the moment and of the source.
func (u used) withoutTime() used {
	u.At, u.Notes, u.Gaps = "", nil, nil
	return u
}

// A snapshot gives the same figures as the cluster did when it was taken; one without
// metrics says of no pod what it uses.
func TestMetricsFromASnapshot(t *testing.T) {
	c := shared.Cluster(t)
	settledExample(t, c)
	p := proxy(t, c, "")
	p.Inject(faults.Fault{Effect: frozen(), Match: func(r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/apis/metrics.k8s.io/") || strings.HasSuffix(r.URL.Path, "/stats/summary")
	}})
	dir := t.TempDir()
	with, without := filepath.Join(dir, "with.yaml.gz"), filepath.Join(dir, "without.yaml")
	sysop(t, p.Kubeconfig(), "snapshot", "-n", demo, "-o", with).succeeds(t)
	sysop(t, p.Kubeconfig(), "snapshot", "-n", demo, "-o", without, "--no-metrics").succeeds(t)
	for _, args := range [][]string{
		{},
		{"--containers"},
		{"moodle/moodle-1"},
		{"moodle/moodle-1", "moodle/moodle-2", "--share", "usage"},
		{"mysqlcluster/cluster1"},
		{"--by", "node"},
		{"--by", "label:app"},
		{"--by", "creator"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append(args, "-n", demo, "--no-inferred") // variables are not in it
			want := metricsOf(t, p.Kubeconfig(), args...)
			if want.Total.Measured == 0 || want.Total.Counters.Received == nil {
				t.Fatalf("nothing is measured: %+v", want.Total)
			}
			got := metricsOf(t, "", append(args, "--from", with)...)
			if want, got := rowsOf(want.withoutTime()), rowsOf(got.withoutTime()); !reflect.DeepEqual(want, got) {
				t.Errorf("from the snapshot:\n%+v\nwant as of the cluster:\n%+v", got, want)
			}
			blind := metricsOf(t, "", append(args, "--from", without)...)
			if blind.Total.Pods != want.Total.Pods {
				t.Errorf("%d pods in the snapshot without metrics, want %d", blind.Total.Pods, want.Total.Pods)
			}
			unmeasured(t, blind.Total)
			for _, r := range blind.Rows {
				unmeasured(t, r)
			}
		})
	}
}

// rowsOf is a document as text, line by line, so that a difference can be seen.
func rowsOf(u used) []string {
	var out []string
	var walk func(indent string, r usedRow)
	walk = func(indent string, r usedRow) {
		out = append(out, indent+r.text())
		for _, below := range r.Rows {
			walk(indent+"  ", below)
		}
	}
	walk("", u.Total)
	for _, r := range u.Rows {
		walk("", r)
	}
	return out
}
