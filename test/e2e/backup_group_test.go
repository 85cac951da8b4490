package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

const groupSnapshotGroup = "groupsnapshot.storage.k8s.io"

var (
	groupsGVR        = schema.GroupVersionResource{Group: groupSnapshotGroup, Version: "v1", Resource: "volumegroupsnapshots"}
	groupContentsGVR = schema.GroupVersionResource{Group: groupSnapshotGroup, Version: "v1", Resource: "volumegroupsnapshotcontents"}
	groupClassesGVR  = schema.GroupVersionResource{Group: groupSnapshotGroup, Version: "v1", Resource: "volumegroupsnapshotclasses"}
)

// groups plays the driver's snapshotter for groups: all volumes of a content are copied at one moment.
// The snapshot controller, which is the real one, makes the VolumeSnapshots of a group.
func (d *csi) groups(ctx context.Context) error {
	all, err := d.client.Resource(groupContentsGVR).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range all.Items {
		content := &all.Items[i]
		if content.GetDeletionTimestamp() != nil {
			content.SetFinalizers(nil)
			if _, err := d.client.Resource(groupContentsGVR).Update(ctx, content, metav1.UpdateOptions{}); err != nil {
				return err
			}
			continue
		}
		if ready, _, _ := unstructured.NestedBool(content.Object, "status", "readyToUse"); ready {
			continue
		}
		now := time.Now()
		handles, _, _ := unstructured.NestedStringSlice(content.Object, "spec", "source", "volumeHandles")
		var infos []any
		for _, handle := range handles {
			infos = append(infos, map[string]any{"volumeHandle": handle, "snapshotHandle": "group-" + handle, "creationTime": now.UnixNano(), "readyToUse": true, "restoreSize": int64(1 << 30)})
		}
		content.Object["status"] = map[string]any{
			"volumeGroupSnapshotHandle": "group-" + string(content.GetUID()), "readyToUse": true, "creationTime": now.UTC().Format(time.RFC3339), "volumeSnapshotInfoList": infos,
		}
		if _, err := d.client.Resource(groupContentsGVR).UpdateStatus(ctx, content, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// TestBackupGroup: where the driver has a class for group snapshots, the real snapshot controller takes
// one of all claims; each claim is restored from its own, here and elsewhere, and deleting the backup
// deletes them all.
func TestBackupGroup(t *testing.T) {
	w := newBackupWorld(t)
	class := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupSnapshotGroup + "/v1", "kind": "VolumeGroupSnapshotClass", "metadata": map[string]any{"name": "fast-groups"}, "driver": "csi.example.com", "deletionPolicy": "Delete",
	}}
	classes := w.client.Resource(groupClassesGVR)
	if _, err := classes.Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := classes.Delete(context.Background(), class.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	const name = "shop-backup-20260901-120000"
	crash := []string{"--system", "shop.yaml", "--consistency", "crash"}

	// A claim of something else that has the same labels: they are saved one by one, which is said.
	w.foreignClaim()
	r := w.run(append([]string{"backup", "plan"}, crash...)...).succeeds(t)
	if !strings.Contains(r.stderr, "the 3 claims of csi.example.com in "+w.ns+" are saved one by one: no label is on these claims alone") {
		t.Errorf("it says:\n%s", r.stderr)
	}
	claims := admin(w.c).CoreV1().PersistentVolumeClaims(w.ns)
	for _, claim := range []string{"files", "data-db-0", "data-db-1"} {
		if _, err := claims.Patch(t.Context(), claim, "application/merge-patch+json", []byte(`{"metadata":{"labels":{"group":"shop"}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	key, recipient := w.identity("key.txt")
	run := append([]string{"backup", "run", "--name", name, "--yes", "--timeout", limit.String(), "--file", "shop.backup", "--recipient", recipient}, crash...)
	r = w.run(run...).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	if strings.Count(r.stdout, "3 claims at one moment") != 3 || strings.Contains(r.stdout, "Barman") {
		t.Errorf("the plan is:\n%s", r.stdout)
	}
	groups := w.client.Resource(groupsGVR).Namespace(w.ns)
	all, err := groups.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) != 1 {
		t.Fatalf("the group snapshots are %v, want one: %v", all, err)
	}
	if labels, _, _ := unstructured.NestedStringMap(all.Items[0].Object, "spec", "source", "selector", "matchLabels"); labels["group"] != "shop" {
		t.Errorf("the group selects %v", labels)
	}
	want := w.grouped(name)
	for _, claim := range []string{"files", "data-db-0", "data-db-1"} {
		if volume := w.volume(claim); want[claim] != "group-"+volume {
			t.Errorf("%s of the volume %s is in %s", claim, volume, want[claim])
		}
	}

	// Elsewhere, each claim is made from a snapshot of its own with the same handle.
	elsewhere := w.ns + "-copy"
	r = w.run("restore", "run", "--file", "shop.backup", "--identity", key, "--namespace-map", w.ns+"="+elsewhere, "--no-operators", "--yes", "--timeout", limit.String()).succeeds(t)
	t.Logf("it says:\n%s%s", r.stdout, r.stderr)
	w.driver.bound(elsewhere, "files", "data-db-0", "data-db-1")
	if got := w.driver.handles(elsewhere); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the claims are from %v, want %v", got, want)
	}
	if copied, _, _ := unstructured.NestedMap(w.spec(pgClusters, elsewhere, "pg").(map[string]any), "backup"); copied != nil {
		t.Errorf("the copy archives to the store of the original: %v", copied)
	}

	// Deleting the backup deletes the group, its content and its snapshots.
	w.run("backup", "delete", name, "-n", w.ns, "--yes", "--delete-data="+name).succeeds(t)
	cluster.Eventually(t, limit, func() error {
		contents, err := w.client.Resource(groupContentsGVR).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		left, err := groups.List(t.Context(), metav1.ListOptions{})
		if snapshots := w.driver.snapshots(w.ns); err == nil && len(snapshots)+len(contents.Items)+len(left.Items) > 0 {
			err = fmt.Errorf("left are %v, %d group contents, %d groups", snapshots, len(contents.Items), len(left.Items))
		}
		return err
	})
	w.run("uninstall", "shop", "-n", elsewhere, "--yes", "--delete-data=shop").succeeds(t)

	// Its file says where the data was, which is gone with the group: nothing is written.
	w.refused([]string{"PersistentVolumeClaim/" + w.ns + "/files cannot be restored: ", "was deleted, and the storage deleted its data with it"},
		"restore", "run", "--file", "shop.backup", "--identity", key, "--namespace-map", w.ns+"="+w.ns+"-late", "--no-operators", "--yes")
}

// foreignClaim is a claim in the namespace that is no part of the System.
func (w *backupWorld) foreignClaim() {
	w.t.Helper()
	applyText(w.t, w.c, strings.ReplaceAll(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: foreign, namespace: NS}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, "NS", w.ns))
}

// volume is the name of the volume of a claim, which is its handle.
func (w *backupWorld) volume(claim string) string {
	w.t.Helper()
	o, err := admin(w.c).CoreV1().PersistentVolumeClaims(w.ns).Get(w.t.Context(), claim, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Spec.VolumeName
}

// grouped are the handles of the claims of a backup, as it is shown.
func (w *backupWorld) grouped(name string) map[string]string {
	w.t.Helper()
	r := w.run("backup", "show", name, "-n", w.ns, "-o", "json").succeeds(w.t)
	var doc struct {
		Parts []struct {
			Object, Snapshot, Status, Handle string
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		w.t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	out := map[string]string{}
	for _, p := range doc.Parts {
		if p.Status != "Healthy" || p.Snapshot == "" {
			w.t.Errorf("the part is %+v", p)
		}
		out[path.Base(p.Object)] = p.Handle
	}
	return out
}
