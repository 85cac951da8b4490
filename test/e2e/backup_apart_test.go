package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestBackupApart: a copy does not write to the backups of its original. While a backup is rehearsed, its
// PostgreSQL cluster recovers from the store of the original and archives nowhere, and its CronJob does
// not exist; a restore in another namespace archives to a place of its own.
func TestBackupApart(t *testing.T) {
	w := newBackupWorld(t)
	applyText(t, w.c, strings.ReplaceAll(`apiVersion: batch/v1
kind: CronJob
metadata: {name: dump, namespace: NS}
spec:
  schedule: "0 2 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: dump, image: 'example.com/dump:1'}]}}}}
`, "NS", w.ns))
	manifest := strings.Replace(strings.ReplaceAll(backupSystem, "NS", w.ns), "  backup:\n", "  - {name: dump, roots: [cronjob/dump]}\n  backup:\n", 1)
	if err := os.WriteFile(filepath.Join(w.home, "shop.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "shop-backup-20260901-120000"
	w.run("backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", limit.String()).succeeds(t)

	scratch := w.ns + "-verify-20260901-120000"
	seen := w.watchCopy(scratch)
	r := w.run("backup", "verify", name, "-n", w.ns, "-f", "shop.yaml", "--allow-exec", "--yes", "--timeout", limit.String()).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	for _, words := range []string{"pg is restored without spec.backup: a copy must not write", "CronJob.batch/" + scratch + "/dump is not part of the rehearsal"} {
		if !strings.Contains(r.stderr, words) {
			t.Errorf("it does not say %q", words)
		}
	}
	spec, cronJobs := seen()
	if spec == nil || cronJobs > 0 {
		t.Fatalf("the copy has the cluster %v and %d CronJobs", spec, cronJobs)
	}
	if archive, recovers := spec["backup"], spec["bootstrap"]; archive != nil || recovers == nil {
		t.Errorf("the copy archives to %v, and starts by %v", archive, recovers)
	}

	// Elsewhere: the Secrets are there, as in a namespace that was prepared.
	elsewhere := w.ns + "-copy"
	secrets, _, _ := strings.Cut(backupShop, "apiVersion: v1\nkind: ConfigMap")
	applyText(t, w.c, strings.ReplaceAll(secrets, "NS", elsewhere))
	r = w.run("restore", "run", name, "-n", w.ns, "--namespace-map", w.ns+"="+elsewhere, "--no-operators", "--yes", "--timeout", limit.String()).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	copied := w.spec(pgClusters, elsewhere, "pg").(map[string]any)
	archive, _, _ := unstructured.NestedString(copied, "backup", "barmanObjectStore", "serverName")
	if from, _, _ := unstructured.NestedSlice(copied, "externalClusters"); !strings.HasPrefix(archive, "pg-") || len(from) != 1 {
		t.Errorf("the copy archives to %q, and reads from %v", archive, from)
	}
	w.run("uninstall", "shop", "-n", elsewhere, "--yes", "--delete-data=shop").succeeds(t)
}

// watchCopy looks at a namespace that a rehearsal creates and deletes, until it is asked what it saw: the
// spec of the PostgreSQL cluster, and how many CronJobs.
func (w *backupWorld) watchCopy(namespace string) func() (spec map[string]any, cronJobs int) {
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	var spec map[string]any
	most := 0
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if o, err := w.client.Resource(pgClusters).Namespace(namespace).Get(ctx, "pg", metav1.GetOptions{}); err == nil {
				spec, _ = o.Object["spec"].(map[string]any)
			}
			if jobs, err := admin(w.c).BatchV1().CronJobs(namespace).List(ctx, metav1.ListOptions{}); err == nil {
				most = max(most, len(jobs.Items))
			}
			waitBriefly(ctx)
		}
	}()
	return func() (map[string]any, int) {
		stop()
		<-done
		return spec, most
	}
}
