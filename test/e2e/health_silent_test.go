package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// The last word of a wait is of what is there when the time is up, also of what no watch told of.
func TestHealthWaitLastWord(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	p := proxy(t, c, "")
	for _, resource := range []string{"deployments", "replicasets", "pods"} {
		p.Inject(faults.Fault{Match: watches(ns, resource), Effect: faults.Hang()})
	}
	long := brief(12 * time.Second) // than all watches need to open
	waiting := start(t, p.Kubeconfig(), "health", "deployment/web", "-n", ns, "--wait=Suspended", "--timeout", long, "-o", "json")
	cluster.Eventually(t, limit, func() error {
		if hits(p) < 3 {
			return fmt.Errorf("%d watches hang, want 3", hits(p))
		}
		return nil
	})
	patched(t, c, deployments, ns, "web", failing)
	r := waiting.wait()
	if s := healthIn(t, r).stack(t); s.Health == "Healthy" || len(s.Causes) == 0 {
		t.Errorf("its last word is of what was: %+v", s)
	}
	if r.code != 1 || !strings.Contains(r.stderr, "not reached after "+long) || strings.Contains(r.stderr, "is Healthy") {
		t.Errorf("exit code %d, want 1; stderr:\n%s", r.code, r.stderr)
	}
}

// A wait ends when its time is up, and with it the reading that follows, where the API server
// falls silent: before it began, or in the middle, when all watches are open. It does not say then
// how all was. That it is silent is told after 15 s.
func TestHealthWaitSilence(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	reading := timeout.Scaled(15 * time.Second) // the last word
	ends := func(p *process, began time.Time, timeout time.Duration, words ...string) {
		t.Helper()
		r := p.wait()
		took := time.Since(began)
		t.Logf("it ended after %s:\n%s", took.Round(time.Second), r.stderr)
		if r.code != 1 || took > timeout+reading {
			t.Errorf("exit code %d after %s, want 1 after %s and little more", r.code, took, timeout)
		}
		for _, w := range words {
			if !strings.Contains(r.stderr, w) {
				t.Errorf("no %q on stderr", w)
			}
		}
		if r.stdout != "" {
			t.Errorf("it shows what it could not read:\n%s", r.stdout)
		}
	}
	args := []string{"health", "deployment/web", "-n", ns, "--wait=Suspended", "--timeout"}
	hung := proxy(t, c, "")
	hung.Inject(faults.Fault{Effect: faults.Hang()})
	shut := newWire(t, c.Kubeconfig)
	shut.silence(true)
	passed := proxy(t, c, "")
	open := newWire(t, passed.Kubeconfig())
	// It is waited for in full, so it is no longer than a busy machine needs to open all watches.
	long := min(timeout.Scaled(24*time.Second).Truncate(time.Second), time.Minute)
	began := time.Now()
	first := start(t, hung.Kubeconfig(), append(args, long.String())...)
	second := start(t, shut.kubeconfig, append(args, long.String())...)
	third := start(t, open.kubeconfig, append(args, long.String())...)
	seen, since := 0, time.Now()
	cluster.Eventually(t, limit, func() error {
		for _, resource := range []string{"deployments", "replicasets", "pods"} {
			if !isWatched(passed, resource) {
				return fmt.Errorf("no watch of %s is open", resource)
			}
		}
		if n := len(passed.Requests()); n != seen {
			seen, since = n, time.Now()
		}
		if quiet := long / 12; time.Since(since) < quiet {
			return fmt.Errorf("it still opens watches: a request in the last %s", quiet)
		}
		return nil
	})
	open.silence(true)
	ends(first, began, long, "warning: no answer from the API server for 15 s: ")
	ends(second, began, long)
	ends(third, began, long, fmt.Sprintf("not reached after %s; now: ", long), "no answer")
}

// isWatched says whether a watch of the resource was answered through the proxy.
func isWatched(p *faults.Proxy, resource string) bool {
	return slices.ContainsFunc(p.Requests(), func(q faults.Request) bool {
		return strings.HasSuffix(q.Path, "/"+resource) && q.Query.Has("watch") && q.Status == http.StatusOK
	})
}

// A silence in a watch is told, and when it ends the watch goes on.
func TestHealthWatchSilence(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	w := newWire(t, c.Kubeconfig)
	watch := watchHealth(t, w.kubeconfig, "deployment/web", "-n", ns)
	watch.says("", "Healthy", "")
	w.silence(true)
	w.cut() // The plugin asks again at once, and gets no answer.
	watch.tells("warning: watch interrupted: ")
	patched(t, c, deployments, ns, "web", failing)
	w.silence(false)
	watch.says("Pod/"+ns+"/web-*", "Degraded", "ImagePullBackOff")
	watch.interrupted()
}
