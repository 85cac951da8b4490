package e2e

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var certificates = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}

// Two operators come from a repository and a registry; Helm's own library knows their
// releases; a second run finds nothing to do, and writes nothing; what is uninstalled with
// its definitions leaves the cluster as it was.
func TestInstallOperators(t *testing.T) {
	c := bare.Cluster(t)
	myTurn(t)
	cleared(t, c, "prometheus-operator", "cert-manager")
	// What happened stays known: the namespaces stay, with the history in them.
	history := func(o *unstructured.Unstructured) bool {
		known := []string{"cert-manager", "monitoring"}
		return slices.Contains(known, o.GetNamespace()) && (o.GetName() == "kube-root-ca.crt" || o.GetName() == "default" || strings.HasPrefix(o.GetName(), "sysop-install-")) ||
			o.GetKind() == "Namespace" && slices.Contains(known, o.GetName())
	}
	mine := func(o *unstructured.Unstructured) bool { return !history(o) }
	before := snapshotOf(t, c, mine)
	dir := operators(t, c, asShipped)
	i := newInstaller(t, c, unraced(t), "")
	put := []string{"install", "cert-manager", "prometheus-operator", "--catalog", dir, "--plain-http", "--yes"}
	i.run(put...).succeeds(t)
	for namespace, want := range map[string]string{"cert-manager": "cert-manager 1 deployed v1.21.2", "monitoring": "prometheus-operator 1 deployed 0.85.0"} {
		if got := helmList(t, c, namespace); !slices.Equal(got, []string{want}) {
			t.Errorf("helm list -n %s: %q, want %q", namespace, got, want)
		}
		name, _, _ := strings.Cut(want, " ")
		if got, want := helmHistory(t, c, namespace, name), []string{want[len(name)+1:]}; !slices.Equal(got, want) {
			t.Errorf("helm history %s: %q, want %q", name, got, want)
		}
	}
	if got := i.history("cert-manager", "cert-manager"); !slices.Equal(got, []string{"install done"}) {
		t.Errorf("history: %v", got)
	}
	i.proxy.Reset()
	again := i.run(put...).succeeds(t)
	if !strings.Contains(again.stderr, "nothing to do") {
		t.Errorf("a second run says:\n%s", again.stderr)
	}
	if w := i.writes(); len(w) > 0 {
		t.Errorf("a second run writes %v", w)
	}
	i.run("uninstall", "prometheus-operator", "-n", "monitoring", "--delete-crds", "--delete-data=prometheus-operator", "--yes").succeeds(t)
	i.run("uninstall", "cert-manager", "--delete-crds", "--delete-data=cert-manager", "--yes").succeeds(t)
	asBefore(t, c, before, mine)
}

// A system of two operators comes up, a value of one app in a field of the other.
func TestInstallSystem(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	myTurn(t)
	cleared(t, c, "prometheus-operator", "cert-manager")
	ns := c.Namespace(t)
	dir := operators(t, c, asShipped)
	i := newInstaller(t, c, unraced(t), "")
	file := i.manifest(ns, "shop.yaml")
	with := func(command string, more ...string) []string {
		return append([]string{command, "-f", file, "--catalog", dir, "--plain-http"}, more...)
	}
	i.run(with("install", "--yes")...).succeeds(t)
	cert, err := i.client.Resource(certificates).Namespace(ns).Get(t.Context(), "identity", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	until, _, _ := unstructured.NestedString(cert.Object, "status", "notAfter")
	prometheus, err := i.client.Resource(prometheuses).Namespace(ns).Get(t.Context(), "metrics", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(prometheus.Object, "spec", "externalLabels", "certified"); got == "" || got != until {
		t.Errorf("the value %q flowed as %q", until, got)
	}
	set, err := admin(c).AppsV1().StatefulSets(ns).Get(t.Context(), "prometheus-metrics", metav1.GetOptions{})
	if err != nil || set.Status.ReadyReplicas != 1 {
		t.Errorf("the StatefulSet of the Prometheus: %v, %v", set.Status, err)
	}
	if got, want := helmList(t, c, ns), []string{"shop-identity 1 deployed 1.0.0", "shop-metrics 1 deployed 1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("helm list: %q, want %q", got, want)
	}
	if got := i.history("shop", ns); !slices.Equal(got, []string{"install done"}) {
		t.Errorf("history: %v", got)
	}
	if r := i.run(with("diff", "--exit-code")...).succeeds(t); r.stdout != "" {
		t.Errorf("diff finds:\n%s", r.stdout)
	}
	r := i.run("graph", "system/shop", "-n", ns, "-o", "json").succeeds(t)
	for _, part := range []string{"Certificate.cert-manager.io/" + ns + "/identity", "Secret/" + ns + "/identity-tls", "Prometheus.monitoring.coreos.com/" + ns + "/metrics", "StatefulSet.apps/" + ns + "/prometheus-metrics"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("graph system/shop has no %s", part)
		}
	}
	i.proxy.Reset()
	i.run(with("install", "--yes")...).succeeds(t)
	if w := i.writes(); len(w) > 0 {
		t.Errorf("a second run writes %v", w)
	}
	i.refused([]string{"shop"}, "uninstall", "cert-manager", "--yes")
	i.run("uninstall", "shop", "-n", ns, "--delete-data=shop", "--yes").succeeds(t)
	if got := helmList(t, c, ns); len(got) > 0 {
		t.Errorf("helm list after uninstall: %q", got)
	}
}
