package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// chaosShop is a database with a claim, and a web server with a claim and a Secret.
const chaosShop = `apiVersion: v1
kind: Namespace
metadata: {name: NS}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: NS}
stringData: {password: correct-horse}
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
        env: [{name: DB_HOST, value: db}, {name: PASSWORD, valueFrom: {secretKeyRef: {name: web, key: password}}}]
        volumeMounts: [{name: files, mountPath: /files}]
      volumes: [{name: files, persistentVolumeClaim: {claimName: files}}]
`

const chaosSystem = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: NS}
spec:
  apps:
  - {name: db, roots: [statefulset/db, service/db]}
  - {name: web, roots: [deployment/web], on: {Stop: [{preset: stop}]}}
  dependencies:
  - {from: web, to: db, reason: it stores orders}
`

// chaos is a shop of its own, in which commands are killed.
type chaos struct {
	*backupWorld
	parts  int      // of a backup
	claims []string // those of snapshots
	// handles are those of the snapshots of the backup that is restored, by claim.
	handles map[string]string
	before  map[string]bool // the objects without what is killed
}

func newChaos(t *testing.T, c *cluster.Cluster, driver *csi, ns string, large bool) *chaos {
	t.Helper()
	w := &chaos{backupWorld: &backupWorld{installer: newInstaller(t, c, unraced(t), ""), driver: driver, ns: ns}, parts: 2, claims: []string{"data-db-0", "files"}}
	t.Cleanup(w.removeNamespaces)
	objects, sys := chaosShop, chaosSystem
	if large {
		objects, sys = backupShop+"---\n"+backupBroker, quiescedSystem
		w.parts, w.claims = 5, []string{"data-broker-0", "data-db-0", "data-db-1", "files"}
	}
	applyText(t, c, strings.ReplaceAll(objects, "NS", ns))
	w.write("shop.yaml", strings.ReplaceAll(sys, "NS", ns))
	driver.bound(ns, w.claims...)
	w.runs("web", 2)
	return w
}

func (w *chaos) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// backupAt is the name of the n-th backup of a shop.
func backupAt(n int) string {
	return "shop-backup-" + time.Date(2026, 9, 3, 0, 0, n, 0, time.UTC).Format("20060102-150405")
}

func (w *chaos) backupRun(n int, more ...string) []string {
	return append([]string{"backup", "run", "--system", "shop.yaml", "--name", backupAt(n), "--yes", "--timeout", limit.String()}, more...)
}

// whole fails the test unless a backup is complete, with one snapshot for each claim.
func (w *chaos) whole(n int) {
	w.t.Helper()
	name := backupAt(n)
	all, err := w.client.Resource(snapshotsGVR).Namespace(w.ns).List(w.t.Context(), metav1.ListOptions{LabelSelector: "sysop.dev/backup=" + name})
	if err != nil {
		w.t.Fatal(err)
	}
	if got := w.backups(); got[name] != w.parts || len(all.Items) != len(w.claims) {
		w.t.Errorf("%s has %d parts and %d snapshots, want %d and %d; the backups are %v", name, got[name], len(all.Items), w.parts, len(w.claims), got)
	}
}

// kinds are those of which a run may leave an object.
var chaosKinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Version: "v1", Resource: "persistentvolumes"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	snapshotsGVR, contentsGVR,
}

// objects are those of the namespaces that begin with that of the shop, and those that are bound to
// one in them.
func (w *chaos) objects() (map[string]bool, error) {
	out := map[string]bool{}
	for _, kind := range chaosKinds {
		all, err := w.client.Resource(kind).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range all.Items {
			o := &all.Items[i]
			claim, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", "namespace")
			snapshot, _, _ := unstructured.NestedString(o.Object, "spec", "volumeSnapshotRef", "namespace")
			for _, ns := range []string{o.GetNamespace(), o.GetName(), claim, snapshot} {
				if strings.HasPrefix(ns, w.ns) {
					out[kind.Resource+" "+o.GetNamespace()+"/"+o.GetName()] = true
				}
			}
		}
	}
	return out, nil
}

func (w *chaos) remember() map[string]bool {
	w.t.Helper()
	out, err := w.objects()
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// asBefore waits until there are the objects of before, and no others but those of a name.
func (w *chaos) asBefore(but string) {
	w.t.Helper()
	cluster.Eventually(w.t, limit, func() error {
		now, err := w.objects()
		if err != nil {
			return err
		}
		var lines []string
		for o := range now {
			if name := o[strings.LastIndex(o, "/")+1:]; !w.before[o] && name != but && name != but+"-key" {
				lines = append(lines, o+" is left")
			}
		}
		for o := range w.before {
			if !now[o] {
				lines = append(lines, o+" is gone")
			}
		}
		if slices.Sort(lines); len(lines) > 0 {
			return fmt.Errorf("%s", strings.Join(lines, "; "))
		}
		return nil
	})
}

// free fails the test if an app is held, or does not run.
func (w *chaos) free() {
	w.t.Helper()
	w.runs("web", 2)
	if held := w.held(); len(held) > 0 {
		w.t.Errorf("held: %v", held)
	}
}

// undone takes a killed run back, and nothing is left of it. It may have been killed before it was in the
// journal, or after its last step.
func (w *chaos) undone(name, ns string) {
	w.t.Helper()
	r := w.run("rollback", name, "--unfinished", "-n", ns, "--yes", "--delete-data="+name)
	if strings.Contains(r.stderr, "no installation") || strings.Contains(r.stderr, "no unfinished run") || strings.Contains(r.stderr, "there is nothing to undo") {
		return
	}
	r.succeeds(w.t)
	w.asBefore("sysop-install-" + name) // but for its journal, with the key: history shows it
}

// overtaken: the next backup, as by a CronJob, lets go what the killed one holds, which is taken back then.
func (w *chaos) overtaken(n int) {
	w.t.Helper()
	if n%3 == 0 { // it takes its time
		const later = 1000
		w.run(w.backupRun(n+later, "--consistency", "quiesced")...).succeeds(w.t)
		w.backedUp(n + later)
	}
	w.undone(backupAt(n), w.ns)
}

// deadly is a command that is killed after its writes.
type deadly struct {
	name string
	// parts share the writes; each is a shop of its own.
	parts int
	// sample is after how many of its writes each part is killed; 0 is all.
	sample int
	large  bool // the larger shop
	begin  func(w *chaos)
	args   func(w *chaos, n int) []string
	// ended looks at what a run that ended has made, and takes it away; before is without it.
	ended func(w *chaos, n int)
	// undo takes a killed run back; nil where only the same command ends it. continued are the flags
	// of the same command then.
	undo      func(w *chaos, n int)
	may       string // what the same command may end with, after the last of its work
	continued func(n int) []string
	spaces    func(w *chaos, n int) []string // with Leases
}

// atLarge are the commands in the larger shop, of a database, a broker, a PostgreSQL cluster, a web server
// and a worker.
func atLarge() (out []deadly) {
	for _, d := range deadlies {
		d.name, d.parts, d.sample, d.large = d.name+", larger", 1, 3, true
		out = append(out, d)
	}
	return out[1:] // the quiesced backup is of the same parts as that without
}

var deadlies = []deadly{
	{
		name: "backup run", parts: 2, args: func(w *chaos, n int) []string { return w.backupRun(n, "--consistency", "crash") },
		ended: (*chaos).backedUp, undo: func(w *chaos, n int) { w.undone(backupAt(n), w.ns) }, continued: deletingHalf,
	},
	{
		name: "backup run, quiesced", parts: 4, args: func(w *chaos, n int) []string { return w.backupRun(n, "--consistency", "quiesced") },
		ended: (*chaos).backedUp, undo: (*chaos).overtaken, continued: deletingHalf, may: "error: the backup is not quiesced: its pause is unknown",
	},
	{
		name: "restore run", parts: 4, begin: (*chaos).saved, args: (*chaos).restoreRun,
		ended: (*chaos).restored, undo: func(w *chaos, n int) { w.undone("shop", w.target(n)) },
		continued: func(int) []string { return []string{"--delete-data=shop"} },
		spaces:    func(w *chaos, n int) []string { return []string{w.target(n)} },
	},
	{
		name: "backup verify", parts: 2, sample: 6, begin: (*chaos).saved,
		args: func(w *chaos, _ int) []string {
			return []string{"backup", "verify", backupAt(0), "-n", w.ns, "--yes", "--timeout", limit.String()}
		},
		ended:  (*chaos).rehearsed,
		spaces: func(w *chaos, _ int) []string { return []string{w.ns + "-verify-20260903-000000"} },
	},
}

func deletingHalf(n int) []string { return []string{"--delete-data=" + backupAt(n)} }

func (w *chaos) target(n int) string { return fmt.Sprintf("%s-to-%d", w.ns, n) }

// saved makes the backup that is restored, with a file.
func (w *chaos) saved() {
	w.t.Helper()
	_, recipient := w.identity("key.txt")
	w.run(w.backupRun(0, "--file", "shop.backup", "--recipient", recipient)...).succeeds(w.t)
	w.handles = w.driver.saved(w.ns, backupAt(0))
}

func (w *chaos) restoreRun(n int) []string {
	return []string{"restore", "run", "--file", "shop.backup", "--identity", "key.txt", "--namespace-map", w.ns + "=" + w.target(n), "--no-operators", "--yes", "--timeout", limit.String()}
}

// backedUp: the backup is whole, and nothing is left of it when it is deleted.
func (w *chaos) backedUp(n int) {
	w.t.Helper()
	w.whole(n)
	w.free()
	w.run("backup", "delete", backupAt(n), "-n", w.ns, "--yes", "--delete-data="+backupAt(n)).succeeds(w.t)
}

// restored: the claims are from the right snapshots, and nothing but the Secrets is left of the copy
// when it is uninstalled, and nothing when its namespace is deleted.
func (w *chaos) restored(n int) {
	w.t.Helper()
	to := w.target(n)
	w.driver.bound(to, w.claims...)
	if got := w.driver.handles(to); !maps.Equal(got, w.handles) {
		w.t.Errorf("the claims are from %v, want %v", got, w.handles)
	}
	w.run("uninstall", "shop", "-n", to, "--yes", "--delete-data=shop").succeeds(w.t)
	if claims := w.driver.handles(to); len(claims) > 0 {
		w.t.Errorf("claims after an uninstall: %v", claims)
	}
	w.removed(to)
}

// rehearsed: the record has the result.
func (w *chaos) rehearsed(int) {
	w.t.Helper()
	if v := w.verified(backupAt(0)).Verified; v == nil || !v.Passed || v.RecoveryTime == "" {
		w.t.Errorf("the record says %+v", v)
	}
	w.run("backup", "delete", backupAt(0), "-n", w.ns, "--dry-run", "server").succeeds(w.t) // it is as its journal says
}

// kill kills a run after a write, and has it ended; false if it has fewer writes.
func (d *deadly) kill(w *chaos, write int, undo bool) bool {
	args := d.args(w, write)
	if !w.killed(write, isWrite, args...) {
		return false
	}
	spaces := []string{w.ns}
	if d.spaces != nil {
		spaces = append(spaces, d.spaces(w, write)...)
	}
	w.expire(spaces...)
	switch {
	case undo:
		d.undo(w, write)
	case d.continued != nil:
		args = append(args, d.continued(write)...)
	}
	if r := w.run(args...); d.may == "" || !strings.Contains(r.stderr, d.may) {
		r.succeeds(w.t)
	}
	return true
}

// everyWrite is set by make chaos, which takes a quarter of an hour.
var everyWrite = os.Getenv("SYSOP_CHAOS") == "every"

// TestBackupChaos: backup run, restore run and backup verify are killed after some of their writes, which are
// others each time, by the seed. With everyWrite the first two are killed after each of them, and all after
// some in a larger shop.
// The same command goes on, or the run is taken back and the next one ends; nothing is held, and
// nothing is left of what was taken away.
func TestBackupChaos(t *testing.T) {
	c := withoutOperators.Cluster(t)
	driver := startCSI(t, c)
	// What is deleted is to go with its data.
	driver.policy("Delete")
	t.Cleanup(func() { driver.policy("Retain") })
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any will do
	t.Logf("seed %d", seed)
	applyText(t, c, cnpg)
	large := &backupWorld{installer: newInstaller(t, c, unraced(t), "")}
	t.Cleanup(large.removeDefinitions)
	large.playOperator()
	var work errgroup.Group
	work.SetLimit(atATime) // most of the time they wait
	all := slices.Clone(deadlies)
	if everyWrite {
		all = append(atLarge(), all...)
	} else {
		for i := range all {
			all[i].parts, all[i].sample = 1, 2
		}
	}
	for i := range all {
		d := &all[i]
		for part := range d.parts {
			random := rand.New(rand.NewPCG(seed, uint64(i<<8|part))) //nolint:gosec // a test repeats it by its seed
			work.Go(func() error {
				t.Run(fmt.Sprintf("%s/%d", d.name, part), func(t *testing.T) {
					d.each(newChaos(t, c, driver, fmt.Sprintf("chaos-%d-%d", i, part), d.large), part, random)
				})
				return nil
			})
		}
	}
	_ = work.Wait() // each says itself how it ended
}

// writesOf is how many writes a run has.
func (w *chaos) writesOf(args ...string) int {
	w.t.Helper()
	var n atomic.Int32
	if w.killed(mostWrites, func(q *http.Request) bool {
		if isWrite(q) {
			n.Add(1)
		}
		return false
	}, args...) {
		w.t.Fatalf("%v was killed", args)
	}
	return int(n.Load())
}

// each kills the runs of one part.
func (d *deadly) each(w *chaos, part int, random *rand.Rand) {
	if d.begin != nil {
		d.begin(w)
	}
	total := w.writesOf(d.args(w, mostWrites)...)
	d.ended(w, mostWrites)
	w.before = w.remember()
	var writes []int
	for write := 1 + part; write <= total; write += d.parts {
		writes = append(writes, write)
	}
	if d.sample > 0 {
		random.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
		writes = writes[:min(d.sample, len(writes))]
	}
	odd := random.IntN(2)
	w.t.Logf("it writes %d times, and is killed after %v", total, writes)
	for i, write := range writes {
		begun, undo := time.Now(), d.undo != nil && (i+odd)%2 == 0
		killed := d.kill(w, write, undo)
		d.ended(w, write)
		w.asBefore("")
		if w.t.Failed() {
			w.t.Fatalf("killed after write %d of %d, undone: %t", write, total, undo)
		}
		w.t.Logf("write %d of %d, killed: %t, undone: %t, in %s", write, total, killed, undo, time.Since(begun).Round(time.Second))
	}
}
