package schema_test

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// What is written about backups in a cluster is as its schema says.
func TestBackupsAreAsTheSchemasSay(t *testing.T) {
	claim := object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "files"}
	snapshot := object.Ref{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot", Namespace: "shop", Name: "files-20260901-120000"}
	unsaved := []backup.Unsaved{{Object: claim, Reason: "its volume is not of a CSI driver", Hint: "copy it"}}
	plan := &backup.Plan{
		Head: view.Head{APIVersion: view.APIVersion, Kind: "Backup"}, Name: "shop-backup-20260901-120000", Source: "shop", Roots: []object.Ref{{Kind: "System", Namespace: "shop", Name: "shop"}}, Namespace: "shop",
		Time: time.Unix(1, 0).UTC(), Consistency: backup.Crash, Unsaved: unsaved, Size: "1Gi", Apps: 1, Inputs: []object.Ref{claim}, Notes: []string{"a"},
		Parts: []backup.Part{{
			Object: claim, Method: backup.BySnapshot, Provider: "fast", Backup: snapshot, Size: "1Gi", Reason: "no operator makes it", Driver: "csi.example.com",
			Claim: map[string]any{"storageClassName": "fast"}, Set: &claim, Owner: &claim, Status: health.Healthy, Message: "a", Handle: "snap-1", Result: map[string]any{},
		}},
	}
	restore := &backup.Restore{
		Head: view.Head{APIVersion: view.APIVersion, Kind: "Restore"}, Backup: plan.Name, Name: "shop", Namespace: "copy", Unrestored: unsaved, Apps: 1,
		Parts: []backup.RestoredPart{{Object: claim, App: "web", Source: "snap-1", Method: "a claim from the snapshot"}}, Secrets: []object.Ref{claim}, Inputs: []object.Ref{claim}, Notes: []string{"a"},
	}
	for name, a := range map[string]view.Output{"backup": view.Backup(plan), "backups": view.Backups([]*backup.Plan{plan}, time.Unix(9, 0), backup.Schedule{CronJob: claim, Source: "shop", Cron: "0 2 * * *", TimeZone: "UTC", Next: time.Unix(9, 0), Suspended: true}), "restore": view.Restore(restore)} {
		text := document(t, a)
		if err := compile(t, name).Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
