package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// backupBroker is what the shop has besides: a broker with a claim. It is stopped with who needs
// the database, since the worker needs both.
const backupBroker = `apiVersion: v1
kind: Service
metadata: {name: broker, namespace: NS}
spec: {clusterIP: None, selector: {app: broker}, ports: [{port: 5672}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: broker, namespace: NS}
spec:
  serviceName: broker
  replicas: 1
  selector: {matchLabels: {app: broker}}
  template:
    metadata: {labels: {app: broker}}
    spec: {containers: [{name: broker, image: 'example.com/broker:1', volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const quiescedSystem = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NS}
spec:
  apps:
  - {name: db, roots: [statefulset/db, service/db]}
  - {name: broker, roots: [statefulset/broker, service/broker]}
  - {name: pg, roots: [cluster.postgresql.cnpg.io/pg]}
  - {name: web, roots: [deployment/web], on: {Stop: [{preset: stop}]}}
  - {name: worker, roots: [deployment/worker], on: {Stop: [{preset: stop}]}}
  dependencies:
  - {from: web, to: db, reason: it stores orders}
  - {from: web, to: pg, reason: it reads the catalogue}
  - {from: worker, to: db, reason: it stores results}
  - {from: worker, to: broker, reason: it takes orders}
`

// quiescedWorld is the shop with a broker and a writer.
type quiescedWorld struct {
	*backupWorld
	writer *shopWriter
}

