package backup_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// linked is a System whose web server names its database in many ways, and takes traffic from outside.
const linked = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - name: pg
    resources:
    - apiVersion: postgresql.cnpg.io/v1
      kind: Cluster
      metadata: {name: pg}
      spec: {plugins: [{name: barman-cloud.cloudnative-pg.io, parameters: {barmanObjectName: store, serverName: pg-first}}]}
  - name: db
    resources:
    - {apiVersion: v1, kind: Service, metadata: {name: db}, spec: {clusterIP: None}}
  - name: web
    resources:
    - apiVersion: v1
      kind: ConfigMap
      metadata: {name: web}
      data:
        moved: "db.shop:5432 mysql://db-0.db.shop/x,db.shop. pg-rw.shop pg.shop any.shop.svc db.shop.svc.cluster.local"
        stays: "xdb.shop db.shop.example.com db.shop-2 my-db.shop cache.shop shop.svc db.shop_x"
    - apiVersion: networking.k8s.io/v1
      kind: Ingress
      metadata: {name: web}
      spec: {rules: [{host: shop.example.com}], tls: [{hosts: [shop.example.com, www.shop.example.com]}]}
    - apiVersion: k8s.mariadb.com/v1alpha1
      kind: User
      metadata: {name: web, namespace: shop}
      spec: {mariaDbRef: {name: db, namespace: shop}}
