package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// A Stop to many targets writes to a bounded number of them at a time, costs little, and is
// taken back whole.
func TestRegulateManyTargets(t *testing.T) {
	t.Parallel()
	const (
		targets = 200
		atOnce  = 16
		budget  = 5 * time.Second // of CPU, though the race detector runs along
	)
	c := withoutOperators.Cluster(t)
	defineRing(t, c)
	r := newRing(t, c)
	var roots strings.Builder
	var making errgroup.Group
	making.SetLimit(atOnce)
	for i := range targets {
		name := fmt.Sprintf("c-%d", i)
		fmt.Fprintf(&roots, "    - clients.ring.example.dev/%s\n", name)
		making.Go(func() error {
			o := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "ring.example.dev/v1", "kind": "Client", "metadata": map[string]any{"name": name}, "spec": map[string]any{"database": "db"},
			}}
			_, err := r.client.Resource(ringClients).Namespace(r.ns).Create(t.Context(), o, metav1.CreateOptions{})
			return err
		})
	}
	if err := making.Wait(); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf(`apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: ring, namespace: %s}
spec:
  apps:
  - {name: db, roots: [databases.ring.example.dev/db]}
  - name: many
    on:
      Stop: [{annotate: {example.dev/held: "yes"}}]
    roots:
%s  regulation:
    rules: [{name: trouble, when: {app: db, health: [Degraded], for: 0s}, signal: Stop, recover: {for: 0s}}]
    holdOff: 0s
`, r.ns, roots.String())
	if err := os.WriteFile(r.manifest, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	held := func() (n int) {
		t.Helper()
		list, err := r.client.Resource(ringClients).Namespace(r.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if list.Items[i].GetAnnotations()["example.dev/held"] == "yes" {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		phase string
		held  int
	}{{"Failed", targets}, {"Running", 0}} {
		if err := r.says(t.Context(), step.phase); err != nil {
			t.Fatal(err)
		}
		r.proxy.Reset()
		var flight inFlight
		r.proxy.Inject(faults.Fault{Effect: flight.count, Match: func(q *http.Request) bool {
			return faults.Writes(q) && strings.Contains(q.URL.Path, "/clients/")
		}})
		run, err := r.start(t.Context(), r.args("apply")...)
		if err != nil {
			t.Fatal(err)
		}
		code, err := run.wait()
		if err != nil || code != 0 {
			t.Fatalf("exit code %d, %v:\n%s%s", code, err, &run.stdout, &run.stderr)
		}
		if n := held(); n != step.held {
			t.Errorf("db %s: %d of %d targets are held, want %d", step.phase, n, targets, step.held)
		}
		used := run.cmd.ProcessState.UserTime() + run.cmd.ProcessState.SystemTime()
		t.Logf("db %s: %d writes, at most %d at a time; %s of CPU", step.phase, flight.all, flight.most, used.Round(time.Millisecond))
		if flight.most > atOnce || flight.all < targets {
			t.Errorf("db %s: %d writes, at most %d at a time; want %d, %d", step.phase, flight.all, flight.most, targets, atOnce)
		}
		if used > budget {
			t.Errorf("db %s: %s of CPU, want %s at most", step.phase, used, budget)
		}
	}
}

// inFlight counts requests that are not answered yet.
type inFlight struct {
	mu             sync.Mutex
	now, most, all int
}

func (f *inFlight) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += n
	f.all += max(n, 0)
	f.most = max(f.most, f.now)
}

func (f *inFlight) count(w http.ResponseWriter, r *http.Request, next http.Handler) {
	f.add(1)
	defer f.add(-1)
	next.ServeHTTP(w, r)
}
