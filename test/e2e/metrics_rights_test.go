package e2e

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// unmeasured fails the test unless nothing is said of what a row uses, and what it
// requests and costs is that of the pods of metrics.yaml with these requests.
func unmeasured(t *testing.T, r usedRow) {
	t.Helper()
	if r.Measured != 0 || r.Used != (amounts{}) || r.Counters != (amounts{}) || r.HostTraffic != (amounts{}) {
		t.Errorf("%s: %d measured, used %+v, counters %+v, %+v: want nothing, and no 0", r.Name, r.Measured, r.Used, r.Counters, r.HostTraffic)
	}
	for _, below := range r.Rows {
		unmeasured(t, below)
	}
}

// siteByRequests is what two pods of the Deployment site and its claim cost by what
// they request: 120m, 200Mi and 2Gi of storage.
func siteByRequests() sums {
	d := exactOf
	pod := priced(d("120m"), 0, coreHour).Add(priced(d("200Mi"), 30, memoryHour))
	return sums{
		pods: 2, cpuRequest: d("240m"), memoryRequest: d("400Mi"), storage: d("2Gi"),
		podCost: pod.Add(pod), claimCost: priced(d("2Gi"), 30, storageHour),
	}
}

// readable waits until a user may read the Deployments of the namespace: an authorizer
// takes a moment.
func readable(t *testing.T, kubeconfig, ns string) {
	t.Helper()
	cluster.Eventually(t, limit, func() error {
		if r := sysop(t, kubeconfig, "graph", "deployment/site", "-n", ns, "-o", "name"); r.code != 0 {
			return lists([]string{r.stderr})
		}
		return nil
	})
}

// toldOnce fails the test unless exactly one line of stderr has all the words.
func toldOnce(t *testing.T, said string, words ...string) {
	t.Helper()
	n := 0
	for line := range strings.Lines(said) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%v is told %d times, want once:\n%s", words, n, said)
	}
}

// Who may read nothing but the objects of a namespace learns what they request, and
// what that costs.
func TestMetricsWithoutRights(t *testing.T) {
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	kubeconfig := user(t, c, "tenant-of-"+ns, ns, "/*", "apps/*", "batch/*", "networking.k8s.io/*", "autoscaling/*", "policy/*")
	readable(t, kubeconfig, ns)
	u, said := metricsSaying(t, kubeconfig, "deployment/site", "-n", ns)
	want := siteByRequests()
	for _, d := range append(want.equals(u.Total), u.addsUp()...) {
		t.Error(d)
	}
	unmeasured(t, u.Total)
	for _, r := range u.Rows {
		unmeasured(t, r)
	}
	toldOnce(t, said, "0 of 2 pods measured")
	toldOnce(t, said, "no permission to read the metrics API: ", "metrics.k8s.io", "forbidden")
	toldOnce(t, said, "nodes/proxy")
	toldOnce(t, said, "node-1: unknown nodes: ")
	text := sysop(t, kubeconfig, "metrics", "deployment/site", "-n", ns).succeeds(t)
	if !strings.Contains(text.stdout, "0/2") {
		t.Errorf("no word of 0/2 pods in:\n%s", text.stdout)
	}
}

