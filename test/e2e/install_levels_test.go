package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const leveledSystem = `
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NAMESPACE}
spec:
  apps:
  - name: web
    resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: "registry.example.com/web:1", ports: [{name: metrics, containerPort: 9113}], resources: {requests: {cpu: 100m}}}]}
    autoscaling: {min: 1, max: MAX, cpu: 70}
  MONITORING
`

// backedUp is a level of backup that a manifest states.
const backedUp = "monitoring: {interval: 30s, thresholds: {memoryPercent: 80}}\n  backup: {verify: {http: {service: web, port: 80, path: /}}}"

// The scalers and monitors that a manifest declares are installed, upgraded and uninstalled with its
// apps.
func TestInstallLevels(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	s := newInstaller(t, c, unraced(t), "")
	file := filepath.Join(s.home, "shop.yaml")
	with := func(command, most, monitoring string, more ...string) result {
		t.Helper()
		text := strings.NewReplacer("NAMESPACE", ns, "MAX", most, "MONITORING", monitoring).Replace(leveledSystem)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return s.run(append([]string{command, "-f", file, "--yes"}, more...)...)
	}
	made := func(group, version, resource string) []unstructured.Unstructured {
		t.Helper()
		all, err := s.client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return all.Items
	}
	scalers := func() []unstructured.Unstructured { return made("autoscaling", "v2", "horizontalpodautoscalers") }
	monitors := func() []unstructured.Unstructured { return made("monitoring.coreos.com", "v1", "podmonitors") }
	alerts := func() []unstructured.Unstructured { return made("monitoring.coreos.com", "v1", "prometheusrules") }

	with("install", "3", "monitoring: {interval: 30s}", "--wait=false").succeeds(t)
	if all := scalers(); len(all) != 1 || all[0].Object["spec"].(map[string]any)["maxReplicas"] != int64(3) {
		t.Fatalf("the scalers are %v", all)
	}
	if len(monitors()) != 1 || len(alerts()) != 1 {
		t.Fatalf("the monitors are %v, the alerts %v", monitors(), alerts())
	}
	if r := with("upgrade", "3", "monitoring: {interval: 30s}", "--wait=false").succeeds(t); !strings.Contains(r.stderr, "nothing to do") {
		t.Errorf("a second run says:\n%s\n%s", r.stdout, r.stderr)
	}
	with("upgrade", "5", "", "--wait=false").succeeds(t)
	if all := scalers(); len(all) != 1 || all[0].Object["spec"].(map[string]any)["maxReplicas"] != int64(5) {
		t.Errorf("the scalers are %v", all)
	}
	if len(monitors())+len(alerts()) != 0 {
		t.Errorf("without spec.monitoring there are %v and %v", monitors(), alerts())
	}
	s.run("uninstall", "shop", "-n", ns, "--yes").succeeds(t)
	if len(scalers()) != 0 {
		t.Errorf("after uninstall there are %v", scalers())
	}
	if _, err := admin(c).AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after uninstall, the Deployment: %v", err)
	}
}

// A System that was exported and bundled has its levels in another namespace: what monitors and scales it,
// and how its backups are verified.
func TestBundledLevels(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	s := newInstaller(t, c, unraced(t), "")
	file := func(name string) string { return filepath.Join(s.home, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("shop.yaml", strings.NewReplacer("NAMESPACE", ns, "MAX", "3", "MONITORING", backedUp).Replace(leveledSystem))
	s.run("install", "-f", file("shop.yaml"), "--yes", "--wait=false").succeeds(t)
	exported := s.run("system", "export", "system/shop", "-n", ns).succeeds(t).stdout
	write("exported.yaml", exported)
	s.run("catalog", "bundle", "-f", file("exported.yaml"), "-o", file("here.tar")).succeeds(t)
	s.run("install", "--offline", "--bundle", file("here.tar"), "-n", other, "--yes").fails(t, "the manifest says that the System is in namespace "+ns, "without metadata.namespace")
	write("free.yaml", strings.Replace(exported, "  namespace: "+ns+"\n", "", 1))
	s.run("catalog", "bundle", "-f", file("free.yaml"), "-o", file("free.tar")).succeeds(t)
	s.run("install", "--offline", "--bundle", file("free.tar"), "-n", other, "--yes", "--wait=false").succeeds(t)

	for _, o := range []struct {
		of   schema.GroupVersionResource
		name string
		path []string
		want any
	}{
		{schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, "web", []string{"spec", "maxReplicas"}, int64(3)},
		{schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "podmonitors"}, "shop-web", nil, nil},
	} {
		u, err := s.client.Resource(o.of).Namespace(other).Get(t.Context(), o.name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("%s: %v", o.of.Resource, err)
			continue
		}
		if got, _, _ := unstructured.NestedFieldNoCopy(u.Object, o.path...); o.path != nil && got != o.want {
			t.Errorf("%s: %v is %v, want %v", o.of.Resource, o.path, got, o.want)
		}
	}
	rules, err := s.client.Resource(schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}).Namespace(other).Get(t.Context(), "shop-alerts", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := rules.MarshalJSON(); !strings.Contains(string(text), `namespace=~\"`+other+`\"`) || !strings.Contains(string(text), "\\u003e 0.8") || strings.Contains(string(text), ns) {
		t.Errorf("the alerts are not of %s with the threshold of the manifest: %s", other, text)
	}
	again := s.run("system", "export", "system/shop", "-n", other).succeeds(t).stdout
	if strings.ReplaceAll(again, other, ns) != exported {
		t.Errorf("exported again:\n%s\nwant\n%s", again, exported)
	}
}
