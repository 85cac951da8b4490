package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
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

// checks writes manifests of the shop with other checks.
func (w *backupWorld) checks(texts map[string]string) {
	w.t.Helper()
	text, _, _ := strings.Cut(strings.ReplaceAll(backupSystem, "NS", w.ns), "    verify:\n")
	for name, check := range texts {
		if err := os.WriteFile(filepath.Join(w.home, name), []byte(text+"    verify: "+check+"\n"), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestVerifyJob: the check is a Job in the namespace of the copy, of which kwok completes the pods. One
// that does not complete fails the rehearsal.
func TestVerifyJob(t *testing.T) {
	w := newBackupWorld(t)
	const name = "shop-backup-20260901-120000"
	w.checks(map[string]string{
		"job.yaml":  `{job: {template: {template: {spec: {restartPolicy: Never, containers: [{name: check, image: 'example.com/check:1'}]}}}}}`,
		"late.yaml": `{job: {template: {activeDeadlineSeconds: 2, template: {spec: {restartPolicy: Never, nodeSelector: {no: node}, containers: [{name: check, image: 'example.com/check:1'}]}}}}}`,
	})
	w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", "60s").succeeds(t)
	verify := func(file string) []string {
		return []string{"backup", "verify", name, "-n", w.ns, "-f", file, "--yes", "--timeout", "90s"}
	}
	w.run(verify("job.yaml")...).succeeds(t)
	w.nothingLeft(w.ns + "-verify-20260901-120000")
	if v := w.verified(name).Verified; v == nil || !v.Passed || v.Check != "job" || v.RecoveryTime == "" {
		t.Errorf("the record says %+v", v)
	}
	w.failed(w.run(verify("late.yaml")...), "the check failed: its Job failed: DeadlineExceeded")
	w.nothingLeft(w.ns + "-verify-20260901-120000")
	if v := w.verified(name).Verified; v == nil || v.Passed {
		t.Errorf("the record says %+v", v)
	}
}

// site is what answers for the pods of a Service, which do not run. It is ready at the third question.
type site struct {
	mu    sync.Mutex
	asked []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.RequestURI())
	if r.URL.Path != "/ready" || len(s.asked) < 3 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprint(w, "correct-horse")
}

// TestVerifyHTTP: the check asks a Service of the copy through the API server until it is ready. What it
// answers is not printed.
func TestVerifyHTTP(t *testing.T) {
	w := newBackupWorld(t)
	const name = "shop-backup-20260901-120000"
	scratch := w.ns + "-verify-20260901-120000"
	s := &site{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	// The egress of the API server takes the port of a pod, on this machine.
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: status, namespace: NS}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: PORT}]}\n"
	applyText(t, w.c, strings.NewReplacer("NS", w.ns, "PORT", port).Replace(service))
	w.checks(map[string]string{
		"http.yaml": `{http: {service: status, port: 80, path: '/ready?full=1'}, timeout: 60s}`,
		"late.yaml": `{http: {service: status, port: 80, path: /never}, timeout: 5s}`,
	})
	for _, file := range []string{"http.yaml", "late.yaml"} {
		text, err := os.ReadFile(filepath.Join(w.home, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.home, file), []byte(strings.Replace(string(text), "[deployment/web]", "[deployment/web, service/status]", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.run("backup", "run", "-f", "http.yaml", "--name", name, "--yes", "--timeout", "60s").succeeds(t)
	verify := []string{"backup", "verify", name, "-n", w.ns, "--yes", "--timeout", "90s"}
	passed := w.run(verify...).succeeds(t) // by the check of the record, which is no command
	w.nothingLeft(scratch)
	if v := w.verified(name).Verified; v == nil || !v.Passed || v.Check != "http" || v.RecoveryTime == "" {
		t.Errorf("the record says %+v", v)
	}
	s.mu.Lock()
	if want := []string{"/ready?full=1", "/ready?full=1", "/ready?full=1"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %v, want %v", s.asked, want)
	}
	s.mu.Unlock()
	late := w.run(append(verify, "-f", "late.yaml")...)
	w.failed(late, "the check did not pass within 5s: GET /never of the Service status: it answered 503")
	w.nothingLeft(scratch)
	if secretIn(passed.stdout + passed.stderr + late.stdout + late.stderr) {
		t.Error("the answer is printed")
	}
}

// TestVerify: a backup that was never rehearsed says so; a rehearsal measures the recovery time, and
// leaves nothing, also when its check fails. TestBackupChaos kills it.
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
	if secretIn(r.stdout + r.stderr) {
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
}