// The prices of a node are those of its labels; who may not read nodes pays the prices
// of the book, and is told what was not read.
func TestMetricsPricesOfNodes(t *testing.T) {
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	book := filepath.Join(t.TempDir(), "prices.yaml")
	err := os.WriteFile(book, []byte(`{apiVersion: sysop.dev/v1alpha1, kind: PriceBook, currency: EUR, cpu: 1, memory: 0, storage: 0,
  overrides: [{name: fast, nodes: "kubernetes.io/hostname=node-1", cpu: 10}]}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	tenant := user(t, c, "tenant-of-"+ns, ns, "/*", "apps/*", "batch/*", "networking.k8s.io/*", "autoscaling/*", "policy/*")
	readable(t, tenant, ns)
	for _, s := range []struct {
		kubeconfig, hour string
		flat             bool
	}{
		{c.Kubeconfig, "2.4", false}, // two pods request 120m, and use less
		{tenant, "0.24", true},
	} {
		u, said := metricsSaying(t, s.kubeconfig, "deployment/site", "-n", ns, "--prices", book)
		if !value(u.Total.Cost.Hour).Equal(exactOf(s.hour)) {
			t.Errorf("an hour costs %s, want %s", value(u.Total.Cost.Hour), s.hour)
		}
		if n := strings.Count(said, "prices that apply to any node"); (n == 1) != s.flat || n > 1 || u.has("FlatPrices") != s.flat {
			t.Errorf("that the node is not known is told %d times, want it told: %t; stderr:\n%s", n, s.flat, said)
		}
	}
}

// Who has the role view of a namespace may read its samples, where a metrics server
// was installed as its manifests are: nothing of the nodes.
func TestMetricsWithViewOnly(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := sampledSite(t, c)
	rbac := admin(c).RbacV1()
	// As in manifests/base/rbac.yaml of metrics-server.
	reader := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "aggregated-metrics-reader-" + ns, Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"metrics.k8s.io"}, Resources: []string{"pods", "nodes"}, Verbs: []string{"get", "list", "watch"}}},
	}
	if _, err := rbac.ClusterRoles().Create(t.Context(), reader, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, rbac.ClusterRoles().Delete(context.Background(), reader.Name, metav1.DeleteOptions{}))
	})
	name := "viewer-of-" + ns
	kubeconfig := user(t, c, name, ns)
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}
	if _, err := rbac.RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	readable(t, kubeconfig, ns)
	site := chosen{func(l map[string]string) bool { return l["app"] == "site" }, func(string) bool { return true }}
	cluster.Eventually(t, sampled, func() error {
		before, err := byHand(t, c, ns, site)
		if err != nil {
			return err
		}
		u, said := metricsSaying(t, kubeconfig, "deployment/site", "-n", ns)
		if u.Total.Measured == 0 {
			return lists([]string{said}) // the roles have not been aggregated yet
		}
		after, err := byHand(t, c, ns, site)
		if err := changed(before, after, err); err != nil {
			return err
		}
		for _, d := range append(before.equals(u.Total), u.addsUp()...) {
			t.Error(d)
		}
		if u.Total.Counters != (amounts{}) || u.Total.Used.EphemeralStorage != nil || u.Total.Used.Storage != nil {
			t.Errorf("counters %+v, used %+v: the kubelets may not be asked", u.Total.Counters, u.Total.Used)
		}
		toldOnce(t, said, "nodes/proxy")
		if strings.Contains(said, "pods measured") || strings.Contains(said, "metrics API") {
			t.Errorf("it complains of what it could read:\n%s", said)
		}
		return nil
	})
}

// A metrics API that is not there, or does not answer, is told once: the kubelets say
// what it would have said, and where they may not be asked, the requests stand.
func TestMetricsWithoutMetricsServer(t *testing.T) {
	c := shared.Cluster(t)
	ns := settledSite(t, c)
	p := proxy(t, c, "")
	ofAPI := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/apis/metrics.k8s.io/") }
	want := siteByRequests()
	for _, f := range []struct {
		name, reason string
		effect       faults.Effect
		words        []string
	}{
		{"it is not installed", "NotServed", faults.Answer(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource", 0), []string{"the cluster has no metrics API", "could not find the requested resource"}},
		{"it does not run", "Unavailable", faults.Answer(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request", 0), []string{"the metrics API is not available", "unable to handle the request"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			p.Reset()
			p.Inject(faults.Fault{Match: ofAPI, Effect: f.effect})
			u, said := metricsSaying(t, p.Kubeconfig(), "deployment/site", "-n", ns)
			toldOnce(t, said, f.words...)
			if r := u.Total; r.Measured != 2 || !value(r.Used.CPU).Equal(exactOf("100m")) || !value(r.Used.Memory).Equal(exactOf("600Mi")) || !u.has(f.reason) {
				t.Errorf("%d of %d pods measured, used %+v, notes %+v: want 2 by their kubelet, 100m and 600Mi, and a note", r.Measured, r.Pods, r.Used, u.Notes)
			}

			p.Reset()
			p.Inject(faults.Fault{Match: ofAPI, Effect: f.effect})
			p.Inject(faults.Fault{Match: faults.Path("/stats/summary"), Effect: faults.Forbidden()})
			u, said = metricsSaying(t, p.Kubeconfig(), "deployment/site", "-n", ns)
			toldOnce(t, said, f.words...)
			toldOnce(t, said, "nodes/proxy")
			toldOnce(t, said, "0 of 2 pods measured")
			for _, d := range append(want.equals(u.Total), u.addsUp()...) {
				t.Error(d)
			}
			unmeasured(t, u.Total)
		})
	}
}