`

func linkedPlan() *backup.Plan {
	p := saved()
	p.Specs = linked
	p.Parts = []backup.Part{{
		Object: ref("Cluster.postgresql.cnpg.io", "pg"), Method: backup.ByOperator, Provider: "Barman Cloud plug-in", Status: health.Healthy, Handle: "1",
		Backup: ref("Backup.postgresql.cnpg.io", "pg-20260901-120000"), Result: map[string]any{"status": map[string]any{"backupId": "1"}},
	}}
	return p
}

func linkedTo(t *testing.T, o backup.RestoreOptions) *backup.Restore {
	t.Helper()
	o.Namespaces = map[string]string{"shop": "copy"}
	r, err := backup.Restored(linkedPlan(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The names of Services move with their namespace, with and without .svc, and no other names do; so
// do references.
func TestHosts(t *testing.T) {
	t.Parallel()
	r := linkedTo(t, backup.RestoreOptions{})
	web := resource(t, r.System, "ConfigMap", "web")
	if got := value(t, web, "data", "moved"); got != "db.copy:5432 mysql://db-0.db.copy/x,db.copy. pg-rw.copy pg.copy any.copy.svc db.copy.svc.cluster.local" {
		t.Errorf("moved: %s", got)
	}
	if got := value(t, web, "data", "stays"); got != "xdb.shop db.shop.example.com db.shop-2 my-db.shop cache.shop shop.svc db.shop_x" {
		t.Errorf("what is no Service: %s", got)
	}
	if user := resource(t, r.System, "User", "web"); user.GetNamespace() != "copy" || value(t, user, "spec", "mariaDbRef", "namespace") != "copy" {
		t.Errorf("the user is %v", user)
	}
}

// The values of Secrets do not move: a rehearsal is refused, and a restore says so.
func TestLinkedSecrets(t *testing.T) {
	t.Parallel()
	const value = "postgres://web:correct-horse@db.shop:5432/shop"
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "data": map[string]any{"url": base64.StdEncoding.EncodeToString([]byte(value))}}}
	settings := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web-2", "namespace": "shop"}, "data": map[string]any{"host": "pg-rw.shop"}}}
	for _, o := range []*unstructured.Unstructured{secret, settings} {
		options := backup.RestoreOptions{Namespaces: map[string]string{"shop": "copy"}, Secrets: []*unstructured.Unstructured{o}, Rehearsal: true}
		_, err := backup.Restored(linkedPlan(), options)
		if err == nil || !strings.Contains(err.Error(), object.RefOf(o).String()+" names a Service of the namespace shop: the copy would use what runs there") || strings.Contains(err.Error(), "correct-horse") {
			t.Errorf("a rehearsal: %v", err)
		}
		options.Rehearsal = false
		r, err := backup.Restored(linkedPlan(), options)
		if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), object.RefOf(o).String()+" names a Service of the namespace shop, and its values stay as they are") {
			t.Errorf("a restore: %v, %v", r, err)
		}
		options.Namespaces = nil
		if r, err := backup.Restored(linkedPlan(), options); err != nil || len(r.Notes) > 0 {
			t.Errorf("in place: %v, %v", r, err)
		}
	}
}

// A rehearsal takes no traffic; a restore beside the original says that both would.
func TestRoutes(t *testing.T) {
	t.Parallel()
	r := linkedTo(t, backup.RestoreOptions{})
	if text := strings.Join(r.Notes, "\n"); !strings.Contains(text, "Ingress.networking.k8s.io/copy/web has the hosts of the one in shop (shop.example.com and www.shop.example.com)") {
		t.Errorf("the notes are %s", text)
	}
	r = linkedTo(t, backup.RestoreOptions{Rehearsal: true})
	if err := r.Rehearsed(func(object.Ref) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Manifest, "Ingress") || !strings.Contains(r.Manifest, "mariaDbRef") || !strings.Contains(strings.Join(r.Notes, "\n"), "Ingress.networking.k8s.io/copy/web is not part of the rehearsal: it would take the traffic of the one that runs") {
		t.Errorf("notes %q, manifest\n%s", r.Notes, r.Manifest)
	}
}

// Each restore has an archive of its own, and reads that of the original.
func TestArchive(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 3, 8, 0, 0, 0, time.UTC)
	archive := func(at time.Time) any {
		cluster := resource(t, linkedTo(t, backup.RestoreOptions{Time: at}).System, "Cluster", "pg")
		from := value(t, cluster, "spec", "externalClusters").([]any)[0].(map[string]any)["plugin"].(map[string]any)["parameters"].(map[string]any)["serverName"]
		if from != "pg-first" {
			t.Errorf("it is restored from %v", from)
		}
		return value(t, cluster, "spec", "plugins").([]any)[0].(map[string]any)["parameters"].(map[string]any)["serverName"]
	}
	first, again, second := archive(at), archive(at), archive(at.Add(time.Second))
	if first != again || first == second || first == "pg-first" {
		t.Errorf("the archives are %v, %v and %v", first, again, second)
	}
}

// A map of what the backup does not have, and one that moves two objects to one place, are errors.
func TestMaps(t *testing.T) {
	t.Parallel()
	_, err := backup.Restored(linkedPlan(), backup.RestoreOptions{Namespaces: map[string]string{"shpo": "copy"}})
	if err == nil || !strings.Contains(err.Error(), "--namespace-map shpo=copy: the backup shop-backup-20260901-120000 has nothing in the namespace shpo") {
		t.Errorf("an unknown namespace: %v", err)
	}
	p := linkedPlan()
	p.Specs += "    - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: data}}\n"
	if _, err := backup.Restored(p, backup.RestoreOptions{Namespaces: map[string]string{"shop": "a", "data": "b"}}); err != nil {
		t.Errorf("two namespaces: %v", err)
	}
	for _, maps := range []map[string]string{{"shop": "copy", "data": "copy"}, {"shop": "data"}} {
		_, err := backup.Restored(p, backup.RestoreOptions{Namespaces: maps})
		if err == nil || !strings.Contains(err.Error(), "two objects of the backup would be ConfigMap/"+maps["shop"]+"/web") {
			t.Errorf("%v: %v", maps, err)
		}
	}
	r, err := backup.Restored(saved(), backup.RestoreOptions{StorageClasses: map[string]string{"fast": "slow", "fats": "slow"}})
	if err != nil || r.Notes[0] != "--storage-class-map fats=slow: nothing in the backup has that storage class" {
		t.Errorf("an unknown class: %q, %v", r.Notes, err)
	}
}
