package check

import (
	"slices"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

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
		if got := isBackup(r); got != want {
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

func TestRobustElectArg(t *testing.T) {
	for arg, want := range map[string]bool{
		"--leader-elect": true, "-leader-elect=true": true, "--enable-leader-election": true, "LEADER_ELECTION_ENABLED=true": true, "--leaderElection": false,
		"--leader-elect=false": false, "--leader-election-namespace=x": true, "--leader-election-id=y.z": true, "--leader-election-lease-duration=60s": false, "ENABLE_LEADER_ELECTION=0": false, "run": false,
	} {
		if got := robustElectArg(arg); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
}

// TestRobustAllowed holds the arithmetic of budgets against what the API documentation
// says: a percentage is rounded up, of those that may go as of those that must stay.
func TestRobustAllowed(t *testing.T) {
	for _, tt := range []struct {
		max, min string
		pods     int
		want     int
	}{
		{max: "1", pods: 3, want: 1},
		{max: "0", pods: 3},
		{max: "30%", pods: 7, want: 3},
		{max: "50%", pods: 1, want: 1},
		{max: "5", pods: 3, want: 3},
		{min: "2", pods: 3, want: 1},
		{min: "50%", pods: 7, want: 3},
		{min: "100%", pods: 4},
		{min: "4", pods: 3},
		{pods: 3},
	} {
		b := &policyv1.PodDisruptionBudget{}
		if tt.max != "" {
			v := intstr.Parse(tt.max)
			b.Spec.MaxUnavailable = &v
		}
		if tt.min != "" {
			v := intstr.Parse(tt.min)
			b.Spec.MinAvailable = &v
		}
		if got, err := robustAllowed(b, tt.pods); err != nil || got != tt.want {
			t.Errorf("max %q, min %q of %d: %d, %v", tt.max, tt.min, tt.pods, got, err)
		}
	}
}