func newQuiescedWorld(t *testing.T) *quiescedWorld {
	t.Helper()
	w := &quiescedWorld{backupWorld: newBackupWorld(t)}
	applyText(t, w.c, strings.ReplaceAll(backupBroker, "NS", w.ns))
	if err := os.WriteFile(filepath.Join(w.home, "shop.yaml"), []byte(strings.ReplaceAll(quiescedSystem, "NS", w.ns)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.driver.bound(w.ns, "data-broker-0")
	w.running()
	return w
}

// shopWriter plays the processes of the web server and the worker: while a pod of one of them
// exists, it writes to all volumes.
type shopWriter struct {
	mu     sync.Mutex
	writes []time.Time
}

func (w *quiescedWorld) write() {
	w.writer = &shopWriter{}
	pods := admin(w.c).CoreV1().Pods(w.ns)
	ctx, done := w.t.Context(), make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app in (web, worker)"})
			if err == nil && len(list.Items) > 0 {
				w.writer.mu.Lock()
				w.writer.writes = append(w.writer.writes, time.Now())
				w.writer.mu.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	w.t.Cleanup(func() { <-done })
}

// between is how often the writer wrote after a time and before another one.
func (s *shopWriter) between(from, to time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.writes {
		if at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}

// quiescedBackup is what a test reads of a backup.
type quiescedBackup struct {
	Name, Consistency, Spread string
	Notes                     []string
	Parts                     []struct {
		Object, Method, Status string
		Taken                  time.Time
	}
	Pause *struct {
		Apps                []string
		Began, Saved, Ended time.Time
		Broken              string
	}
}

func (w *quiescedWorld) backup(name string) quiescedBackup {
	w.t.Helper()
	r := w.run("backup", "show", name, "-n", w.ns, "-o", "json").succeeds(w.t)
	var out quiescedBackup
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		w.t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	return out
}

// taken are the moments of the first and the last snapshot.
func (w *quiescedWorld) taken() (first, last time.Time) {
	w.t.Helper()
	all, err := w.client.Resource(contentsGVR).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range all.Items {
		if ns, _, _ := unstructured.NestedString(all.Items[i].Object, "spec", "volumeSnapshotRef", "namespace"); ns != w.ns {
			continue
		}
		nanoseconds, _, _ := unstructured.NestedInt64(all.Items[i].Object, "status", "creationTime")
		at := time.Unix(0, nanoseconds)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}

// running waits until the apps run as their manifests say, and nothing is held.
func (w *quiescedWorld) running() {
	w.t.Helper()
	w.runs("web", 2)
	w.runs("worker", 1)
}

// runs waits until a Deployment has its replicas.
func (w *backupWorld) runs(name string, replicas int32) {
	w.t.Helper()
	cluster.Eventually(w.t, limit, func() error {
		d, err := admin(w.c).AppsV1().Deployments(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if *d.Spec.Replicas != replicas || d.Status.ReadyReplicas != replicas {
			return fmt.Errorf("%s has %d replicas, %d are ready, want %d", name, *d.Spec.Replicas, d.Status.ReadyReplicas, replicas)
		}
		return nil
	})
}

// held are the apps that regulation holds.
func (w *backupWorld) held() []string {
	w.t.Helper()
	r := w.run("regulate", "status", "-f", "shop.yaml", "-o", "json").succeeds(w.t)
	var doc struct {
		Holds []struct{ App string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		w.t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	var out []string
	for _, h := range doc.Holds {
		out = append(out, h.App)
	}
	return out
}

// quiesced is the command of a quiesced backup.
func quiesced(name string, more ...string) []string {
	return append([]string{"backup", "run", "--system", "shop.yaml", "--consistency", "quiesced", "--name", name, "--yes", "--timeout", "60s"}, more...)
}

// TestBackupQuiesced: while a backup of a database, a broker, a web server and a worker is taken,
// the two that write are stopped, and they run again afterwards; the pause is measured. Its namespace is
// deleted, and it is restored in another one: specs and Secrets are equal, and claims from their snapshots.
func TestBackupQuiesced(t *testing.T) {
	w := newQuiescedWorld(t)
	w.write()
	const name = "shop-backup-20260901-120000"
	cluster.Eventually(t, limit, func() error {
		if w.writer.between(time.Time{}, time.Now()) == 0 {
			return fmt.Errorf("nothing was written yet")
		}
		return nil
	})
	key, recipient := w.identity("key.txt")
	r := w.run(quiesced(name, "--file", "shop.backup", "--recipient", recipient)...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	for _, words := range []string{"stopped while the parts are copied, for 5m0s at most: web, worker", "stopped: web, worker", "recovered after", "the snapshots were taken within"} {
		if !strings.Contains(r.stderr, words) {
			t.Errorf("it does not say %q", words)
		}
	}
	b := w.backup(name)
	if b.Consistency != "quiesced" || b.Pause == nil || !slices.Equal(b.Pause.Apps, []string{"web", "worker"}) || !b.Pause.Ended.After(b.Pause.Began) || b.Pause.Broken != "" || b.Pause.Saved.IsZero() {
		t.Fatalf("the backup is %+v", b)
	}
	for _, p := range b.Parts { // documents have whole seconds
		if p.Method == "snapshot" && (p.Taken.Before(b.Pause.Began) || p.Taken.After(b.Pause.Ended)) {
			t.Errorf("%s was taken at %s, the pause was from %s to %s", p.Object, p.Taken, b.Pause.Began, b.Pause.Ended)
		}
	}
	first, last := w.taken()
	if n := w.writer.between(first, last); n > 0 || first.Equal(last) {
		t.Errorf("%d writes between the snapshots of %s and %s", n, first, last)
	}
	w.running()
	if held := w.held(); len(held) > 0 {
		t.Errorf("held after the backup: %v", held)
	}
	cluster.Eventually(t, limit, func() error {
		if w.writer.between(b.Pause.Ended, time.Now()) == 0 {
			return fmt.Errorf("nothing was written after the pause")
		}
		return nil
	})
	w.quiescedTooLong()
	w.quiescedInterrupted()
	w.quiescedDeclined()
	w.quiescedRefused()
	// Who needs the database by the manifest comes after it.
	steps := w.restoreElsewhere(key, name).stderr
	for _, app := range []string{"web", "worker"} {
		if first, then := strings.Index(steps, "/shop-db\n"), strings.LastIndex(steps, "/shop-"+app+"\n"); first < 0 || then < first {
			t.Errorf("%s does not wait for the database:\n%s", app, steps)
		}
	}
}

// quiescedInterrupted: an interrupt recovers the apps at once, long before the end of the pause.
func (w *quiescedWorld) quiescedInterrupted() {
	w.t.Helper()
	w.driver.fail(true)
	run := w.start(quiesced("shop-backup-20260901-140000")...)
	cluster.Eventually(w.t, limit, func() error {
		if len(w.driver.snapshots(w.ns)) < 12 {
			return fmt.Errorf("no snapshots yet")
		}
		return nil
	})
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	w.running()
	r := run.wait()
	w.driver.fail(false)
	if held := w.held(); r.code == 0 || len(held) > 0 {
		w.t.Errorf("exit code %d, held after an interrupt: %v\n%s", r.code, held, r.stderr)
	}
}

// quiescedRefused: a run that continues a killed one, and fails before it saves, lets go what that stopped.
func (w *quiescedWorld) quiescedRefused() {
	w.t.Helper()
	const name = "shop-backup-20260901-160000"
	w.killedAt(1, creates("volumesnapshots"), quiesced(name)...)
	if held := w.held(); len(held) != 2 {
		w.t.Fatalf("held after the kill: %v", held)
	}
	r := w.run(quiesced(name, "--delete-data=other")...)
	w.failed(r, "--delete-data=other")
	w.running()
	if held := w.held(); len(held) > 0 || !strings.Contains(r.stderr, "recovered after") {
		w.t.Errorf("held after it failed: %v\n%s", held, r.stderr)
	}
	w.run("rollback", name, "-n", w.ns, "--unfinished", "--yes", "--delete-data="+name).succeeds(w.t)
}

// quiescedDeclined: who does not agree to continue a run that was killed does not wait for its
// snapshots, and what it stopped runs again.
func (w *quiescedWorld) quiescedDeclined() {
	w.t.Helper()
	const name = "shop-backup-20260901-150000"
	w.killedAt(1, creates("volumesnapshots"), quiesced(name)...)
	if held := w.held(); len(held) != 2 {
		w.t.Fatalf("held after the kill: %v", held)
	}
	args := append(slices.DeleteFunc(quiesced(name), func(arg string) bool { return arg == "--yes" }), "--kubeconfig", w.proxy.Kubeconfig(), "--cache-dir", w.home)
	args[slices.Index(args, "shop.yaml")] = filepath.Join(w.home, "shop.yaml")
	var said bytes.Buffer // in this process, as if a person were there to ask
	code := cli.Main(w.t.Context(), command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader("n\n"), Out: io.Discard, ErrOut: &said},
		Getenv:    func(string) string { return "" }, Now: time.Now, Ask: true,
	}, args)
	w.running()
	if held := w.held(); code == 0 || len(held) > 0 {
		w.t.Errorf("exit code %d, held after it was declined: %v\n%s", code, held, said.String())
	}
	w.run("rollback", name, "-n", w.ns, "--unfinished", "--yes", "--delete-data="+name).succeeds(w.t)
}

// quiescedTooLong: a pause that ends before the parts are copied is an error, and the record does
// not say quiesced.
func (w *quiescedWorld) quiescedTooLong() {
	w.t.Helper()
	const name = "shop-backup-20260901-130000"
	w.driver.fail(true)
	run := w.start(quiesced(name, "--pause-at-most", "8s")...)
	cluster.Eventually(w.t, limit, func() error {
		if len(w.driver.snapshots(w.ns)) < 8 {
			return fmt.Errorf("no snapshots yet")
		}
		return nil
	})
	w.running() // although nothing is copied
	w.driver.fail(false)
	r := run.wait()
	w.failed(r, "is not quiesced: the pause ended after")
	w.t.Logf("it says:\n%s", r.stderr)
	if b := w.backup(name); b.Consistency != "app" || len(b.Notes) == 0 {
		w.t.Errorf("the backup is %+v", b)
	}
}

// isWrite says whether a request changes something, apart from events and the renewal of leases.
func isWrite(q *http.Request) bool {
	return q.Method != http.MethodGet && !q.URL.Query().Has("dryRun") && !strings.Contains(q.URL.Path, "/events") &&
		!strings.Contains(q.URL.Path, "/apis/authorization.k8s.io/") && (q.Method != http.MethodPut || !strings.Contains(q.URL.Path, "/leases/"))
}
