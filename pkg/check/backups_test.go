package check

import (
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestIsBackup(t *testing.T) {
	for kind, want := range map[string]bool{
		"Backup.velero.io": true, "Schedule.velero.io": true, "ScheduledBackup.postgresql.cnpg.io": true, "PerconaServerMongoDBBackup.psmdb.percona.com": true,
		"VolumeSnapshot.snapshot.storage.k8s.io": true, "Schedule.k8up.io": true, "BackupConfiguration.core.kubestash.com": true,
		"ReplicationSource.volsync.backube": true, "MedusaBackupSchedule.medusa.k8ssandra.io": true, "EtcdBackup.etcd.database.coreos.com": true,
		"Restore.velero.io": false, "BackupStorageLocation.velero.io": false, "VolumeSnapshotClass.snapshot.storage.k8s.io": false,
		"VolumeSnapshotContent.snapshot.storage.k8s.io": false, "BackupRepository.velero.io": false, "DeleteBackupRequest.velero.io": false,
		"Schedule.chaos-mesh.org": false, "Backup": false, "PerconaServerMongoDBRestore.psmdb.percona.com": false, "BackendTLSPolicy.gateway.networking.k8s.io": false,
	} {
		r, err := object.ParseRef(kind + "/x")
		if err != nil {
			t.Fatal(err)
		}
		if got := IsBackup(r); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestBackupFields(t *testing.T) {
	spec := map[string]any{
		"backup":           map[string]any{"barmanObjectStore": map[string]any{"destinationPath": "s3://b"}},
		"backupSchedule":   "",
		"enableBackups":    false,
		"logicalBackup":    true,
		"restoreBackup":    "x",
		"backupsToKeep":    int64(3),
		"storage":          map[string]any{"backups": []any{"a"}, "size": "1Gi"},
		"backupProfiles":   []any{},
		"backupOfNothing":  nil,
		"backupOnlyTarget": map[string]any{"target": "prefer-standby"},
	}
	want := []string{"spec.backup", "spec.backupsToKeep", "spec.logicalBackup", "spec.storage.backups"}
	if got := backupFields(spec); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
