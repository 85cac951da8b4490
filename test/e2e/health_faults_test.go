package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

const failing = `{"spec":{"template":{"metadata":{"annotations":{"sysop.dev/fail":"ImagePullBackOff"}}}}}`

// web is a Deployment that is well.
func web(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	ns := c.Namespace(t)
	applied(t, c, ns, "health-web.yaml")
	sysop(t, c.Kubeconfig, "health", "deployment/web", "-n", ns, "--wait", "--timeout", limit.String()).succeeds(t)
	return ns
}

// watches matches the requests that watch something in a namespace.
func watches(ns, resource string) func(*http.Request) bool {
	in := in(ns, resource)
	return func(r *http.Request) bool { return r.URL.Query().Has("watch") && in(r) }
}

// A watch that is cut, refused for a while, and then too old loses no change. Everything
// is listed once, and watched from there on; what is read of Secrets is their metadata.
func TestHealthWatchIsCut(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	p := proxy(t, c, "")
	pods := watches(ns, "pods")
	p.Inject(faults.Fault{Match: pods, Times: 1, Effect: faults.Cut(0)}) // at the first change
	p.Inject(faults.Fault{Match: pods, Times: 4, Effect: faults.InternalError()})
	p.Inject(faults.Fault{Match: pods, Times: 1, Effect: faults.Expired()})
	p.Inject(faults.Fault{Match: watches(ns, "deployments"), Times: 1, Effect: faults.Cut(0)})
	watch := watchHealth(t, p.Kubeconfig(), "deployment/web", "-n", ns)
	watch.says("", "Healthy", "")
	cluster.Eventually(t, limit, func() error {
		if count(p, "pods", true) == 0 || count(p, "deployments", true) == 0 {
			return fmt.Errorf("nothing is watched after %d requests", len(p.Requests()))
		}
		return nil
	})

	patched(t, c, deployments, ns, "web", failing)
	watch.tells("warning: watch interrupted: ")
	watch.says("Pod/"+ns+"/web-*", "Degraded", "ImagePullBackOff")
	watch.says("", "Degraded", "")
	watch.tells("watch resumed\n")
	patched(t, c, deployments, ns, "web", withoutFailing)
	watch.says("", "Healthy", "")
	watch.interrupted()

	if said := watch.stderr.String(); !strings.Contains(said, "watch interrupted: pods in "+ns) && !strings.Contains(said, "watch interrupted: deployments.apps in "+ns) {
		t.Errorf("it does not say of what:\n%s", said)
	}
	if n := count(p, "pods", true); n != 1+4+1+1 || hits(p) != 1+4+1+1 {
		t.Errorf("%d watches of pods, %d requests hit, want 7 and 7", n, hits(p))
	}
	for a, n := range listsNotWatches(p) {
		want := 1
		switch a.resource {
		case "pods":
			want = 2 // again, after its version was too old
		case "customresourcedefinitions":
			want = 2 // to learn the rules, and to follow what comes
		}
		if n != want {
			t.Errorf("%+v is listed %d times, want %d", a, n, want)
		}
	}
	metadataOnly(t, p)
}

// custom reports whether the path is of a kind that a definition brings.
func custom(path string) bool {
	group, _, ofGroup := strings.Cut(strings.TrimPrefix(path, "/apis/"), "/")
	return ofGroup && strings.HasPrefix(path, "/apis/") && strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// count counts the requests for a kind: watches, or lists.
func count(p *faults.Proxy, resource string, watches bool) int {
	n := 0
	for _, r := range p.Requests() {
		if a := parsePath(r.Path); a.resource == resource && a.name == "" && r.Query.Has("watch") == watches {
			n++
		}
	}
	return n
}

// listsNotWatches counts the lists of built-in kinds, since those of other tests come and
// go; further pages are not counted, and a list that is narrowed to an object is one of
// that object.
func listsNotWatches(p *faults.Proxy) map[asked]int {
	out := map[asked]int{}
	for _, r := range p.Requests() {
		a := parsePath(r.Path)
		if a.discovery || a.name != "" || r.Query.Get("continue") != "" || r.Query.Has("watch") || custom(r.Path) {
			continue
		}
		a.name = r.Query.Get("fieldSelector") + r.Query.Get("labelSelector")
		out[a]++
	}
	return out
}

// Who may list and not watch is told so once, and sees what changes a while later.
func TestHealthWithoutWatch(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := web(t, c)
	kubeconfig := user(t, c, "lister-of-"+ns, ns, "/*", "apps/*")
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		if r := sysop(t, kubeconfig, "health", "deployment/web", "-n", ns, "-o", "name"); r.code != 0 || strings.Contains(r.stderr, "pods in") {
			return fmt.Errorf("stderr:\n%s", r.stderr)
		}
		return nil
	})
	watch := watchHealth(t, kubeconfig, "deployment/web", "-n", ns)
	watch.says("", "Healthy", "")
	watch.tells("(NotWatched): ")
	patched(t, c, deployments, ns, "web", failing)
	watch.says("Pod/"+ns+"/web-*", "Degraded", "ImagePullBackOff")
	watch.interrupted()
	toldOnce(t, watch.stderr.String(), "NotWatched")
}

// Who may not see pods is told that, and what the Deployment says stands.
func TestHealthWithoutPods(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "health-image.yaml")
	kubeconfig := user(t, c, "blind-in-"+ns, ns, "apps/*", "/secrets", "/configmaps", "/services")
	cluster.Eventually(t, limit, func() error {
		r := sysop(t, kubeconfig, "health", "deployment/web", "-n", ns, "-o", "json", "--exit-code")
		if r.code != 2 {
			return fmt.Errorf("exit code %d, want 2; stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
		d := healthIn(t, r)
		s, web := d.stack(t), d.object("Deployment.apps/"+ns+"/web")
		if s.Health == "Healthy" || web.OwnHealth == "Healthy" || web.OwnHealth == "" {
			return fmt.Errorf("%+v, the Deployment %+v: want neither Healthy", s, web)
		}
		for _, g := range d.Gaps {
			if g.Resource == "pods" && g.Reason == "Forbidden" && strings.Contains(r.stderr, "pods") {
				return nil
			}
		}
		return fmt.Errorf("no gap of pods in %+v; stderr:\n%s", d.Gaps, r.stderr)
	})
}
