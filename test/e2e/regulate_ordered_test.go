package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// newLedger is a System of a database whose pods come in order, and that is made readonly by a
// change of its template with which its pods crash.
func newLedger(t *testing.T, c *cluster.Cluster) *shop {
	t.Helper()
	s := &shop{t: t, c: c, ns: c.Namespace(t), client: dynamic.NewForConfigOrDie(c.Config())}
	applyText(t, c, strings.ReplaceAll(`apiVersion: v1
kind: Service
metadata: {name: db, namespace: NS}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: db, image: 'example.com/db:1.0.0'}]
`, "NS", s.ns))
	s.manifest = filepath.Join(t.TempDir(), "ledger.yaml")
	manifest := strings.ReplaceAll(`apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: ledger, namespace: NS}
spec:
  apps:
  - name: db
    roots: [statefulset/db]
    on:
      readonly:
      - patch: {type: merge, body: {spec: {template: {metadata: {annotations: {sysop.dev/fail: CrashLoopBackOff}}}}}}
  regulation: {signals: [readonly]}
`, "NS", s.ns)
	if err := os.WriteFile(s.manifest, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	readyPods(t, c, s.ns, 2)
	return s
}

// crashes holds the database, and waits until its last pod crashes.
func (s *shop) crashes() {
	s.t.Helper()
	s.regulate("stop", "db", "--signal", "readonly", "--yes").succeeds(s.t)
	cluster.Eventually(s.t, limit, func() error {
		pod, err := admin(s.c).CoreV1().Pods(s.ns).Get(s.t.Context(), "db-1", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) != 1 || pod.Status.ContainerStatuses[0].State.Waiting == nil {
			return fmt.Errorf("it does not crash: %+v", pod.Status)
		}
		return nil
	})
}

// What is let go is looked after: the pod that crashes with what was undone, and that its
// StatefulSet waits for, is deleted, and the answer says Healthy. Who may not delete it is told
// before, and then what is not Healthy, with the command; the command helps.
func TestRegulateRecoverOrdered(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newLedger(t, c)
	s.crashes()
	r := s.regulate("recover", "db", "--yes").succeeds(t)
	for _, want := range []string{"Pod/" + s.ns + "/db-1 is deleted: it is of the revision that was undone", "what recovered (db) is Healthy"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in:\n%s", want, r.stderr)
		}
	}
	readyPods(t, c, s.ns, 2)

	s.crashes()
	p := proxy(t, c, "")
	p.Inject(faults.Fault{Effect: faults.Forbidden(), Match: func(q *http.Request) bool {
		return q.Method == http.MethodDelete && strings.Contains(q.URL.Path, "/namespaces/"+s.ns+"/pods/")
	}})
	r = s.regulateAs(p.Kubeconfig(), "recover", "db", "--yes", "--timeout", "5s", "-o", "json")
	help := "kubectl delete pod db-1 -n " + s.ns
	if r.code != 2 || !strings.Contains(r.stderr, "what recovered (db) is not Healthy: db is ") || !strings.Contains(r.stderr, help) {
		t.Errorf("exit code %d, want 2, what is not Healthy and what helps:\n%s", r.code, r.stderr)
	}
	var d struct {
		Restored struct {
			Healthy bool
			Help    []string
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	if d.Restored.Healthy || len(d.Restored.Help) != 2 || d.Restored.Help[0] != help || d.Restored.Help[1] != "kubectl sysop health statefulset/db -n "+s.ns {
		t.Errorf("%+v", d.Restored)
	}
	if err := admin(c).CoreV1().Pods(s.ns).Delete(t.Context(), "db-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	readyPods(t, c, s.ns, 2)
}
