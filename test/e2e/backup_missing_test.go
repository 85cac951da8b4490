package e2e

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// TestRestoreInPlace: what was lost alone is restored into its namespace, from its own snapshot.
func TestRestoreInPlace(t *testing.T) {
	w := newBackupWorld(t)
	const name = "shop-backup-20260901-120000"
	w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", "60s", "--file", "shop.backup").succeeds(t)
	saved := w.driver.saved(w.ns, name)
	restore := []string{"restore", "run", name, "-n", w.ns, "--no-operators", "--yes", "--timeout", "90s"}

	// Nothing that exists is overwritten.
	w.refused([]string{"already exists"}, restore...)
	w.refused([]string{"nothing of " + name + " is missing"}, append(restore, "--only-missing")...)

	// The web server is lost with its claim.
	apps, core := admin(w.c).AppsV1(), admin(w.c).CoreV1()
	before, err := apps.StatefulSets(w.ns).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	foreground := metav1.DeletePropagationForeground
	if err := apps.Deployments(w.ns).Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error {
		_, err := apps.Deployments(w.ns).Get(t.Context(), "web", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err := core.PersistentVolumeClaims(w.ns).Delete(t.Context(), "files", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error {
		_, err := core.PersistentVolumeClaims(w.ns).Get(t.Context(), "files", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	r := w.run(append(restore, "--only-missing")...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	w.driver.bound(w.ns, "files")
	if got := w.driver.handles(w.ns); got["files"] != saved["files"] {
		t.Errorf("the claims are from %v, want files of %s", got, saved["files"])
	}
	after, err := apps.StatefulSets(w.ns).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil || after.UID != before.UID {
		t.Errorf("the StatefulSet was touched: %v, %v", after, err)
	}

	// Beside it, by the name of the record.
	r = w.run(append(restore, "--namespace-map", w.ns+"=shop-beside")...)
	w.failed(r, "Secret/shop-beside/web")
	w.refused([]string{"clock"}, "restore", "run", "--file", w.skewed(), "--yes")
}

// skewed is a file of a backup that says that it was made long after now.
func (w *backupWorld) skewed() string {
	w.t.Helper()
	const name = "shop-backup-29991231-120000"
	w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", "60s", "--file", "skewed.backup").succeeds(w.t)
	w.run("backup", "delete", name, "-n", w.ns, "--yes", "--delete-data="+name).succeeds(w.t)
	return "skewed.backup"
}
