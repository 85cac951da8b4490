package e2e

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

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

// Nobody may delete: what an undo cannot take away is said in the end, and soon.
func TestUndoMayNotDelete(t *testing.T) {
	c := bare.Cluster(t)
	s := newTea(t, c, "nodelete", "")
	s.brew()
	in, ns := "kettle-"+s.unit, "tea-"+s.unit
	forbid := func() {
		s.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: func(q *http.Request) bool { return q.Method == http.MethodDelete }})
	}
	say := func(what string, args ...string) {
		began := time.Now()
		r := s.run(args...)
		t.Logf("%s: code %d after %s:\n%s", what, r.code, time.Since(began), r.stderr)
	}
	forbid()
	say("install", s.kettle("install", "--set", "fail=CrashLoopBackOff", "--timeout", "5s")...)
	say("unfinished", "rollback", in, "-n", in, "--unfinished", "--yes", "--timeout", "5s")
	s.proxy.Reset()
	say("unfinished", "rollback", in, "-n", in, "--unfinished", "--yes", "--timeout", "5s")
	say("install", s.args("install")...)
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.NewReplacer("name: cron", "name: bad", "cronjob/cron", "deployment/bad").Replace(cronApp)
	bad = bad[:strings.Index(bad, "    - apiVersion")] + `    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: bad}
      spec:
        selector: {matchLabels: {app: bad}}
        template:
          metadata: {labels: {app: bad}, annotations: {sysop.dev/fail: CrashLoopBackOff}}
          spec: {containers: [{name: bad, image: 'example.com/bad:1.0.0'}]}
`
	if err := os.WriteFile(s.file, []byte(strings.Replace(string(text), "  connections:", cronApp+bad+"  connections:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	forbid()
	say("upgrade", s.args("upgrade", "--wait", "--timeout", "5s")...)
	say("unfinished", "rollback", "tea", "-n", ns, "--unfinished", "--yes", "--timeout", "5s")
	say("uninstall", "uninstall", "tea", "-n", ns, "--yes", "--timeout", "5s")
	say("unfinished", "rollback", "tea", "-n", ns, "--unfinished", "--yes", "--timeout", "5s")
	say("unfinished", "history", "tea", "-n", ns)
}
