package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// What stands against an uninstall that was killed is said before it continues, and nothing is
// written then. Once that is settled the same command continues.
func TestUninstallRefusedFirst(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "before", "")
	s.run(s.kettle("install")...).succeeds(t)
	in := "kettle-" + s.unit
	s.killedWhen(1, deletes("/deployments/"+in), s.kettle("uninstall")...)
	s.hurryLease(in, "sysop-install-"+in)

	kettles := s.client.Resource(schema.GroupVersionResource{Group: s.unit + ".example.com", Version: "v1", Resource: "kettles"}).Namespace(c.Namespace(t))
	one := &unstructured.Unstructured{Object: map[string]any{"apiVersion": s.unit + ".example.com/v1", "kind": "Kettle", "metadata": map[string]any{"name": "new"}}}
	if _, err := kettles.Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.refused([]string{"custom resources of " + in, "nothing was written"}, s.kettle("uninstall")...)
	if err := kettles.Delete(t.Context(), "new", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r := s.run(s.kettle("uninstall")...).succeeds(t)
	if !strings.Contains(r.stderr, "then it continues") {
		t.Errorf("it does not continue:\n%s", r.stderr)
	}
	if got := strings.Join(s.history(in, in), ", "); got != "install done, uninstall done" {
		t.Errorf("history: %s", got)
	}
}

// What stands against an install that was killed is said before the recovery writes anything,
// whether the install continues or is undone first. Once that is settled the same command continues.
func TestInstallRefusedFirst(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "first", "")
	in := "kettle-" + s.unit
	s.killedWhen(1, func(q *http.Request) bool {
		return q.Method == http.MethodPatch && strings.HasSuffix(q.URL.Path, "/serviceaccounts/"+in)
	}, s.kettle("install")...)
	s.hurryLease(in, "sysop-install-"+in)

	deployments := admin(c).AppsV1().Deployments(in)
	zero := int32(0)
	labels := map[string]string{"app": "other"}
	other := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: in}, Spec: appsv1.DeploymentSpec{
		Replicas: &zero, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "example.com/x"}}}},
	}}
	if _, err := deployments.Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.refused([]string{"then it continues", in + " already exists", "nothing was written"}, s.kettle("install")...)
	s.refused([]string{"it is undone first", in + " already exists", "--unfinished only undoes", "nothing was written"}, s.kettle("install", "--set", "size=2")...)
	if err := deployments.Delete(t.Context(), in, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r := s.run(s.kettle("install")...).succeeds(t)
	if !strings.Contains(r.stderr, "then it continues") {
		t.Errorf("it does not continue:\n%s", r.stderr)
	}
	if got := strings.Join(s.history(in, in), ", "); got != "install done" {
		t.Errorf("history: %s", got)
	}
}

// An uninstall of a System that was killed, and that another user undoes, leaves the System known
// with all of its objects.
func TestUninstallUndoneByAnother(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "another", "")
	s.brew()
	ns := "tea-" + s.unit
	s.run(s.args("install")...).succeeds(t)
	s.killedWhen(1, deletes("/namespaces/"+ns+"/services/water"), "uninstall", "tea", "-n", ns, "--yes")
	if _, marked := s.known(); marked {
		t.Fatal("nothing went before it was killed")
	}
	other := newInstaller(t, c, s.program, "")
	other.run("rollback", "tea", "-n", ns, "--unfinished", "--yes").succeeds(t)
	if there, marked := s.known(); !there || !marked {
		t.Errorf("after it: known %v, marked %v", there, marked)
	}
}

// Nobody may delete: what an undo cannot take away is said with the reason, and the run ends.
func TestUndoMayNotDelete(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "nodelete", "")
	s.brew()
	ns := "tea-" + s.unit
	s.run(s.args("install")...).succeeds(t)
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file, []byte(strings.Replace(string(text), "  connections:", cronApp+crashingApp+"  connections:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: func(q *http.Request) bool { return q.Method == http.MethodDelete }})
	s.failed(s.run(s.args("upgrade", "--wait", "--timeout", "5s")...),
		"left: release/"+ns+"/tea-bad: failed to delete release: tea-bad: forbidden: injected fault", "left: release/"+ns+"/tea-cron: failed to delete release: tea-cron: forbidden: injected fault",
		"the changes were undone, except those listed")
	s.failed(s.run("uninstall", "tea", "-n", ns, "--yes", "--timeout", limit.String()), "forbidden: injected fault", "what was restored is Healthy")
	if got := strings.Join(s.history("tea", ns), ", "); got != "install done, upgrade left, uninstall undone" {
		t.Errorf("history: %s", got)
	}
}

// crashingApp is an app that the manifest of water.yaml has besides, and that never starts.
const crashingApp = `  - name: bad
    roots: [deployment/bad]
    resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: bad}
      spec:
        selector: {matchLabels: {app: bad}}
        template:
          metadata: {labels: {app: bad}, annotations: {sysop.dev/fail: CrashLoopBackOff}}
          spec: {containers: [{name: bad, image: 'example.com/bad:1.0.0'}]}
`

// Plans of an upgrade and of a rollback say which neighbours are held meanwhile.
func TestPlanNamesWhoIsHeld(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	i := newInstaller(t, c, unraced(t), "")
	file := filepath.Join(i.home, "bakery.yaml")
	if err := os.WriteFile(file, []byte(heldSystem), 0o600); err != nil {
		t.Fatal(err)
	}
	i.run("install", "-f", file, "--yes").succeeds(t)
	want := "held (Stop) while db is changed: orders"
	upgrade := []string{"upgrade", "-f", file, "--set", "version=v2"}
	if r := i.run(append(upgrade, "--dry-run=client")...).succeeds(t); strings.Count(r.stderr, want) != 1 || strings.Contains(r.stderr, "while orders is changed") {
		t.Errorf("no %q in the plan of an upgrade:\n%s", want, r.stderr)
	}
	i.run(append(upgrade, "--yes")...).succeeds(t)
	if r := i.run("rollback", "plan-held", "-n", "plan-held", "--dry-run=client").succeeds(t); strings.Count(r.stderr, want) != 1 {
		t.Errorf("no %q in the plan of a rollback:\n%s", want, r.stderr)
	}
	if r := i.run("rollback", "plan-held", "-n", "plan-held", "--dry-run=client", "-o", "json").succeeds(t); !strings.Contains(r.stdout, want) {
		t.Errorf("no %q in JSON:\n%s", want, r.stdout)
	}
}

// heldSystem has an app that is held while the one that it depends on is changed.
const heldSystem = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: plan-held, namespace: plan-held}
spec:
  values: {version: v1}
  apps:
  - name: db
    resources:
    - apiVersion: v1
      kind: Service
      metadata: {name: db}
      spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}
    - template: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: db}
        data: {version: "{{ .Values.version }}"}
  - name: orders
    on:
      Stop: [{scale: {replicas: 0}, targets: [deployment/orders]}]
    resources:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: orders}
      spec:
        replicas: 1
        selector: {matchLabels: {app: orders}}
        template:
          metadata: {labels: {app: orders}}
          spec:
            containers:
            - name: orders
              image: example.com/orders:v1
              env: [{name: DATABASE, value: "db:5432"}]
  upgrade: {regulate: true}
`
