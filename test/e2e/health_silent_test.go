package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
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
	waiting := start(t, p.Kubeconfig(), "health", "deployment/web", "-n", ns, "--wait=Suspended", "--timeout", "12s", "-o", "json")
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
	if r.code != 1 || !strings.Contains(r.stderr, "not so after 12s") || strings.Contains(r.stderr, "is Healthy") {
		t.Errorf("exit code %d, want 1; stderr:\n%s", r.code, r.stderr)
	}
}

// A wait ends when its time is up, and the end of the reading that follows, where the API server
// falls silent: before it began, or in the middle. That it is silent is told after 15 s.
func TestHealthWaitSilence(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	const told = "warning: no answer from the API server for 15 s: "
	for _, one := range []struct {
		name    string
		begin   bool // it is silent from the beginning
		timeout time.Duration
		told    bool
	}{
		{"from the beginning", true, 18 * time.Second, true},
		{"in the middle", false, 6 * time.Second, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, c, c.Kubeconfig)
			w.silence(one.begin)
			began := time.Now()
			waiting := start(t, w.kubeconfig, "health", "deployment/web", "-n", ns, "--wait=Suspended", "--timeout", one.timeout.String())
			if !one.begin {
				time.Sleep(one.timeout / 2) // It has read all by then, or is about to.
				w.silence(true)
			}
			r := waiting.wait()
			took := time.Since(began)
			t.Logf("it ended after %s:\n%s", took.Round(time.Second), r.stderr)
			const reading = 15 * time.Second // the last word, and a busy machine
			if r.code != 1 || took < one.timeout-time.Second || took > one.timeout+reading {
				t.Errorf("exit code %d after %s, want 1 after %s and little more", r.code, took, one.timeout)
			}
			if strings.Contains(r.stderr, told) != one.told || !strings.Contains(r.stderr, one.timeout.String()) {
				t.Errorf("stderr:\n%s", r.stderr)
			}
			if r.stdout != "" {
				t.Errorf("it shows what it could not read:\n%s", r.stdout)
			}
		})
	}
}

// A silence in a watch is told after 15 s, and when it ends the watch goes on.
func TestHealthWatchSilence(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	w := newWire(t, c, c.Kubeconfig)
	watch := watchHealth(t, w.kubeconfig, "deployment/web", "-n", ns)
	watch.says("", "Healthy", "")
	w.silence(true)
	w.cut() // The plugin asks again at once, and gets no answer.
	watch.tells("no answer from the API server for 15 s: ")
	patched(t, c, deployments, ns, "web", failing)
	w.silence(false)
	watch.says("Pod/"+ns+"/web-*", "Degraded", "ImagePullBackOff")
	watch.interrupted()
}
