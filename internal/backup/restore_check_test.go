package backup_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Another cluster: what it cannot take is an error before anything is written.
func TestCheck(t *testing.T) {
	t.Parallel()
	class := func(name, driver string) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "provisioner": driver}}
	}
	snapshots := object.Resource{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot", Plural: "volumesnapshots"}
	clusters := func(version string) object.Resource {
		return object.Resource{Group: "postgresql.cnpg.io", Version: version, Kind: "Cluster", Plural: "clusters"}
	}
	only := func(version string) func(schema.GroupVersionKind) (bool, error) {
		return func(gv schema.GroupVersionKind) (bool, error) { return gv.Version == version, nil }
	}
	r, err := backup.Restored(saved(), backup.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fast := []unstructured.Unstructured{class("slow", "other.example.com"), class("fast", "csi.example.com")}
	for name, c := range map[string]struct {
		target backup.Target
		want   string
	}{
		"same":           {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots, clusters("v1")}), Classes: fast}, ""},
		"more versions":  {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots, clusters("v2")}), Classes: fast, Serves: only("v1")}, ""},
		"newer":          {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots, clusters("v2")}), Classes: fast, Serves: only("v2")}, "Cluster.postgresql.cnpg.io/shop/pg is of the version v1 in the backup, and the cluster serves v2"},
		"no operator":    {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots}), Classes: fast}, ""},
		"no snapshots":   {backup.Target{Kinds: object.NewKinds([]object.Resource{clusters("v1")}), Classes: fast}, "PersistentVolumeClaim/shop/files is made from a snapshot, and the cluster serves no VolumeSnapshots"},
		"no class":       {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots}), Classes: fast[:1]}, "PersistentVolumeClaim/shop/files has the storage class fast, which the cluster does not have"},
		"other driver":   {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots}), Classes: []unstructured.Unstructured{class("fast", "other.example.com")}}, "PersistentVolumeClaim/shop/files is made from a snapshot of the CSI driver csi.example.com, and its storage class fast is of other.example.com"},
		"classes hidden": {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots})}, ""},
		"versions hidden": {backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots, clusters("v2")}), Serves: func(schema.GroupVersionKind) (bool, error) {
			return false, errors.New("forbidden")
		}}, "read which kinds of postgresql.cnpg.io/v1 the cluster serves: forbidden"},
	} {
		err := r.Check(c.target)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// An operator that is installed first serves what it makes, but no version that is gone.
	r.System.Operators = []system.Operator{{Name: "cloudnative-pg"}}
	if err := r.Check(backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots, clusters("v1beta1")}), Classes: fast, Serves: only("v1beta1")}); err != nil {
		t.Errorf("an older operator is upgraded: %v", err)
	}
	if err := r.Check(backup.Target{Kinds: object.NewKinds([]object.Resource{snapshots, clusters("v2")}), Classes: fast, Serves: only("v2")}); err == nil {
		t.Error("a newer operator serves no v1")
	}
}

// TestLost: a snapshot that was deleted with its data is gone; of others, the storage knows.
func TestLost(t *testing.T) {
	t.Parallel()
	snapshot := object.Ref{Group: backup.SnapshotGroup, Kind: "VolumeSnapshot", Namespace: "shop", Name: "files-1"}
	content := object.Ref{Group: backup.SnapshotGroup, Kind: "VolumeSnapshotContent", Name: "content-1"}
	bound := map[string]any{"status": map[string]any{"boundVolumeSnapshotContentName": content.Name}}
	for _, c := range []struct {
		name, policy string
		there        []object.Ref
		gone, doubt  bool
	}{
		{"it is there", "Delete", []object.Ref{snapshot, content}, false, false},
		{"its namespace was deleted, and its content stays", "Retain", []object.Ref{content}, false, false},
		{"it was deleted with its data", "Delete", nil, true, false},
		{"its content was deleted, and the storage keeps it", "Retain", nil, false, true},
		{"its policy is unknown", "", nil, false, true},
	} {
		p := backup.Part{
			Object: object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "files"}, Method: backup.BySnapshot,
			Backup: snapshot, DeletionPolicy: c.policy, Handle: "snap-1", Result: bound,
		}
		gone, doubt := p.Lost(func(ref object.Ref) bool { return slices.Contains(c.there, ref) })
		if (gone != "") != c.gone || (doubt != "") != c.doubt {
			t.Errorf("%s: %q, %q", c.name, gone, doubt)
		}
	}
}
