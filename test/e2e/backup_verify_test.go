package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// verified is what the record says of the last rehearsal.
func (w *backupWorld) verified(name string) (v struct {
	Verified *struct {
		Passed                       bool
		RecoveryTime, Check, Message string
		RecoveryPoint                string
	}
},
) {
	w.t.Helper()
	r := w.run("backup", "show", name, "-n", w.ns, "-o", "json").succeeds(w.t)
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		w.t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	return v
}

// nothingLeft: no rehearsal leaves a namespace, or the content of a snapshot for one.
func (w *backupWorld) nothingLeft(scratch string) {
	w.t.Helper()
	if _, err := admin(w.c).CoreV1().Namespaces().Get(w.t.Context(), scratch, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		w.t.Errorf("the namespace %s is left: %v", scratch, err)
	}
	contents := schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotcontents"}
	cluster.Eventually(w.t, limit, func() error {
		all, err := w.client.Resource(contents).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range all.Items {
			if name := all.Items[i].GetName(); strings.HasSuffix(name, scratch) {
				return fmt.Errorf("the content %s is left", name)
			}
		}
		return nil
	})
}

// TestVerify: a backup that was never rehearsed says so; a rehearsal measures the recovery time, and
// leaves nothing, also when its check fails and when it is killed at any of many writes.
func TestVerify(t *testing.T) {
	w := newBackupWorld(t)
	const name = "shop-backup-20260901-120000"
	scratch := w.ns + "-verify-20260901-120000"
	w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", "60s").succeeds(t)
	if r := w.run("backup", "list", "-n", w.ns).succeeds(t); !strings.Contains(r.stdout, "never") {
		t.Errorf("the list does not say that it was never rehearsed:\n%s", r.stdout)
	}
	verify := []string{"backup", "verify", name, "-n", w.ns, "--yes", "--timeout", "90s"}
	w.refused([]string{"-f SYSTEM takes the check"}, append(slices.Clone(verify), "--allow-exec")...)
	verify = append(verify, "-f", "shop.yaml")
	w.refused([]string{"--allow-exec"}, verify...)
	verify = append(verify, "--allow-exec")

	r := w.run(append(verify, "--dry-run", "server")...).succeeds(t)
	w.nothingLeft(scratch)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)

	r = w.run(verify...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	for _, words := range []string{"copied to " + scratch + ": ", "Secret/" + w.ns + "/web", "the check runs on this machine: [\"/bin/sh\""} {
		if !strings.Contains(r.stderr, words) {
			t.Errorf("it does not say %q", words)
		}
	}
	w.nothingLeft(scratch)
	if v := w.verified(name).Verified; v == nil || !v.Passed || v.RecoveryTime == "" || v.Check != "exec" || v.RecoveryPoint != "2026-09-01T12:00:00Z" {
		t.Errorf("the record says %+v", v)
	}
	if said := r.stdout + r.stderr; strings.Contains(said, "correct-horse") || strings.Contains(said, "Y29ycmVjdC1ob3JzZQ") {
		t.Error("the value of a Secret is printed")
	}

	failing := strings.Replace(strings.ReplaceAll(backupSystem, "NS", w.ns), "test -n", "echo no rows; test -z", 1)
	if err := os.WriteFile(filepath.Join(w.home, "failing.yaml"), []byte(failing), 0o600); err != nil {
		t.Fatal(err)
	}
	w.failed(w.run(append(verify, "-f", "failing.yaml")...), "the check failed", "no rows")
	w.nothingLeft(scratch)
	if v := w.verified(name).Verified; v == nil || v.Passed || !strings.Contains(v.Message, "the check failed") {
		t.Errorf("the record says %+v", v)
	}

	w.driver.fail(true)
	w.failed(w.run(append(verify, "--timeout", "5s")...), "the rehearsal of "+name+" failed")
	w.driver.fail(false)
	w.nothingLeft(scratch)

	writes := w.writesOf(verify...)
	t.Logf("a rehearsal has %d writes", writes)
	for n := 1; n < writes; n += max(1, writes/3) {
		w.killedVerify(n, scratch, isWrite, verify...)
		w.run(verify...).succeeds(t)
		w.nothingLeft(scratch)
	}
	w.removeNamespace()
}

// writesOf is how many writes a run has.
func (w *backupWorld) writesOf(args ...string) int {
	w.t.Helper()
	var n atomic.Int32
	w.proxy.Reset()
	w.proxy.Inject(faults.Fault{Match: func(q *http.Request) bool {
		if isWrite(q) {
			n.Add(1)
		}
		return false
	}})
	w.run(args...).succeeds(w.t)
	w.proxy.Reset()
	return int(n.Load())
}

// killedVerify kills a run right after the effect of its n-th write that matches, and ends its lock.
func (w *backupWorld) killedVerify(n int, scratch string, match func(*http.Request) bool, args ...string) {
	w.t.Helper()
	started := make(chan *os.Process, 1)
	w.proxy.Reset()
	w.proxy.Inject(faults.Fault{Match: faults.Nth(n, match), Effect: faults.Lost(func() { _ = (<-started).Kill() })})
	run := w.start(args...)
	started <- run.cmd.Process
	r := run.wait()
	w.proxy.Reset()
	w.t.Logf("killed at write %d: exit code %d", n, r.code)
	leases := admin(w.c).CoordinationV1().Leases(scratch)
	for _, name := range []string{"sysop-verify", "sysop-install-shop"} {
		l, err := leases.Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			continue // it was killed before, or after the lock
		}
		*l.Spec.LeaseDurationSeconds = 1
		if _, err := leases.Update(w.t.Context(), l, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			w.t.Fatal(err)
		}
	}
}
