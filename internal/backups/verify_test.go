package backups

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const scratchPath = "/api/v1/namespaces/shop-verify-20260901-030000"

func filesBackup() *backup.Plan {
	at := time.Date(2026, 9, 1, 3, 0, 0, 0, time.UTC)
	return &backup.Plan{
		Name: "shop-backup-20260901-030000", Source: "shop", Namespace: "shop", Time: at,
		Parts: []backup.Part{{
			Object: object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "files"}, Method: backup.BySnapshot, Status: health.Healthy, Handle: "one", Driver: "csi.example.com",
			Backup: object.Ref{Group: backup.SnapshotGroup, Kind: "VolumeSnapshot", Namespace: "shop", Name: "files-20260901-030000"}, Claim: map[string]any{"storageClassName": "fast"},
		}},
		Inputs: []object.Ref{{Kind: "Secret", Namespace: "shop", Name: "web"}},
		Specs: `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - name: web
    resources:
    - {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: files}, spec: {storageClassName: fast}}
  inputs: [{secret: web}]
`,
	}
}

func rehearsal(t *testing.T, in *app.Input, p *backup.Plan) *Rehearsal {
	t.Helper()
	check := &system.Verify{Exec: &system.Exec{Command: []string{"/bin/sh", "-c", "exit 0"}}}
	h, err := NewRehearsal(t.Context(), in, VerifyRequest{Plan: p, Check: check, AllowExec: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func webSecret() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "data": map[string]any{"password": "Y29ycmVjdA=="}}}
}

// scratchNamespace is the one of another run of the same backup.
func scratchNamespace() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	o.SetName("shop-verify-20260901-030000")
	o.SetLabels(map[string]string{backup.RehearsalLabel: "shop-backup-20260901-030000"})
	return o
}

func (s *server) deletes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.writes), func(text string) bool { return !strings.HasPrefix(text, "delete /api/v1/") })
}

// While one rehearsal of a backup is alive, another one is refused, and deletes nothing.
func TestRehearsalRunsAlone(t *testing.T) {
	s, in, _ := newServer(t, webSecret())
	s.put(scratchPath, scratchNamespace())
	h := rehearsal(t, in, filesBackup())
	lock, err := journal.NewLease(h.Config, h.leasePlace(), journal.LeaseOptions{Holder: "alice", Duration: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var refused error
	if err := lock.Do(t.Context(), func(ctx context.Context) error {
		_, refused = h.Run(ctx, nil)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if refused == nil || !strings.Contains(refused.Error(), "alice rehearses shop-backup-20260901-030000 since") {
		t.Errorf("it says %v", refused)
	}
	if got := s.deletes(); len(got) > 0 {
		t.Errorf("deleted: %v", got)
	}
}

// A namespace that another run creates first is not deleted.
func TestRehearsalDeletesItsOwn(t *testing.T) {
	s, in, _ := newServer(t, webSecret())
	h := rehearsal(t, in, filesBackup())
	s.before = func(verb, at string) {
		if verb == "post" && at == scratchPath {
			s.put(at, scratchNamespace())
		}
	}
	if _, err := h.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "create the namespace shop-verify-20260901-030000") {
		t.Errorf("it says %v", err)
	}
	if got := s.deletes(); len(got) > 0 || s.objects[scratchPath] == nil {
		t.Errorf("deleted: %v", got)
	}
	// Nor is one that took the place of its own.
	was := scratch{h.Namespaces[0]: "another"}
	if err := h.remove(t.Context(), was, nil); err != nil || s.objects[scratchPath] == nil {
		t.Errorf("it is deleted, or an error: %v", err)
	}
}

// What cannot be uninstalled stays with its namespace, which has the journal; the error says how it
// is removed.
func TestRehearsalLeft(t *testing.T) {
	s, in, _ := newServer(t, webSecret())
	s.put(scratchPath, scratchNamespace())
	s.put(scratchPath+"/configmaps/"+install.JournalName("shop"), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": install.JournalName("shop"), "namespace": "shop-verify-20260901-030000"}, "data": map[string]any{"journal.json": "{"},
	}})
	_, err := rehearsal(t, in, filesBackup()).Run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "left are the namespaces shop-verify-20260901-030000, and what the System shop has outside of them") {
		t.Errorf("it says %v", err)
	}
	if got := s.deletes(); len(got) > 0 {
		t.Errorf("deleted: %v", got)
	}
}

// A rehearsal that says nothing of a part is refused before anything is written; it says which
// Secrets it copies, and what it runs.
func TestRehearsalPlan(t *testing.T) {
	s, in, _ := newServer(t, webSecret())
	p := filesBackup()
	h := rehearsal(t, in, p)
	if got := strings.Join(h.Uses(), "\n"); got != "copied to shop-verify-20260901-030000: Secret/shop/web\nthe check runs on this machine: [\"/bin/sh\" \"-c\" \"exit 0\"]" {
		t.Errorf("it uses:\n%s", got)
	}
	p.Unsaved = []backup.Unsaved{{Object: object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "cache"}, Reason: "its volume is not of a CSI driver"}}
	if _, err := NewRehearsal(t.Context(), in, VerifyRequest{Plan: p}); err == nil || !strings.Contains(err.Error(), "PersistentVolumeClaim/shop/cache would come up without its data: it is not in the backup: its volume is not of a CSI driver") {
		t.Errorf("it says %v", err)
	}
	if len(s.writes) > 0 {
		t.Errorf("written: %v", s.writes)
	}
}
