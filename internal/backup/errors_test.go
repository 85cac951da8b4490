package backup_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestRefused: what makes a restore impossible is an error before anything is written.
func TestRefused(t *testing.T) {
	t.Parallel()
	lost := saved()
	lost.Parts[2].Status, lost.Parts[2].Message = health.Missing, "it does not exist"
	if _, err := backup.Restored(lost, backup.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "PersistentVolumeClaim/shop/files is not saved: VolumeSnapshot.snapshot.storage.k8s.io/shop/files-20260901-120000 is Missing it does not exist") {
		t.Errorf("a missing snapshot: %v", err)
	}
	p := saved()
	if err := p.CheckTime(p.Time.Add(-4 * time.Minute)); err != nil {
		t.Errorf("clocks that differ a little: %v", err)
	}
	if err := p.CheckTime(p.Time.Add(-2 * time.Hour)); err == nil || !strings.Contains(err.Error(), "2h0m0s ahead of the clock of this machine") {
		t.Errorf("a clock that is behind: %v", err)
	}
}

// TestScratch: a rehearsal has namespaces of its own, the same ones each time, and hosts move there.
func TestScratch(t *testing.T) {
	t.Parallel()
	p := saved()
	p.Parts[0].Object.Namespace = strings.Repeat("a", 60)
	p.Parts[1].Object.Namespace = strings.Repeat("a", 61)
	got, err := backup.Scratch(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got["shop"] != "shop-verify-20260901-120000" {
		t.Errorf("the namespaces are %v", got)
	}
	names := map[string]bool{}
	for _, name := range got {
		if len(name) > 63 || names[name] {
			t.Errorf("%s is too long, or not the only one", name)
		}
		names[name] = true
	}
	r, err := backup.Restored(saved(), backup.RestoreOptions{Namespaces: map[string]string{"shop": "copy"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Manifest, "pxc.shop.svc") || !strings.Contains(r.Manifest, "pxc.copy.svc") {
		t.Errorf("the host name of the database is not in the new namespace:\n%s", r.Manifest)
	}
}

// TestOnlyMissing: what exists is left out, with the apps that have nothing else.
func TestOnlyMissing(t *testing.T) {
	t.Parallel()
	p := saved()
	p.Live = true
	r, err := backup.Restored(p, backup.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.OnlyMissing(func(ref object.Ref) bool { return ref.Kind != "Deployment" }); err != nil {
		t.Fatal(err)
	}
	if r.Apps != 1 || r.Name != "shop-restored-20260901-120000" || len(r.System.Apps[0].Resources) != 1 || r.System.Apps[0].Resources[0].GetKind() != "Deployment" {
		t.Errorf("what is restored:\n%s", r.Manifest)
	}
	if len(r.Parts) != 0 || len(r.Unrestored) != 3 || !strings.Contains(r.Unrestored[0].Reason, "it exists") {
		t.Errorf("parts %v, not restored %v", r.Parts, r.Unrestored)
	}
}

// TestVelero: a backup by Velero is restored by one Restore of it, which maps the namespaces.
func TestVelero(t *testing.T) {
	t.Parallel()
	p := saved()
	p.Parts = []backup.Part{{
		Object: object.Ref{Kind: "Namespace", Name: "shop"}, Method: backup.ByVelero, Provider: "main", Status: health.Healthy,
		Backup: object.Ref{Group: "velero.io", Kind: "Backup", Namespace: "velero", Name: p.Name},
	}}
	r, err := backup.Restored(p, backup.RestoreOptions{Namespaces: map[string]string{"shop": "copy"}})
	if err != nil {
		t.Fatal(err)
	}
	o := r.System.Apps[0].Resources[0]
	text, _ := json.Marshal(o.Object["spec"])
	if o.GetKind() != "Restore" || o.GetNamespace() != "velero" || string(text) != `{"backupName":"shop-backup-20260901-120000","includedNamespaces":["shop"],"namespaceMapping":{"shop":"copy"},"restorePVs":true}` {
		t.Errorf("it is %s %s", o.GetKind(), text)
	}
	if _, err := backup.Restored(p, backup.RestoreOptions{StorageClasses: map[string]string{"a": "b"}}); err == nil || !strings.Contains(err.Error(), "is one of Velero") {
		t.Errorf("storage classes: %v", err)
	}
}
