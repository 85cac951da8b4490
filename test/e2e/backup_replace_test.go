package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
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

	// Again: now it is an installed System. The PostgreSQL cluster is a new one, and archives to another
	// place: that of its predecessor is in use.
	uid = w.uid("web")
	archive := w.archive(w.ns)
	r = w.run(replace...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	w.restored(saved, before, uid)
	if got := w.archive(w.ns); archive == "" || got == "" || got == archive {
		t.Errorf("the archives are %q and %q", archive, got)
	}

	// A copy, whose snapshots and their contents are its own: they go with it, and their data stays.
	elsewhere := w.ns + "-copy"
	secrets, _, _ := strings.Cut(backupShop, "apiVersion: v1\nkind: ConfigMap")
	applyText(t, w.c, strings.ReplaceAll(secrets, "NS", elsewhere))
	mapped := append(slices.Clone(restore), "--namespace-map", w.ns+"="+elsewhere)
	w.run(mapped...).succeeds(t)
	archive = w.archive(elsewhere)
	r = w.run(append(mapped, "--replace", "shop")...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	w.driver.bound(elsewhere, "files", "data-db-0", "data-db-1")
	if got := w.driver.handles(elsewhere); fmt.Sprint(got) != fmt.Sprint(saved) || w.archive(elsewhere) == archive {
		t.Errorf("the claims of the copy are from %v, want %v; it archives to %s again", got, saved, archive)
	}
	if got := w.backups(); got[name] != 4 {
		t.Errorf("the backups are %v", got)
	}

	// What was added after the backup would be deleted and not restored.
	uid = w.uid("web")
	w.add("later", `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "later"}, "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}`)
	w.driver.bound(w.ns, "later")
	const want = "is of the installation shop and not of the backup: it would be deleted and not restored"
	w.refused([]string{"PersistentVolumeClaim/" + w.ns + "/later " + want}, append(replace, "--dry-run=client")...)
	t.Logf("it says:\n%s", w.refused([]string{"PersistentVolumeClaim/" + w.ns + "/later " + want, "kubectl sysop uninstall shop -n " + w.ns}, replace...).stderr)
	w.driver.bound(w.ns, "files", "data-db-0", "data-db-1", "later")
	if got := w.uid("web"); got != uid {
		t.Error("what was refused deleted something")
	}
}

// add adds an app with one object to the installed shop.
func (w *backupWorld) add(name, text string) {
	w.t.Helper()
	store, err := install.NewStore(w.c.Config(), install.Installation{Name: "shop", Namespace: w.ns, System: true})
	if err != nil {
		w.t.Fatal(err)
	}
	j, err := store.Load(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var doc, object map[string]any
	if err := errors.Join(yaml.Unmarshal([]byte(j.Manifest), &doc), yaml.Unmarshal([]byte(text), &object)); err != nil {
		w.t.Fatal(err)
	}
	spec := doc["spec"].(map[string]any)
	spec["apps"] = append(spec["apps"].([]any), map[string]any{"name": name, "resources": []any{object}})
	more, err := yaml.Marshal(doc)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, "more.yaml"), more, 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.run("install", "-f", "more.yaml", "-n", w.ns, "--yes", "--timeout", limit.String()).succeeds(w.t)
}

// archive is where the PostgreSQL cluster archives to.
func (w *backupWorld) archive(ns string) string {
	w.t.Helper()
	spec := w.spec(pgClusters, ns, "pg").(map[string]any)
	name, _, _ := unstructured.NestedString(spec, "backup", "barmanObjectStore", "serverName")
	return name
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
