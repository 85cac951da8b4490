package e2e

import (
	"net/http"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// What stands against an uninstall that was killed is said before it continues, and nothing is
// written then. Once that is settled the same command continues.
func TestUninstallRefusedFirst(t *testing.T) {
	c := bare.Cluster(t)
	s := newTea(t, c, "before", "")
	s.run(s.kettle("install")...).succeeds(t)
	in := "kettle-" + s.unit
	s.killedWhen(1, deletes("/deployments/"+in), s.kettle("uninstall")...)
	s.hurryLease(in, "sysop-install-"+in)

	kettles := s.client.Resource(schema.GroupVersionResource{Group: s.unit + ".example.com", Version: "v1", Resource: "kettles"}).Namespace("default")
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

// An uninstall of a System that was killed, and that another user undoes, leaves the System known
// with all of its objects.
func TestUninstallUndoneByAnother(t *testing.T) {
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
		"was undone, but for what is told")
	s.failed(s.run("uninstall", "tea", "-n", ns, "--yes", "--timeout", "5s"), "forbidden: injected fault", "what was brought back is Healthy")
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
