package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// in matches the lists of a resource in the namespace.
func in(ns, resource string) func(*http.Request) bool {
	return faults.Path("/namespaces/" + ns + "/" + resource)
}

// What passes leaves no trace: the picture is the same, and complete.
func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	whole := settledWeb(t, c, ns)
	p := proxy(t, c, "")
	for _, f := range []struct {
		name  string
		fault faults.Fault
		hits  int
	}{
		{"every answer is late", faults.Fault{Effect: faults.Delay(200 * time.Millisecond)}, 0},
		{"the connection breaks in a list", faults.Fault{Match: in(ns, "pods"), Times: 1, Effect: faults.Cut(100)}, 1},
		{"the connection breaks before an answer", faults.Fault{Match: in(ns, "pods"), Times: 1, Effect: faults.Cut(0)}, 1},
		{"too many requests, come back later", faults.Fault{Match: in(ns, "pods"), Times: 2, Effect: faults.TooManyRequests(time.Second)}, 2},
		{"too many requests, at first", faults.Fault{Times: 2, Effect: faults.TooManyRequests(time.Second)}, 2},
		{"the server fails three times", faults.Fault{Match: in(ns, "replicasets"), Times: 3, Effect: faults.InternalError()}, 3},
		{"everything fails once", faults.Fault{Match: once(), Effect: faults.InternalError()}, 0},
	} {
		t.Run(f.name, func(t *testing.T) {
			p.Reset()
			p.Inject(f.fault)
			d := graph(t, p.Kubeconfig(), "deployment/web", "-n", ns)
			same(t, whole, d)
			if len(d.Gaps) > 0 {
				t.Errorf("gaps %+v, want none", d.Gaps)
			}
			if n := hits(p); n != f.hits && f.hits > 0 || n == 0 {
				t.Errorf("%d requests were hit, want %d", n, f.hits)
			}
		})
	}
}

// once matches the first request to each list of the namespace.
func once() func(*http.Request) bool {
	seen := map[string]bool{} // the proxy asks with its lock held
	return func(r *http.Request) bool {
		first := strings.Contains(r.URL.Path, "/namespaces/") && !seen[r.URL.Path]
		seen[r.URL.Path] = true
		return first
	}
}

func hits(p *faults.Proxy) int {
	n := 0
	for _, r := range p.Requests() {
		if r.Fault {
			n++
		}
	}
	return n
}

// What does not pass is a gap; the rest of the picture stands.
func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	whole := settledWeb(t, c, ns)
	p := proxy(t, c, "")
	for _, f := range []struct {
		name   string
		match  func(*http.Request) bool
		effect faults.Effect
		gap    gap
		kind   string // of the nodes that are unread
	}{
		{"forbidden", in(ns, "persistentvolumeclaims"), faults.Forbidden(), gap{Resource: "persistentvolumeclaims", Reason: "Forbidden"}, "PersistentVolumeClaim"},
		{"fails for ever", in(ns, "configmaps"), faults.InternalError(), gap{Resource: "configmaps", Reason: "Unavailable"}, "ConfigMap"},
		{"always cut", in(ns, "secrets"), faults.Cut(10), gap{Resource: "secrets", Reason: "Unavailable"}, "Secret"},
	} {
		t.Run(f.name, func(t *testing.T) {
			p.Reset()
			p.Inject(faults.Fault{Match: f.match, Effect: f.effect})
			d, said := graphSaying(t, p.Kubeconfig(), "deployment/web", "-n", ns)
			if len(d.Gaps) != 1 || d.Gaps[0].Resource != f.gap.Resource || d.Gaps[0].Namespace != ns || d.Gaps[0].Reason != f.gap.Reason {
				t.Errorf("gaps %+v, want one of %s, %s", d.Gaps, f.gap.Resource, f.gap.Reason)
			}
			if !strings.Contains(said, f.gap.Resource) {
				t.Errorf("no word of %s on stderr:\n%s", f.gap.Resource, said)
			}
			for _, n := range whole.Nodes {
				got := d.node(n.ID)
				if n.Kind == f.kind && got.State != "unread" {
					t.Errorf("node %+v, want %s, unread", got, n.ID)
				}
				// The volume is known by the claim alone.
				if n.Kind != f.kind && got != n && (n.Kind != "PersistentVolume" && n.Kind != "StorageClass" || f.kind != "PersistentVolumeClaim") {
					t.Errorf("node %+v, want %+v", got, n)
				}
			}
		})
	}
}

// manyConfigMaps is more than two pages.
const manyConfigMaps = 1200

