package backup_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const specs = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - name: pxc
    resources:
    - apiVersion: pxc.percona.com/v1
      kind: PerconaXtraDBCluster
      metadata: {name: pxc}
      spec: {backup: {storages: {s3: {type: s3}}, schedule: [{name: daily, schedule: "0 0 * * *", storageName: s3}], pitr: {enabled: true, storageName: s3}}}
  - name: pg
    resources:
    - apiVersion: postgresql.cnpg.io/v1
      kind: Cluster
      metadata: {name: pg}
      spec: {storage: {storageClass: fast}, bootstrap: {initdb: {database: app}}, backup: {barmanObjectStore: {destinationPath: "s3://b/"}}}
    - apiVersion: postgresql.cnpg.io/v1
      kind: ScheduledBackup
      metadata: {name: daily}
      spec: {schedule: "0 0 0 * * *", cluster: {name: pg}}
  - name: web
    resources:
    - apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: files}
      spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec: {template: {spec: {containers: [{name: web, env: [{name: DB, value: pxc.shop.svc}]}]}}}
  inputs:
  - {secret: web}
  - {secret: other}
  dependencies:
  - {from: web, to: pxc}
`

func ref(kind, name string) object.Ref {
	k, group, _ := strings.Cut(kind, ".")
	return object.Ref{Group: group, Kind: k, Namespace: "shop", Name: name}
}

func saved() *backup.Plan {
	return &backup.Plan{
		Name: "shop-backup-20260901-120000", Source: "shop", Namespace: "shop", Time: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC), Specs: specs,
		Parts: []backup.Part{
			{
				Object: ref("PerconaXtraDBCluster.pxc.percona.com", "pxc"), Method: backup.ByOperator, Provider: "XtraBackup", Status: health.Healthy, Handle: "s3://b/pxc",
				Backup: ref("PerconaXtraDBClusterBackup.pxc.percona.com", "pxc-20260901-120000"),
				Result: map[string]any{"status": map[string]any{"destination": "s3://b/pxc", "s3": map[string]any{"bucket": "b"}}},
			},
			{
				Object: ref("Cluster.postgresql.cnpg.io", "pg"), Method: backup.ByOperator, Provider: "Barman object store", Status: health.Healthy, Handle: "1",
				Backup: ref("Backup.postgresql.cnpg.io", "pg-20260901-120000"), Result: map[string]any{"status": map[string]any{"backupId": "1"}},
			},
			{
				Object: ref("PersistentVolumeClaim", "files"), Method: backup.BySnapshot, Provider: "fast", Status: health.Healthy, Handle: "snap-1", Driver: "csi.example.com", Size: "2Gi",
				Backup: ref("VolumeSnapshot.snapshot.storage.k8s.io", "files-20260901-120000"),
				Claim:  map[string]any{"storageClassName": "fast", "accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
			},
		},
	}
}

// resource finds an object of a System, as fields joined by dots.
func resource(t *testing.T, sys *system.System, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for i := range sys.Apps {
		for _, o := range sys.Apps[i].Resources {
			if o.GetKind() == kind && o.GetName() == name {
				return o
			}
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

func value(t *testing.T, o *unstructured.Unstructured, path ...string) any {
	t.Helper()
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func needs(sys *system.System, from, to string) bool {
	for _, d := range sys.Dependencies {
		if d.From == from && d.To == to {
			return true
		}
	}
	return false
}

// A restore elsewhere: every kind of part by its own way, in order, without a value of a Secret in
// the manifest.
func TestRestored(t *testing.T) {
	t.Parallel()
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "data": map[string]any{"password": "Y29ycmVjdA=="}}}
	r, err := backup.Restored(saved(), backup.RestoreOptions{
		Namespaces: map[string]string{"shop": "copy"}, StorageClasses: map[string]string{"fast": "slow"}, Secrets: []*unstructured.Unstructured{secret},
		Time: time.Date(2026, 9, 3, 8, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	sys := r.System
	if r.Namespace != "copy" || len(r.Parts) != 3 || len(r.Unrestored) != 0 {
		t.Errorf("it is %+v", r)
	}
	restore := resource(t, sys, "PerconaXtraDBClusterRestore", "pxc-20260901-120000")
	if value(t, restore, "spec", "backupSource", "s3", "bucket") != "b" || value(t, restore, "spec", "backupSource", "azure") != nil || value(t, restore, "spec", "pxcCluster") != "pxc" {
		t.Errorf("the restore is %v", restore)
	}
	if !needs(sys, "restore-pxc", "pxc") || !needs(sys, "web", "restore-pxc") || !needs(sys, "web", "volume-snapshots") {
		t.Errorf("the dependencies are %+v", sys.Dependencies)
	}
	pg := resource(t, sys, "Cluster", "pg")
	if value(t, pg, "spec", "bootstrap", "initdb") != nil || value(t, pg, "spec", "bootstrap", "recovery", "recoveryTarget", "backupID") != "1" ||
		value(t, pg, "spec", "backup", "barmanObjectStore", "serverName") != "pg-20260903-080000-e562ea44" || value(t, pg, "spec", "storage", "storageClass") != "slow" {
		t.Errorf("the PostgreSQL cluster is %v", pg)
	}
	claim := resource(t, sys, "PersistentVolumeClaim", "files")
	if value(t, claim, "spec", "dataSource", "name") != "files-20260901-120000" || value(t, claim, "spec", "storageClassName") != "slow" || value(t, claim, "spec", "resources", "requests", "storage") != "2Gi" {
		t.Errorf("the claim is %v", claim)
	}
	content := resource(t, sys, "VolumeSnapshotContent", "files-20260901-120000-copy")
	if value(t, content, "spec", "source", "snapshotHandle") != "snap-1" || value(t, content, "spec", "deletionPolicy") != "Retain" || value(t, content, "spec", "volumeSnapshotRef", "namespace") != "copy" {
		t.Errorf("the content is %v", content)
	}
	if strings.Contains(r.Manifest, "Y29ycmVjdA") || !strings.Contains(r.Manifest, "secret: web") {
		t.Errorf("the manifest is\n%s", r.Manifest)
	}
	if len(r.SecretObjects) != 1 || r.SecretObjects[0].GetNamespace() != "copy" || len(sys.Inputs) != 1 || sys.Inputs[0].Secret != "other" {
		t.Errorf("the Secrets are %v, the inputs %+v", r.SecretObjects, sys.Inputs)
	}
	if len(r.Notes) != 4 || !strings.Contains(r.Notes[0], "Deployment.apps/web names a Service") ||
		!strings.Contains(r.Notes[1], "PerconaXtraDBCluster.pxc.percona.com/copy/pxc is restored without spec.backup.schedule, spec.backup.pitr") ||
		!strings.Contains(r.Notes[2], "ScheduledBackup.postgresql.cnpg.io/copy/daily is left out") || !strings.Contains(r.Notes[3], "--keep-schedules") {
		t.Errorf("the notes are %q", r.Notes)
	}
}

// What writes to the stores of backups of the original is in no copy, unless the original is gone.
func TestRestoredApart(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{"shop": "copy"}
	for _, c := range []struct {
		name                        string
		live                        bool
		options                     backup.RestoreOptions
		schedule, pitr, archive, by bool
	}{
		{"in place", true, backup.RestoreOptions{}, true, true, true, true},
		{"another namespace", true, backup.RestoreOptions{Namespaces: elsewhere}, false, false, true, false},
		{"another cluster", false, backup.RestoreOptions{}, false, false, true, false},
		{"a rehearsal", true, backup.RestoreOptions{Namespaces: elsewhere, Rehearsal: true}, false, false, false, false},
		{"in place of the original", false, backup.RestoreOptions{Replace: true}, true, true, true, true},
		{"in place of a copy", true, backup.RestoreOptions{Namespaces: elsewhere, Replace: true}, false, false, true, false},
		{"the original is gone", false, backup.RestoreOptions{KeepSchedules: true}, true, true, true, true},
	} {
		p := saved()
		p.Live = c.live
		r, err := backup.Restored(p, c.options)
		if err != nil {
			t.Fatal(err)
		}
		pxc, pg := resource(t, r.System, "PerconaXtraDBCluster", "pxc"), resource(t, r.System, "Cluster", "pg")
		has := func(o *unstructured.Unstructured, path ...string) bool { return value(t, o, path...) != nil }
		if has(pxc, "spec", "backup", "schedule") != c.schedule || has(pxc, "spec", "backup", "pitr") != c.pitr || !has(pxc, "spec", "backup", "storages") ||
			has(pg, "spec", "backup") != c.archive || strings.Contains(r.Manifest, "ScheduledBackup") != c.by {
			t.Errorf("%s:\n%s", c.name, r.Manifest)
		}
		// Its data comes from the original in any case, and its archive goes elsewhere.
		name, _ := value(t, pg, "spec", "backup", "barmanObjectStore", "serverName").(string)
		if !has(pg, "spec", "bootstrap", "recovery") || c.archive && !strings.HasPrefix(name, "pg-") {
			t.Errorf("%s: the PostgreSQL cluster is %v", c.name, pg)
		}
	}
}

// A PostgreSQL cluster of Percona is made from its repository, and archives to a path of its own; one
// whose repository is a volume is not restored.
func TestRestoredRepository(t *testing.T) {
	t.Parallel()
	for repo, restored := range map[string]bool{"s3: {bucket: b}": true, "volume: {volumeClaimSpec: {}}": false} {
		p := &backup.Plan{Name: "shop-backup-20260901-120000", Namespace: "shop", Time: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
		p.Specs = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - name: pg
    resources:
    - apiVersion: pgv2.percona.com/v2
      kind: PerconaPGCluster
      metadata: {name: pg}
      spec: {backups: {pgbackrest: {configuration: [{secret: {name: keys}}], global: {repo1-path: /pgbackrest/pg}, repos: [{name: repo1, ` + repo + `}]}}}
`
		provider := "pgBackRest"
		if restored {
			provider = "pgBackRest to a cloud store"
		}
		p.Parts = []backup.Part{{
			Object: ref("PerconaPGCluster.pgv2.percona.com", "pg"), Method: backup.ByOperator, Provider: provider, Status: health.Healthy, Handle: "20260901-120000F",
			Backup: ref("PerconaPGBackup.pgv2.percona.com", "pg-20260901-120000"), Result: map[string]any{"status": map[string]any{"backupName": "20260901-120000F"}},
		}}
		r, err := backup.Restored(p, backup.RestoreOptions{Namespaces: map[string]string{"shop": "copy"}})
		if err != nil {
			t.Fatal(err)
		}
		pg := resource(t, r.System, "PerconaPGCluster", "pg")
		from, _ := value(t, pg, "spec", "dataSource", "pgbackrest").(map[string]any)
		if (from != nil) != restored || (len(r.Unrestored) == 0) != restored {
			t.Errorf("%s: from %v; not restored: %v", repo, from, r.Unrestored)
		}
		if restored && (from["stanza"] != "db" || from["global"].(map[string]any)["repo1-path"] != "/pgbackrest/pg" || from["repo"].(map[string]any)["name"] != "repo1" ||
			from["options"].([]any)[1] != "--set=20260901-120000F" || len(from["configuration"].([]any)) != 1) {
			t.Errorf("it is made from %v", from)
		}
		if path, _ := value(t, pg, "spec", "backups", "pgbackrest", "global", "repo1-path").(string); !strings.HasPrefix(path, "/pgbackrest/repo1/pg-") {
			t.Errorf("%s: it archives to %s", repo, path)
		}
	}
}

