package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// tight is a namespace in which the claims of the shop are too large, a storage class of another driver,
// and a user who may read everything and write nothing.
const tight = `apiVersion: v1
kind: Namespace
metadata: {name: NS-tight}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: NS-tight}
spec: {hard: {requests.storage: 2Gi}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NS-other}
provisioner: other.example.com
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS-reader}
rules: [{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NS-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NS-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NS-reader}]
`

// laterClusters serves CloudNativePG's clusters in another version alone.
const laterClusters = `{"spec": {"versions": [
  {"name": "v1", "served": false, "storage": false, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
  {"name": "v2", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

// TestBackupFaults: what makes a backup or a restore impossible is an error that names it, before the
// first write. No plan, record or event has the value of a Secret.
func TestBackupFaults(t *testing.T) {
	w := newBackupWorld(t)
	const name = "shop-backup-20260901-120000"
	applyText(t, w.c, strings.ReplaceAll(tight, "NS", w.ns))
	t.Cleanup(func() { // what has no namespace stays
		ctx, who := context.Background(), admin(w.c)
		deleted(t, who.StorageV1().StorageClasses().Delete(ctx, w.ns+"-other", metav1.DeleteOptions{}))
		deleted(t, who.RbacV1().ClusterRoles().Delete(ctx, w.ns+"-reader", metav1.DeleteOptions{}))
		deleted(t, who.RbacV1().ClusterRoleBindings().Delete(ctx, w.ns+"-reader", metav1.DeleteOptions{}))
	})
	_, recipient := w.identity("key.txt")
	w.identity("other.txt")
	keep := func(file, text string) {
		if err := os.WriteFile(filepath.Join(w.home, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kubeconfig, err := w.c.User(w.ns + "-reader")
	if err != nil {
		t.Fatal(err)
	}
	reader := newInstaller(t, w.c, w.program, kubeconfig)
	reader.home = w.home
	run := []string{"backup", "run", "-f", "shop.yaml", "--name", name, "--yes", "--timeout", "60s"}
	t.Logf("without rights:\n%s", reader.refused([]string{"may not create", "volumesnapshots", "nothing was written", "--print-rbac"}, run...).stderr)

	r := w.run(append(run, "--file", "shop.backup", "--recipient", recipient)...).succeeds(t)
	said := r.stdout + r.stderr
	restore := func(more ...string) []string {
		return append([]string{"restore", "run", "--file", "shop.backup", "--identity", "key.txt", "--no-operators", "--yes", "--timeout", "60s"}, more...)
	}
	elsewhere := []string{"--namespace-map", w.ns + "=" + w.ns + "-to"}
	for _, args := range [][]string{
		{"backup", "plan", "-f", "shop.yaml", "-o", "yaml"},
		{"backup", "show", name, "-n", w.ns, "-o", "json"},
		append([]string{"restore", "plan", "--file", "shop.backup", "--identity", "key.txt", "-o", "yaml"}, elsewhere...),
		append(restore(elsewhere...), "--dry-run", "server", "-o", "json"),
	} {
		r := w.run(args...).succeeds(t)
		said += r.stdout + r.stderr
	}
	if secretIn(said) {
		t.Error("a plan has the value of a Secret")
	}
	w.noSecretIn(w.ns)

	t.Logf("without rights:\n%s", reader.refused([]string{"may not create", "nothing was written", "--print-rbac"}, restore(elsewhere...)...).stderr)
	t.Logf("a quota:\n%s", w.refused([]string{"small", "requests.storage"}, restore("--namespace-map", w.ns+"="+w.ns+"-tight")...).stderr)
	t.Logf("another driver:\n%s", w.refused([]string{"csi.example.com", "other.example.com", "--storage-class-map"}, restore(append(elsewhere, "--storage-class-map", "fast="+w.ns+"-other")...)...).stderr)

	whole, err := os.ReadFile(filepath.Join(w.home, "shop.backup"))
	if err != nil {
		t.Fatal(err)
	}
	keep("altered.backup", strings.Replace(string(whole), "example.com/web:1", "example.com/bad:1", 1))
	keep("cut.backup", string(whole[:len(whole)-100]))
	for _, file := range []string{"altered.backup", "cut.backup"} {
		t.Logf("%s", w.refused([]string{file}, "restore", "run", "--file", file, "--yes").stderr)
	}

	w.refused([]string{"--identity other.txt"}, "restore", "run", "--file", "shop.backup", "--identity", "other.txt", "--yes")

	snapshots := w.client.Resource(snapshotsGVR).Namespace(w.ns)
	all, err := snapshots.List(t.Context(), metav1.ListOptions{LabelSelector: "sysop.dev/backup=" + name})
	if err != nil || len(all.Items) == 0 {
		t.Fatalf("%d snapshots: %v", len(all.Items), err)
	}
	lost := all.Items[0].GetName()
	if err := snapshots.Delete(t.Context(), lost, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("a missing snapshot:\n%s", w.refused([]string{"is not saved: VolumeSnapshot.snapshot.storage.k8s.io/" + w.ns + "/" + lost}, append([]string{"restore", "run", name, "-n", w.ns, "--yes"}, elsewhere...)...).stderr)

	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := w.client.Resource(definitions).Patch(t.Context(), "clusters.postgresql.cnpg.io", types.MergePatchType, []byte(laterClusters), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.refused([]string{"clusters.postgresql.cnpg.io is served as v2, not as v1"}, restore(elsewhere...)...) // by what was read before
	if err := os.RemoveAll(filepath.Join(w.home, ".kube")); err != nil {
		t.Fatal(err)
	}
	t.Logf("newer definitions:\n%s", w.refused([]string{"Cluster.postgresql.cnpg.io/" + w.ns + "-to/pg is of the version v1 in the backup, and the cluster serves v2"}, restore(elsewhere...)...).stderr)
}
