package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// scheduled prints a schedule, applies it, and returns the CronJob.
func (w *backupWorld) scheduled(args ...string) *batchv1.CronJob {
	w.t.Helper()
	args = append([]string{"backup", "schedule", "--image", "registry.example.com/kubectl-sysop"}, args...)
	r := w.run(args...).succeeds(w.t)
	w.t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	objects, err := parsed(r.stdout)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.c.Apply(w.t.Context(), objects); err != nil {
		w.t.Fatal(err)
	}
	job := &batchv1.CronJob{}
	for _, o := range objects {
		switch o.GetKind() {
		case "CronJob":
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, job); err != nil {
				w.t.Fatal(err)
			}
		case "ClusterRole", "ClusterRoleBinding":
			w.t.Cleanup(func() { // what is not of the namespace stays
				kind := rbacv1.SchemeGroupVersion.WithResource(strings.ToLower(o.GetKind()) + "s")
				deleted(w.t, w.client.Resource(kind).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}))
			})
		}
	}
	if job.Name == "" {
		w.t.Fatalf("no CronJob in:\n%s", r.stdout)
	}
	return job
}

// fired waits until the CronJob has made another Job than those, and returns the arguments of its
// container: no kubelet runs it.
func (w *backupWorld) fired(job *batchv1.CronJob, seen map[string]bool) []string {
	w.t.Helper()
	jobs := admin(w.c).BatchV1().Jobs(w.ns)
	var args []string
	cluster.Eventually(w.t, 3*limit, func() error {
		all, err := jobs.List(w.t.Context(), metav1.ListOptions{LabelSelector: "sysop.dev/backup-of=shop"})
		if err != nil {
			return err
		}
		for i := range all.Items {
			j := &all.Items[i]
			if !seen[j.Name] && metav1.IsControlledBy(j, job) {
				seen[j.Name], args = true, j.Spec.Template.Spec.Containers[0].Args
				policy := metav1.DeletePropagationBackground // or no other one is made
				return jobs.Delete(w.t.Context(), j.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
			}
		}
		return fmt.Errorf("%s has made no Job yet", job.Name)
	})
	return args
}

// TestBackupSchedule: what backup schedule prints is accepted in a namespace of the restricted
// standard, its CronJob fires, and its command line, as its account and with no other rights, takes
// a backup; the next one deletes the older one, but not if it is not complete itself.
func TestBackupSchedule(t *testing.T) {
	w := newBackupWorld(t)
	w.refused([]string{"the CronJob finds the System by its name"}, "backup", "schedule", "-f", "shop.yaml", "--schedule", "* * * * *", "--image", "x")
	w.run("system", "adopt", "-f", "shop.yaml", "--yes").succeeds(t)
	label := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	if _, err := admin(w.c).CoreV1().Namespaces().Patch(t.Context(), w.ns, "application/merge-patch+json", label, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.refused([]string{"has at most 52 characters"}, "backup", "schedule", "-f", "shop.yaml", "--schedule", "* * * * *", "--image", "x", "--name", strings.Repeat("x", 53))
	job := w.scheduled("--system", "shop", "-n", w.ns, "--schedule", "* * * * *", "--keep", "1", "--timeout", "60s")
	live, err := admin(w.c).BatchV1().CronJobs(w.ns).Get(t.Context(), job.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := tokenOf(t, w.c, w.ns, job.Spec.JobTemplate.Spec.Template.Spec.ServiceAccountName)
	since, seen := time.Now(), map[string]bool{}
	account := "system:serviceaccount:" + w.ns + ":" + job.Name

	run := func(args ...string) result {
		return startIn(t, installLimit, w.home, w.program, kubeconfig, args...).wait()
	}
	if r := w.run("backup", "list", "-n", w.ns).succeeds(t); !strings.Contains(r.stderr, "shop: the next backup is at ") {
		t.Errorf("backup list does not say when the next one is:\n%s", r.stderr)
	}
	args := w.fired(live, seen)
	first := run(args...).succeeds(t)
	saved := w.backups()
	if len(saved) != 1 || saved[nameIn(saved)] != 4 {
		t.Fatalf("the backups are %v, want one of 4 parts:\n%s", saved, first.stderr)
	}
	w.driver.fail(true)
	w.failed(run(append(slices.Clone(args), "--timeout", "5s")...), "the storage is full")
	w.driver.fail(false)
	if got := w.backups(); !maps.Equal(got, saved) {
		t.Errorf("after a failed run, the backups are %v, want %v", got, saved)
	}
	second := run(w.fired(live, seen)...).succeeds(t)
	t.Logf("it says:\n%s", second.stderr)
	if got := w.backups(); len(got) != 1 || got[nameIn(got)] != 4 || nameIn(got) == nameIn(saved) {
		t.Errorf("the backups are %v, want one that is newer than %v", got, saved)
	}
	// As of regulate watch: kinds of which the stacks have nothing are not read, which is told.
	writes, forbidden := writesOf(t, w.c, account, since)
	forbidden = slices.DeleteFunc(forbidden, func(f string) bool { return strings.HasPrefix(f, "list ") || strings.HasPrefix(f, "watch ") })
	if len(forbidden) > 0 || len(writes) == 0 {
		t.Errorf("forbidden: %v; %d writes", forbidden, len(writes))
	}
}

// TestBackupRetention: of three backups, one is kept, and with it the last good one, since the newest has
// lost a snapshot.
func TestBackupRetention(t *testing.T) {
	w := newBackupWorld(t)
	names := []string{"shop-backup-20260901-120000", "shop-backup-20260902-120000", "shop-backup-20260903-120000"}
	for _, name := range names {
		w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", "60s").succeeds(t)
	}
	snapshots := w.client.Resource(snapshotsGVR).Namespace(w.ns)
	all, err := snapshots.List(t.Context(), metav1.ListOptions{LabelSelector: "sysop.dev/backup=" + names[2]})
	if err != nil || len(all.Items) != 3 {
		t.Fatalf("%d snapshots of %s: %v", len(all.Items), names[2], err)
	}
	if err := snapshots.Delete(t.Context(), all.Items[0].GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error {
		if got := w.backups(); got[names[2]] != 3 {
			return fmt.Errorf("the backups are %v", got)
		}
		return nil
	})
	for range 2 {
		w.run("backup", "delete", "--keep", "1", "-n", w.ns, "--yes").succeeds(t)
		if got, want := w.backups(), map[string]int{names[1]: 4, names[2]: 3}; !maps.Equal(got, want) {
			t.Errorf("the backups are %v, want %v", got, want)
		}
	}
	if got := w.driver.saved(w.ns, names[0]); len(got) > 0 {
		t.Errorf("snapshots of the deleted backup: %v", got)
	}
}

// nameIn is the name of the only backup.
func nameIn(backups map[string]int) string {
	for name := range backups {
		return name
	}
	return ""
}
