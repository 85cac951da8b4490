package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRestoreReplace: what exists is overwritten only when its System is named. It is deleted with its
// data, also by a run that was killed meanwhile, and its claims come from the snapshots; the backup
// stays. A System that a restore installed is uninstalled and restored again.
func TestRestoreReplace(t *testing.T) {
	w := newBackupWorld(t)
	const name = "shop-backup-20260901-120000"
	w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", limit.String(), "--file", "shop.backup").succeeds(t)
	saved := w.driver.saved(w.ns, name)
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	before := w.spec(deployments, w.ns, "web")
	apps := admin(w.c).AppsV1().Deployments(w.ns)
	if _, err := apps.Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	uid := w.uid("web")
	restore := []string{"restore", "run", name, "-n", w.ns, "--no-operators", "--yes", "--timeout", limit.String()}

	// Nothing is overwritten without the name, with another one, or with --only-missing.
	w.refused([]string{"already exists"}, restore...)
	w.refused([]string{"--replace web: the backup " + name + " is of the System shop"}, append(restore, "--replace", "web")...)
	w.refused([]string{"name --replace or --only-missing"}, append(restore, "--replace", "shop", "--only-missing")...)
	// Nor by the file, whose snapshots are those that would be deleted.
	w.refused([]string{"has the data of the backup: it is not replaced"}, "restore", "run", "--file", "shop.backup", "--no-operators", "--yes", "--replace", "shop")
	// A dry run shows what would be deleted.
	r := w.run("restore", "run", name, "-n", w.ns, "--no-operators", "--replace", "shop", "--dry-run=client").succeeds(t)
	for _, words := range []string{"Deployment.apps/" + w.ns + "/web exists, and is deleted with its data first", "PersistentVolumeClaim/" + w.ns + "/data-db-1 exists"} {
		if !strings.Contains(r.stderr, words) {
			t.Errorf("no %q in:\n%s", words, r.stderr)
		}
	}
	if got := w.uid("web"); got != uid {
		t.Fatal("the dry run deleted something")
	}

	// Killed while it deletes, and continued by the same command.
	replace := append(slices.Clone(restore), "--replace", "shop")
	deletes := func(q *http.Request) bool { return q.Method == http.MethodDelete && !q.URL.Query().Has("dryRun") }
	if !w.killed(2, deletes, replace...) {
		t.Fatal("it deleted less than two objects")
	}
	r = w.run(replace...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	w.restored(saved, before, uid)
	if got := w.backups(); got[name] != 4 {
		t.Errorf("the backups are %v", got)
	}

	// Again: now it is an installed System.
	uid = w.uid("web")
	r = w.run(replace...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	w.restored(saved, before, uid)
}

// restored checks that the claims come from the snapshots of a backup, and that web is a new one of
// the spec in it.
func (w *backupWorld) restored(saved map[string]string, spec any, former string) {
	w.t.Helper()
	w.driver.bound(w.ns, "files", "data-db-0", "data-db-1")
	if got := w.driver.handles(w.ns); fmt.Sprint(got) != fmt.Sprint(saved) {
		w.t.Errorf("the claims are from %v, want %v", got, saved)
	}
	if w.uid("web") == former {
		w.t.Error("web was not replaced")
	}
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	if got := w.spec(deployments, w.ns, "web"); fmt.Sprint(got) != fmt.Sprint(spec) {
		w.t.Errorf("web is\n%v\nwant\n%v", got, spec)
	}
}

func (w *backupWorld) uid(deployment string) string {
	w.t.Helper()
	o, err := admin(w.c).AppsV1().Deployments(w.ns).Get(w.t.Context(), deployment, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(o.UID)
}
