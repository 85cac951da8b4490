package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// backupShop is a database of two claims, a web server with a claim and a Secret, a worker, and a
// PostgreSQL cluster, of which the test plays the operator: it has neither pods nor claims.
const backupShop = `apiVersion: v1
kind: Namespace
metadata: {name: NS}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: NS}
stringData: {password: correct-horse}
---
apiVersion: v1
kind: Secret
metadata: {name: s3, namespace: NS}
stringData: {id: key}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS}
data: {color: blue}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: files, namespace: NS}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: NS}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 3306}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: db, image: 'example.com/db:1', volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: web
        image: example.com/web:1
        env:
        - {name: DB_HOST, value: db}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: web, key: password}}}
        envFrom: [{configMapRef: {name: settings}}]
        volumeMounts: [{name: files, mountPath: /files}]
      volumes: [{name: files, persistentVolumeClaim: {claimName: files}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: NS}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: worker, image: 'example.com/worker:1', env: [{name: DB_HOST, value: db}]}]}
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: pg, namespace: NS}
spec:
  instances: 1
  storage: {size: 1Gi}
  backup: {barmanObjectStore: {destinationPath: 's3://backups/', s3Credentials: {accessKeyId: {name: s3, key: id}}}}
`

const backupSystem = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NS}
spec:
  apps:
  - {name: db, roots: [statefulset/db, service/db]}
  - {name: pg, roots: [cluster.postgresql.cnpg.io/pg]}
  - {name: web, roots: [deployment/web]}
  - {name: worker, roots: [deployment/worker]}
  backup:
    verify:
      exec: {command: [/bin/sh, -c, 'test -n "$SYSOP_NAMESPACE"']}