// In its own namespace, in the cluster that it was made in, a claim is made from the snapshot that
// exists.
func TestRestoredInPlace(t *testing.T) {
	t.Parallel()
	p := saved()
	p.Live = true
	r, err := backup.Restored(p, backup.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Manifest, "VolumeSnapshotContent") || len(r.Parts) != 3 {
		t.Errorf("it is\n%s", r.Manifest)
	}
}

// What is not saved, or what nobody takes up, is not restored.
func TestNotRestored(t *testing.T) {
	t.Parallel()
	p := saved()
	p.Parts[2].Object.Name = "lost"
	owner := ref("Widget.example.com", "w")
	p.Parts[2].Owner = &owner
	p.Parts[0].Provider = "another way"
	r, err := backup.Restored(p, backup.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Unrestored) != 2 || !strings.Contains(r.Unrestored[0].Reason, "the catalog knows no restore of another way") || !strings.Contains(r.Unrestored[1].Reason, "Widget.example.com/shop/w creates its own claims") {
		t.Errorf("not restored: %+v", r.Unrestored)
	}
	p.Parts[1].Status = health.Progressing
	if _, err := backup.Restored(p, backup.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "Cluster.postgresql.cnpg.io/shop/pg is not saved") {
		t.Errorf("an incomplete backup: %v", err)
	}
}
