package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// settledSite applies metrics.yaml in a namespace and waits until its pods run, its
// claim is bound and its Job has ended.
func settledSite(t *testing.T, c *cluster.Cluster) (ns string) {
	t.Helper()
	ns = c.Namespace(t)
	applied(t, c, ns, "metrics.yaml")
	cluster.Eventually(t, limit, func() error {
		phases, err := phasesOf(t, c, ns)
		if err != nil {
			return err
		}
		if want := map[corev1.PodPhase]int{corev1.PodRunning: 3, corev1.PodSucceeded: 1}; !maps.Equal(phases, want) {
			return fmt.Errorf("pods %v, want %v", phases, want)
		}
		claim, err := admin(c).CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), "site-files", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if claim.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("the claim is %s", claim.Status.Phase)
		}
		return nil
	})
	return ns
}

func phasesOf(t *testing.T, c *cluster.Cluster, ns string) (map[corev1.PodPhase]int, error) {
	t.Helper()
	pods, err := admin(c).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	phases := map[corev1.PodPhase]int{}
	for i := range pods.Items {
		phases[pods.Items[i].Status.Phase]++
	}
	return phases, nil
}

// sampledSite is settledSite, and the metrics server has samples of every pod.
func sampledSite(t *testing.T, c *cluster.Cluster) (ns string) {
	t.Helper()
	ns = settledSite(t, c)
	cluster.Eventually(t, sampled, func() error {
		_, err := byHand(t, c, ns, everything())
		return err
	})
	return ns
}

// measuring are the requests that have to do with measuring, by path, and how often
// each was answered. Those of lists that have been asked for by page count once.
func measuring(p *faults.Proxy) map[string]int {
	out := map[string]int{}
	for _, r := range p.Requests() {
		core := strings.HasPrefix(r.Path, "/api/v1/")
		switch {
		case r.Query.Get("continue") != "":
		case strings.HasPrefix(r.Path, "/apis/metrics.k8s.io/") && r.Status == http.StatusNotFound: // the version that is not served
			out["not served"]++
		case strings.HasPrefix(r.Path, "/apis/metrics.k8s.io/"), core && strings.Contains(r.Path, "/nodes"), core && strings.HasSuffix(r.Path, "/pods"):
			out[r.Path]++
		}
	}
	return out
}

func samplesPath(ns string) string { return "/apis/metrics.k8s.io/v1beta1/namespaces/" + ns + "/pods" }

func summaryPath(node string) string { return "/api/v1/nodes/" + node + "/proxy/stats/summary" }

// A root in a namespace costs one list of its pods, one of their samples, one summary
// of each node that carries the stack, and nothing of others; what is known of a node
// is asked for by name. All stacks of the cluster cost one list of samples in all.
func TestMetricsRequests(t *testing.T) {
	c := shared.Cluster(t)
	ns := sampledSite(t, c)
	p := proxy(t, c, "")
	for _, s := range []struct {
		name string
		args []string
		want map[string]int
	}{
		{"a stack on one node", []string{"deployment/site", "-n", ns}, map[string]int{
			"not served": 1, "/api/v1/namespaces/" + ns + "/pods": 1, samplesPath(ns): 1,
			"/api/v1/nodes/node-1": 1, summaryPath("node-1"): 1,
		}},
		{"two stacks on two nodes", []string{"deployment/site", "deployment/agent", "-n", ns}, map[string]int{
			"not served": 1, "/api/v1/namespaces/" + ns + "/pods": 1, samplesPath(ns): 1,
			"/api/v1/nodes/node-1": 1, "/api/v1/nodes/node-2": 1, summaryPath("node-1"): 1, summaryPath("node-2"): 1,
		}},
		// A pod that ended on node-0 leads there, and nothing is measured of it.
		{"a namespace", []string{"-n", ns}, map[string]int{
			"not served": 1, "/api/v1/namespaces/" + ns + "/pods": 1, samplesPath(ns): 1,
			"/api/v1/nodes/node-0": 1, "/api/v1/nodes/node-1": 1, "/api/v1/nodes/node-2": 1, summaryPath("node-1"): 1, summaryPath("node-2"): 1,
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			p.Reset()
			metricsOf(t, p.Kubeconfig(), s.args...)
			if got := measuring(p); !maps.Equal(got, s.want) {
				t.Errorf("requests %v, want %v", got, s.want)
			}
			onlyReads(t, p)
		})
	}
	t.Run("the cluster", func(t *testing.T) {
		p.Reset()
		u := metricsOf(t, p.Kubeconfig(), "-A")
		if u.Total.Pods < 3 {
			t.Errorf("%d pods", u.Total.Pods)
		}
		samples, pods := 0, 0
		for path, n := range measuring(p) {
			switch {
			case path == "/apis/metrics.k8s.io/v1beta1/pods":
				samples += n
			case path == "/api/v1/pods":
				pods += n
			case path == "/api/v1/nodes", path == "not served", strings.HasSuffix(path, "/stats/summary"):
				if n != 1 {
					t.Errorf("%s: %d requests", path, n)
				}
			default:
				t.Errorf("%s: %d requests, want none", path, n)
			}
		}
		if samples != 1 || pods != 1 {
			t.Errorf("%d lists of samples and %d of pods, want one of each", samples, pods)
		}
		onlyReads(t, p)
	})
}

func onlyReads(t *testing.T, p *faults.Proxy) {
	t.Helper()
	for _, r := range p.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s: it only reads", r.Method, r.Path)
		}
	}
}
