package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// systemMembers are the objects of the System of a test, in two namespaces. One has labels,
// one has none, and one is of a custom kind and has none.
func systemMembers(ns, data string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: %[1]s, labels: {tier: front}}
spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: web, env: [{name: DB, valueFrom: {configMapKeyRef: {name: settings, key: db}}}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: %[1]s}
data: {db: db.%[2]s.svc}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: %[2]s}
spec: {replicas: 0, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: db}]}}}
`, ns, data)
}

func systemManifest(t *testing.T, ns, data, more string) string {
	t.Helper()
	text := fmt.Sprintf(`# Kept as it is.
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: %s}
spec:
  apps:
  - {name: web, roots: [deployment/web]}
  - {name: db, roots: [statefulset/%s/db]}
%s`, ns, data, more)
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var (
	deploymentsResource  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulSetsResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	configMapsResource   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// bytesOf returns an object as it is kept, without what every write changes.
func bytesOf(t *testing.T, c *cluster.Cluster, gvr schema.GroupVersionResource, ns, name string) string {
	t.Helper()
	o, err := dynamic.NewForConfigOrDie(c.Config()).Resource(gvr).Namespace(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"resourceVersion", "managedFields"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	text, err := json.MarshalIndent(o.Object, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A System of two namespaces is adopted, is a root, and is released; then everything is as it
// was before.
func TestSystemIsAdopted(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns, data := c.Namespace(t), c.Namespace(t)
	applyText(t, c, systemMembers(ns, data))
	cluster.Eventually(t, limit, func() error { // their controllers write them once
		for _, o := range []string{bytesOf(t, c, deploymentsResource, ns, "web"), bytesOf(t, c, statefulSetsResource, data, "db")} {
			if !strings.Contains(o, "observedGeneration") {
				return fmt.Errorf("not settled: %s", o)
			}
		}
		return nil
	})
	state := func() string {
		return bytesOf(t, c, deploymentsResource, ns, "web") + bytesOf(t, c, statefulSetsResource, data, "db") + bytesOf(t, c, configMapsResource, ns, "settings")
	}
	before := state()
	file := systemManifest(t, ns, data, "  - {name: settings, roots: [configmap/settings]}\n")
	run := func(args ...string) result { return sysop(t, c.Kubeconfig, append(args, "-n", ns)...) }

	run("system", "adopt", "-f", file).fails(t, "cannot ask for confirmation", "--yes")
	run("system", "adopt", "-f", file, "--dry-run=client").succeeds(t)
	run("system", "adopt", "-f", file, "--dry-run=server").succeeds(t)
	if after := state(); after != before {
		t.Fatalf("a dry run has changed objects:\n%s\nwere\n%s", after, before)
	}
	if out := run("system", "adopt", "-f", file, "--yes").succeeds(t).stdout; strings.Count(out, "label") != 3 || !strings.Contains(out, "create") {
		t.Errorf("the plan:\n%s", out)
	}
	again := run("system", "adopt", "-f", file, "--yes").succeeds(t)
	if !strings.Contains(again.stderr, "nothing to do") || strings.Count(again.stdout, "none") != 4 {
		t.Errorf("the second time:\n%s%s", again.stdout, again.stderr)
	}
	parentOfSystem(t, c, ns, data, file)

	d := graph(t, c.Kubeconfig, "system/shop", "-n", ns)
	if want := []string{"ConfigMap/" + ns + "/settings", "Deployment.apps/" + ns + "/web", "StatefulSet.apps/" + data + "/db"}; strings.Join(d.Roots, " ") != strings.Join(want, " ") {
		t.Errorf("roots %v, want %v", d.Roots, want)
	}
	for _, command := range []string{"health", "metrics", "check"} {
		if out := run(command, "system/shop", "-o", "json").succeeds(t).stdout; !strings.Contains(out, "system/"+ns+"/shop") {
			t.Errorf("%s:\n%s", command, out)
		}
	}
	if out := run("system", "list").succeeds(t).stdout; !strings.Contains(out, "shop") {
		t.Errorf("list:\n%s", out)
	}
	snap := filepath.Join(t.TempDir(), "shop.json")
	run("snapshot", "system/shop", "-o", snap).succeeds(t)
	if out := sysop(t, "", "graph", "system/shop", "-n", ns, "--from", snap, "-o", "name").succeeds(t).stdout; !strings.Contains(out, "StatefulSet.apps/"+data+"/db") {
		t.Errorf("of the snapshot:\n%s", out)
	}
	run("graph", "system/shap").fails(t, "did you mean shop?")

	less := systemManifest(t, ns, data, "")
	run("system", "adopt", "-f", less, "--yes").succeeds(t)
	if o := bytesOf(t, c, configMapsResource, ns, "settings"); strings.Contains(o, "part-of") {
		t.Errorf("what the manifest names no more: %s", o)
	}
	run("system", "release", "shop", "--yes").succeeds(t)
	if after := state(); after != before {
		t.Errorf("after release:\n%s\nbefore:\n%s", after, before)
	}
	if _, err := admin(c).CoreV1().ConfigMaps(ns).Get(t.Context(), "sysop-shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the parent: %v", err)
	}
	run("system", "release", "shop", "--yes").fails(t, `no System "shop" was adopted`)
}

// parentOfSystem looks at the marks as kubectl would.
func parentOfSystem(t *testing.T, c *cluster.Cluster, ns, data, file string) {
	t.Helper()
	parent, err := admin(c).CoreV1().ConfigMaps(ns).Get(t.Context(), "sysop-shop", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if parent.Data["system.yaml"] != string(text) {
		t.Errorf("the manifest that is kept:\n%s", parent.Data["system.yaml"])
	}
	id := setID("sysop-shop", ns)
	for key, want := range map[string]string{"applyset.kubernetes.io/id": id, "sysop.dev/system": "shop"} {
		if parent.Labels[key] != want {
			t.Errorf("label %s is %q, want %q", key, parent.Labels[key], want)
		}
	}
	if got := parent.Annotations["applyset.kubernetes.io/tooling"]; !strings.HasPrefix(got, "kubectl-sysop/") {
		t.Errorf("tooling %q", got)
	}
	for key, want := range map[string]string{"contains-group-kinds": "ConfigMap,Deployment.apps,StatefulSet.apps", "additional-namespaces": data} {
		if got := parent.Annotations["applyset.kubernetes.io/"+key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	members, err := admin(c).AppsV1().StatefulSets(data).List(t.Context(), metav1.ListOptions{LabelSelector: "applyset.kubernetes.io/part-of=" + id})
	if err != nil || len(members.Items) != 1 {
		t.Errorf("members %v: %v", members, err)
	}
}

// What cannot be adopted is refused before the first write.
func TestSystemIsNotAdopted(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns, data := c.Namespace(t), c.Namespace(t)
	applyText(t, c, systemMembers(ns, data))
	nothingWritten := func() {
		t.Helper()
		if _, err := admin(c).CoreV1().ConfigMaps(ns).Get(t.Context(), "sysop-shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("the parent: %v", err)
		}
		if o := bytesOf(t, c, deploymentsResource, ns, "web"); strings.Contains(o, "part-of") {
			t.Fatalf("was written: %s", o)
		}
	}
	adopt := func(kubeconfig, more string) result {
		return sysop(t, kubeconfig, "system", "adopt", "-f", systemManifest(t, ns, data, more), "--yes")
	}
	adopt(c.Kubeconfig, "  - {name: mail, roots: [deployment/mail, deploymint/x]}\n").fails(t, "app mail", "deployment/mail in "+ns, "it does not exist", "deploymint")
	nothingWritten()
	adopt(c.Kubeconfig, "  - {name: key, resources: [{apiVersion: v1, kind: Secret, metadata: {name: key}}]}\n").fails(t, "includes a Secret")
	nothingWritten()

	limited := user(t, c, "adopter-"+ns, ns, "apps/deployments", "/configmaps")
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		r := adopt(limited, "")
		if !strings.Contains(r.stderr, "statefulsets") {
			return fmt.Errorf("exit code %d: %s", r.code, r.stderr)
		}
		return nil
	})
	nothingWritten()

	db := dynamic.NewForConfigOrDie(c.Config()).Resource(statefulSetsResource).Namespace(data)
	o, err := db.Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.SetLabels(map[string]string{"applyset.kubernetes.io/part-of": "applyset-other-v1"})
	if _, err := db.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	adopt(c.Kubeconfig, "").fails(t, "StatefulSet.apps/"+data+"/db is in another ApplySet")
	nothingWritten()

	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "sysop-shop", Labels: map[string]string{"applyset.kubernetes.io/id": setID("sysop-shop", ns)},
		Annotations: map[string]string{"applyset.kubernetes.io/tooling": "kubectl/v1.33"},
	}}
	if _, err := admin(c).CoreV1().ConfigMaps(ns).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	adopt(c.Kubeconfig, "").fails(t, "other tooling", "kubectl/v1.33")
	sysop(t, c.Kubeconfig, "system", "release", "shop", "-n", ns, "--yes").fails(t, "other tooling")
}

// A System whose apps are held is not forgotten.
func TestSystemThatIsHeldIsNotReleased(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns, data := c.Namespace(t), c.Namespace(t)
	applyText(t, c, systemMembers(ns, data))
	sysop(t, c.Kubeconfig, "system", "adopt", "-f", systemManifest(t, ns, data, ""), "--yes").succeeds(t)
	journal := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "sysop-shop-journal", Labels: map[string]string{"sysop.dev/system": "shop"}},
		Data: map[string]string{"journal.json": `{"apiVersion":"sysop.dev/v1alpha1","kind":"Journal","system":"shop","namespace":"` + ns + `","next":2,
			"holds":[{"id":1,"app":"web","signal":"Stop","causes":[{"hand":"me","why":"by hand","at":"2026-01-01T00:00:00Z"}],"phase":"Held","at":"2026-01-01T00:00:00Z","operations":[]}]}`},
	}
	if _, err := admin(c).CoreV1().ConfigMaps(ns).Create(t.Context(), journal, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sysop(t, c.Kubeconfig, "system", "release", "shop", "-n", ns, "--yes").fails(t, "regulation holds 1 app", "web", "--force")
	if o := bytesOf(t, c, deploymentsResource, ns, "web"); !strings.Contains(o, "part-of") {
		t.Fatalf("was released: %s", o)
	}
	sysop(t, c.Kubeconfig, "system", "release", "shop", "-n", ns, "--yes", "--force").succeeds(t)
	if o := bytesOf(t, c, deploymentsResource, ns, "web"); strings.Contains(o, "part-of") {
		t.Errorf("was not released: %s", o)
	}
}