// fillConfigMaps makes n small ConfigMaps.
func fillConfigMaps(t *testing.T, c *cluster.Cluster, ns string, n int) {
	t.Helper()
	maps := admin(c).CoreV1().ConfigMaps(ns)
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(32)
	for i := range n {
		g.Go(func() error {
			_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("many-%d", i)}}, metav1.CreateOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A page token that expires, or a page that breaks off, does not lose or double
// objects.
func TestFaultsBetweenPages(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	fillConfigMaps(t, c, ns, manyConfigMaps)
	whole := graph(t, c.Kubeconfig, "configmaps", "-n", ns)
	if len(whole.Roots) != manyConfigMaps+1 {
		t.Fatalf("%d roots, want %d and the CA", len(whole.Roots), manyConfigMaps)
	}
	p := proxy(t, c, "")
	ofMaps := func(r *http.Request) bool { return in(ns, "configmaps")(r) && faults.Continues(r) }
	// The third page: two have been added when its token is said to be too old.
	var pages atomic.Int32
	thirdPage := func(r *http.Request) bool { return ofMaps(r) && pages.Add(1) == 2 }
	for _, f := range []struct {
		name  string
		fault faults.Fault
	}{
		{"the token of the second page expires", faults.Fault{Match: ofMaps, Times: 1, Effect: faults.Expired()}},
		{"the token of the third page expires", faults.Fault{Match: thirdPage, Times: 1, Effect: faults.Expired()}},
		{"the second page breaks off", faults.Fault{Match: ofMaps, Times: 1, Effect: faults.Cut(5000)}},
	} {
		t.Run(f.name, func(t *testing.T) {
			p.Reset()
			p.Inject(f.fault)
			d := graph(t, p.Kubeconfig(), "configmaps", "-n", ns)
			same(t, whole, d)
			if len(d.Roots) != len(whole.Roots) || len(d.Gaps) > 0 || hits(p) != 1 {
				t.Errorf("%d roots, gaps %+v, %d requests hit; want %d, none, 1", len(d.Roots), d.Gaps, hits(p), len(whole.Roots))
			}
		})
	}
	t.Run("no token is ever good", func(t *testing.T) {
		p.Reset()
		p.Inject(faults.Fault{Match: ofMaps, Effect: faults.Expired()})
		d, said := graphSaying(t, p.Kubeconfig(), "configmaps", "-n", ns)
		if len(d.Gaps) == 0 { // it found another way
			same(t, whole, d)
			return
		}
		if len(d.Gaps) != 1 || d.Gaps[0].Resource != "configmaps" || !strings.Contains(said, "configmaps") {
			t.Errorf("gaps %+v, want one of configmaps; stderr:\n%s", d.Gaps, said)
		}
	})
}

// Ctrl-C ends the plugin at once, whatever it waits for, with nothing on stdout.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	p := proxy(t, c, "")
	for _, h := range []struct {
		name  string
		match func(*http.Request) bool
		args  []string
	}{
		{"in discovery", faults.Path("/apis"), []string{"graph", "deployment/web", "-o", "json"}},
		{"while it learns the rules", faults.Path("/customresourcedefinitions"), []string{"graph", "deployment/web", "-o", "json"}},
		{"in a list", in(ns, "pods"), []string{"graph", "deployment/web", "-o", "json"}},
		{"in a path", in(ns, "pods"), []string{"path", "deployment/web", "secret/web-password"}},
		{"in a snapshot", in(ns, "pods"), []string{"snapshot", "-o", "-"}},
	} {
		t.Run(h.name, func(t *testing.T) {
			p.Reset()
			p.Inject(faults.Fault{Match: h.match, Effect: faults.Hang()})
			run := start(t, p.Kubeconfig(), append(h.args, "-n", ns)...)
			cluster.Eventually(t, limit, func() error {
				if hits(p) == 0 {
					return fmt.Errorf("nothing hangs after %d requests", len(p.Requests()))
				}
				return nil
			})
			sent := time.Now()
			if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			r := run.wait()
			took := time.Since(sent)
			t.Logf("%d ms from the signal to the end", took.Milliseconds())
			if r.code != 130 || r.stdout != "" || r.stderr != "interrupted\n" {
				t.Errorf("exit code %d, want 130; stdout %q, stderr %q", r.code, r.stdout, r.stderr)
			}
			if soon := timeout.Scaled(3 * time.Second); took > soon {
				t.Errorf("it took %s, want less than %s", took, soon)
			}
		})
	}
}