`

// cnpg are the two kinds of CloudNativePG that a backup is about, with open schemas.
const cnpg = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.postgresql.cnpg.io}
spec:
  group: postgresql.cnpg.io
  scope: Namespaced
  names: {kind: Cluster, plural: clusters, singular: cluster, listKind: ClusterList}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.postgresql.cnpg.io}
spec:
  group: postgresql.cnpg.io
  scope: Namespaced
  names: {kind: Backup, plural: backups, singular: backup, listKind: BackupList}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

var (
	pgClusters = schema.GroupVersionResource{Group: "postgresql.cnpg.io", Version: "v1", Resource: "clusters"}
	pgBackups  = schema.GroupVersionResource{Group: "postgresql.cnpg.io", Version: "v1", Resource: "backups"}
)

// backupWorld is the shop on a cluster, with who backs it up.
type backupWorld struct {
	*installer
	driver *csi
	ns     string
}

// newBackupWorld has a namespace of its own, by the name of the test.
func newBackupWorld(t *testing.T) *backupWorld {
	t.Helper()
	c := withoutOperators.Cluster(t)
	w := &backupWorld{installer: newInstaller(t, c, unraced(t), ""), driver: startCSI(t, c), ns: "shop-" + strings.ToLower(t.Name())}
	applyText(t, c, cnpg)
	t.Cleanup(w.removeDefinitions)
	w.playOperator()
	t.Cleanup(w.removeNamespaces)
	applyText(t, c, strings.ReplaceAll(backupShop, "NS", w.ns))
	if err := os.WriteFile(filepath.Join(w.home, "shop.yaml"), []byte(strings.ReplaceAll(backupSystem, "NS", w.ns)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.driver.bound(w.ns, "files", "data-db-0", "data-db-1")
	return w
}

// removeNamespaces leaves nothing of a test that has failed to the next one: it deletes the namespaces
// of the shop and of its copies, while the driver still runs, and the contents that were retained.
func (w *backupWorld) removeNamespaces() {
	ctx, spaces := context.Background(), admin(w.c).CoreV1().Namespaces()
	for left, since := []string{"unread"}, time.Now(); len(left) > 0; waitBriefly(ctx) {
		if time.Since(since) > limit {
			w.t.Errorf("the namespaces %v are still there", left)
			return
		}
		all, err := spaces.List(ctx, metav1.ListOptions{})
		if err != nil {
			w.t.Error(err)
			return
		}
		left = nil
		for i := range all.Items {
			if ns := &all.Items[i]; strings.HasPrefix(ns.Name, w.ns) {
				left = append(left, ns.Name)
				if ns.DeletionTimestamp == nil {
					deleted(w.t, spaces.Delete(ctx, ns.Name, metav1.DeleteOptions{}))
				}
			}
		}
	}
	contents, err := w.client.Resource(contentsGVR).List(ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Error(err)
		return
	}
	for i := range contents.Items {
		o := &contents.Items[i]
		if ns, _, _ := unstructured.NestedString(o.Object, "spec", "volumeSnapshotRef", "namespace"); strings.HasPrefix(ns, w.ns) {
			_, err := w.client.Resource(contentsGVR).Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			deleted(w.t, err)
			deleted(w.t, w.client.Resource(contentsGVR).Delete(ctx, o.GetName(), metav1.DeleteOptions{}))
		}
	}
}

// removeDefinitions leaves the cluster as it was for the tests that share it.
func (w *backupWorld) removeDefinitions() {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	for _, name := range []string{"clusters.postgresql.cnpg.io", "backups.postgresql.cnpg.io"} {
		if err := w.client.Resource(crds).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			w.t.Error(err)
		}
	}
}

// playOperator plays CloudNativePG: clusters are healthy, and backups complete.
func (w *backupWorld) playOperator() {
	ctx := w.t.Context()
	status := func(kind schema.GroupVersionResource, status map[string]any) {
		all, err := w.client.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return
		}
		for i := range all.Items {
			o := &all.Items[i]
			if _, done := o.Object["status"]; !done {
				o.Object["status"] = status
				_, _ = w.client.Resource(kind).Namespace(o.GetNamespace()).UpdateStatus(ctx, o, metav1.UpdateOptions{}) // again in the next round
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			status(pgClusters, map[string]any{"phase": "Cluster in healthy state", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
			status(pgBackups, map[string]any{"phase": "completed", "backupId": "20260901T120000", "serverName": "pg"})
			waitBriefly(ctx)
		}
	}()
	w.t.Cleanup(func() { <-done })
}

// killed kills a run right after the effect of its n-th write that matches; false if it has fewer.
func (w *backupWorld) killed(n int, match func(*http.Request) bool, args ...string) bool {
	w.t.Helper()
	var killed atomic.Bool
	started := make(chan *os.Process, 1)
	w.proxy.Reset()
	w.proxy.Inject(faults.Fault{Match: faults.Nth(n, match), Effect: faults.Lost(func() {
		killed.Store(true)
		_ = (<-started).Kill() // it may have ended by itself
	})})
	run := w.start(args...)
	started <- run.cmd.Process
	r := run.wait()
	w.proxy.Reset()
	if !killed.Load() {
		r.succeeds(w.t)
	}
	return killed.Load()
}

// killedAt kills a run right after the effect of its n-th write that matches, and ends its locks.
func (w *backupWorld) killedAt(n int, match func(*http.Request) bool, args ...string) {
	w.t.Helper()
	if !w.killed(n, match, args...) {
		w.t.Fatalf("%v has less than %d such writes", args, n)
	}
	w.expire(w.ns)
}

// expire ends the Leases of what was killed, in some namespaces.
func (w *backupWorld) expire(spaces ...string) {
	w.t.Helper()
	for _, ns := range spaces {
		leases := admin(w.c).CoordinationV1().Leases(ns)
		all, err := leases.List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range all.Items {
			l := &all.Items[i]
			if l.Spec.LeaseDurationSeconds == nil {
				continue
			}
			*l.Spec.LeaseDurationSeconds = 1
			l.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-time.Minute)}
			if _, err := leases.Update(w.t.Context(), l, metav1.UpdateOptions{}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func creates(resource string) func(*http.Request) bool {
	return func(q *http.Request) bool {
		return (q.Method == http.MethodPost || q.Method == http.MethodPatch) && strings.Contains(q.URL.Path, "/"+resource) && !q.URL.Query().Has("dryRun")
	}
}

// backups are the names of the backups, with how many parts are saved.
func (w *backupWorld) backups() map[string]int {
	w.t.Helper()
	r := w.run("backup", "list", "-n", w.ns, "-o", "json").succeeds(w.t)
	var doc struct {
		Backups []struct {
			Name  string
			Parts []struct{ Status string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		w.t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	out := map[string]int{}
	for _, b := range doc.Backups {
		for _, p := range b.Parts {
			if p.Status == "Healthy" {
				out[b.Name]++
			}
		}
	}
	return out
}

// spec is the spec of an object without what the API server chose for its namespace.
func (w *backupWorld) spec(resource schema.GroupVersionResource, ns, name string) any {
	w.t.Helper()
	o, err := w.client.Resource(resource).Namespace(ns).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Object["spec"]
}

// TestBackup: a System of a database, a web server, a worker and a PostgreSQL cluster is backed up
// through the real snapshot controller; the run is killed, continued and undone; its namespace is
// deleted, and it is restored in another one from the file: the specs and Secrets are equal, and
// the claims come from the right snapshots.
func TestBackup(t *testing.T) {
	w := newBackupWorld(t)
	key, recipient := w.identity("key.txt")
	r := w.run("backup", "plan", "--system", "shop.yaml", "--strict").succeeds(t)
	for _, words := range []string{"data-db-0", "data-db-1", "files", "Barman object store"} {
		if !strings.Contains(r.stdout, words) {
			t.Errorf("no %s in the plan:\n%s", words, r.stdout)
		}
	}

	const first, second, third = "shop-backup-20260901-120000", "shop-backup-20260901-130000", "shop-backup-20260901-140000"
	run := func(name string, more ...string) []string {
		return append([]string{"backup", "run", "--system", "shop.yaml", "--name", name, "--yes", "--timeout", limit.String()}, more...)
	}
	// Killed while snapshots were created: the same command continues, once the name confirms that
	// those of the step that did not finish are deleted.
	file := []string{"--file", "shop.backup", "--recipient", recipient}
	w.killedAt(1, creates("volumesnapshots"), run(first, file...)...)
	r = w.run(run(first, append(file, "--delete-data="+first)...)...).succeeds(t)
	t.Logf("it says:\n%s", r.stderr)
	if got := w.backups(); got[first] != 4 {
		t.Fatalf("the backups are %v, want 4 parts of %s", got, first)
	}
	if got := w.history(first, w.ns); !slices.Equal(got, []string{"install done"}) {
		t.Errorf("history: %v", got)
	}

	// Killed, and undone: no snapshot is orphaned.
	before := w.driver.snapshots(w.ns)
	w.killedAt(1, creates("volumesnapshots"), run(second)...)
	w.run("rollback", second, "--unfinished", "-n", w.ns, "--yes", "--delete-data="+second).succeeds(t)
	if got := w.driver.snapshots(w.ns); !slices.Equal(got, before) {
		t.Errorf("snapshots after the undo: %v, want %v", got, before)
	}

	// A snapshot that fails takes the others with it.
	w.driver.fail(true)
	w.failed(w.run(run(third, "--timeout", "5s")...), "the storage is full")
	w.driver.fail(false)
	if got := w.driver.snapshots(w.ns); !slices.Equal(got, before) {
		t.Errorf("snapshots after a failed backup: %v, want %v", got, before)
	}

	w.retentionRights(first)
	w.restoreElsewhere(key, first)
}

// retentionRights: the roles of a run that keeps one backup are enough to delete another one.
func (w *backupWorld) retentionRights(older string) {
	w.t.Helper()
	rights := func(args ...string) map[string]bool {
		roles, err := apply.Parse([]byte(w.run(args...).succeeds(w.t).stdout))
		if err != nil {
			w.t.Fatal(err)
		}
		out := map[string]bool{}
		for _, role := range roles {
			rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
			for _, r := range rules {
				rule := r.(map[string]any)
				names, _, _ := unstructured.NestedStringSlice(rule, "resourceNames")
				if len(names) == 0 {
					names = []string{"*"}
				}
				for _, verb := range rule["verbs"].([]any) {
					for _, resource := range rule["resources"].([]any) {
						for _, name := range names {
							out[fmt.Sprint(verb, " ", resource, " in ", role.GetNamespace(), " ", name)] = true
						}
					}
				}
			}
		}
		return out
	}
	has := rights("backup", "run", "--system", "shop.yaml", "--name", "shop-backup-20260901-150000", "--keep", "1", "--print-rbac")
	for right := range rights("backup", "delete", older, "-n", w.ns, "--print-rbac") {
		if every := right[:strings.LastIndex(right, " ")] + " *"; !has[right] && !has[every] {
			w.t.Errorf("the roles of backup run --keep have no right to %s", right)
		}
	}
	if record := "patch configmaps in " + w.ns + " *"; !has[record] {
		w.t.Errorf("the roles of backup run have no right to %s", record)
	}
}

// workloads are the specs of the workloads of a namespace, without what the API server chose.
func (w *backupWorld) workloads(ns string) map[string]any {
	w.t.Helper()
	out := map[string]any{}
	for _, resource := range []string{"deployments", "statefulsets"} {
		all, err := w.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}).Namespace(ns).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range all.Items {
			out[resource+"/"+all.Items[i].GetName()] = all.Items[i].Object["spec"]
		}
	}
	return out
}

// restoreElsewhere loses the namespace, and restores it from the file by another name.
func (w *backupWorld) restoreElsewhere(key, backup string) result {
	w.t.Helper()
	t, to := w.t, w.ns+"-again"
	workloads, saved := w.workloads(w.ns), w.driver.saved(w.ns, backup)
	w.removed(w.ns)

	args := []string{"restore", "run", "--file", "shop.backup", "--identity", key, "--namespace-map", w.ns + "=" + to, "--no-operators", "--yes", "--timeout", limit.String()}
	text, err := os.ReadFile(filepath.Join(w.home, "shop.backup"))
	if err != nil {
		t.Fatal(err)
	}
	if secretIn(string(text)) {
		t.Error("the file has the value of a Secret")
	}

	// A restore that fails leaves nothing that another one would find.
	w.driver.fail(true)
	failed := w.run(append(args, "--timeout", "5s")...)
	w.failed(failed, "volume-snapshots", "all changes were undone")
	w.driver.fail(false)
	if _, err := admin(w.c).CoreV1().Secrets(to).Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret after a failed restore: %v", err)
	}
	if got := w.driver.handles(to); len(got) > 0 {
		t.Errorf("claims after a failed restore: %v", got)
	}

	planned := w.run(append(args, "--dry-run", "server", "-o", "json")...).succeeds(t)
	begun := time.Now()
	r := w.run(args...).succeeds(t)
	t.Logf("restored within %s; it says:\n%s%s", time.Since(begun).Round(time.Second/10), r.stdout, r.stderr)
	if secretIn(failed.stdout + failed.stderr + planned.stdout + planned.stderr + r.stdout + r.stderr) {
		t.Error("the value of a Secret is printed")
	}
	if got := w.workloads(to); !equality.Semantic.DeepEqual(got, workloads) {
		t.Errorf("the workloads are\n%v\nwant\n%v", got, workloads)
	}
	secret, err := admin(w.c).CoreV1().Secrets(to).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || string(secret.Data["password"]) != "correct-horse" {
		t.Errorf("the Secret is %v, %v", secret.Data, err)
	}
	w.driver.bound(to, slices.Collect(maps.Keys(saved))...)
	if got := w.driver.handles(to); !maps.Equal(got, saved) {
		t.Errorf("the claims are from %v, want %v", got, saved)
	}
	pg, _ := w.spec(pgClusters, to, "pg").(map[string]any)
	if id, _, _ := unstructured.NestedString(pg, "bootstrap", "recovery", "recoveryTarget", "backupID"); id != "20260901T120000" {
		t.Errorf("the PostgreSQL cluster is\n%v", pg)
	}
	w.noSecretIn(to)

	w.run("uninstall", "shop", "-n", to, "--yes", "--delete-data=shop").succeeds(t)
	if _, err := admin(w.c).CoreV1().Secrets(to).Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("the Secret after an uninstall: %v", err)
	}
	return r
}

// identity makes the key of a file, and returns its file and who the Secrets are for.
func (w *backupWorld) identity(file string) (name, recipient string) {
	w.t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		w.t.Fatal(err)
	}
	name = filepath.Join(w.home, file)
	if err := os.WriteFile(name, []byte(identity.String()+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return name, identity.Recipient().String()
}

// secretIn says whether a text has the value of the Secret of the shop.
func secretIn(text string) bool {
	return strings.Contains(text, "correct-horse") || strings.Contains(text, "Y29ycmVjdC1ob3JzZQ")
}

// noSecretIn: no record, journal or event in a namespace has the value of a Secret.
func (w *backupWorld) noSecretIn(ns string) {
	w.t.Helper()
	list, err := admin(w.c).CoreV1().ConfigMaps(ns).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		text := fmt.Sprint(list.Items[i].Data, list.Items[i].Annotations)
		for key, zip := range list.Items[i].BinaryData { // the journal is compressed
			unzip, err := gzip.NewReader(bytes.NewReader(zip))
			if err != nil {
				w.t.Fatalf("%s of %s: %v", key, list.Items[i].Name, err)
			}
			inside, err := io.ReadAll(unzip)
			if err != nil {
				w.t.Fatalf("%s of %s: %v", key, list.Items[i].Name, err)
			}
			text += string(inside)
		}
		if secretIn(text) {
			w.t.Errorf("the ConfigMap %s has the value of a Secret", list.Items[i].Name)
		}
	}
	for _, kind := range []schema.GroupVersionResource{{Version: "v1", Resource: "events"}, {Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, snapshotsGVR} {
		all, err := w.client.Resource(kind).Namespace(ns).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		if secretIn(fmt.Sprint(all.UnstructuredContent())) {
			w.t.Errorf("the %s of %s have the value of a Secret", kind.Resource, ns)
		}
	}
}

// removed deletes a namespace, and waits until it is gone.
func (w *backupWorld) removed(ns string) {
	w.t.Helper()
	spaces := admin(w.c).CoreV1().Namespaces()
	if err := spaces.Delete(w.t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	cluster.Eventually(w.t, limit, func() error {
		_, err := spaces.Get(w.t.Context(), ns, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the namespace is still there: %w", err)
	})
}
