package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func keyFile(t *testing.T) (file, recipient string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, identity.Recipient().String()
}

// A file holds its Secrets for its recipients alone; one that is cut, altered or of another key is
// an error.
func TestFile(t *testing.T) {
	t.Parallel()
	key, recipient := keyFile(t)
	to, err := backup.ParseRecipients([]string{recipient}, "")
	if err != nil {
		t.Fatal(err)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": map[string]any{"password": "Y29ycmVjdA=="},
		"metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "1", "managedFields": []any{}},
	}}
	p := &backup.Plan{Name: "shop-backup-20260901-120000", Inputs: []object.Ref{{Kind: "Secret", Namespace: "shop", Name: "web"}}, Specs: "specs"}
	name := filepath.Join(t.TempDir(), "shop.backup")
	if err := p.WriteFile(name, []*unstructured.Unstructured{secret}, to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("Y29ycmVjdA")) {
		t.Error("the file has the value of a Secret in clear text")
	}
	read, secrets, err := backup.ReadFile(name, key)
	if err != nil || read.Name != p.Name || read.Specs != "specs" || len(secrets) != 1 {
		t.Fatalf("it is read as %+v, %v, %v", read, secrets, err)
	}
	if s := secrets[0]; s.GetName() != "web" || s.GetUID() != "" || s.Object["type"] != "Opaque" {
		t.Errorf("the Secret is %v", s)
	}
	if _, secrets, err := backup.ReadFile(name, ""); err != nil || secrets != nil {
		t.Errorf("without a key: %v, %v", secrets, err)
	}
	other, _ := keyFile(t)
	if _, _, err := backup.ReadFile(name, other); err == nil || !strings.Contains(err.Error(), "--identity") {
		t.Errorf("with another key: %v", err)
	}
	for what, damaged := range map[string][]byte{
		"cut": text[:len(text)/2], "altered": bytes.Replace(text, []byte("specs"), []byte("spots"), 1), "empty": {}, "something else": []byte("hello"),
	} {
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if p, _, err := backup.ReadFile(name, key); err == nil || p != nil {
			t.Errorf("%s: read as %+v", what, p)
		}
	}
}

// The newest complete backup of a source is never deleted.
func TestRetention(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 10, 0, 0, 0, 0, time.UTC)
	made := func(source string, days int, status health.Status) *backup.Plan {
		at := now.AddDate(0, 0, -days)
		return &backup.Plan{Name: source + at.Format("0102"), Source: source, Namespace: "shop", Time: at, Parts: []backup.Part{{Status: status}}}
	}
	all := []*backup.Plan{
		made("a", 1, health.Degraded), made("a", 2, health.Healthy), made("a", 3, health.Healthy), made("a", 4, health.Healthy), made("b", 9, health.Healthy),
	}
	// One night the database was left out: that backup does not take the place of the one before. What
	// says that it is of the future counts for nothing.
	whole, without, future := made("c", 2, health.Healthy), made("c", 1, health.Healthy), made("c", -400, health.Healthy)
	whole.Parts = append(whole.Parts, backup.Part{Object: object.Ref{Kind: "Cluster", Name: "db"}, Status: health.Healthy})
	if got := (backup.Retention{Keep: 1}).Expired([]*backup.Plan{future, without, whole, made("c", 3, health.Healthy)}, now); len(got) != 1 || got[0].Name != "c0907" {
		t.Errorf("of backups without the database: %v", got)
	}
	for _, c := range []struct {
		keep backup.Retention
		want string
	}{
		{backup.Retention{Keep: 1}, "a0907 a0906"},
		{backup.Retention{Keep: 2}, "a0907 a0906"},
		{backup.Retention{Keep: 3}, "a0906"},
		{backup.Retention{KeepFor: 12 * time.Hour}, "a0909 a0907 a0906"},
		{backup.Retention{KeepFor: 80 * time.Hour}, "a0906"},
		{backup.Retention{}, ""},
	} {
		var got []string
		for _, p := range c.keep.Expired(all, now) {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.keep, got, c.want)
		}
	}
}

// A retention of one root deletes no backup of another one of the same name.
func TestRetentionOfRoots(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 10, 0, 0, 0, 0, time.UTC)
	set, web := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	sources := [][]object.Ref{
		nil, {set}, {{Group: "postgresql.cnpg.io", Kind: "Cluster", Namespace: "shop", Name: "db"}}, {set, web}, {{Group: "sysop.dev", Kind: "System", Namespace: "shop", Name: "db"}},
	}
	var all []*backup.Plan
	for i, roots := range sources {
		all = append(all, &backup.Plan{Name: "db", Source: "db", Roots: roots, Namespace: "shop", Time: now.Add(-time.Duration(i+1) * time.Hour), Parts: []backup.Part{{Object: set, Status: health.Healthy}}})
	}
	if got := (backup.Retention{Keep: 1}).Expired(all, now); len(got) > 0 {
		t.Errorf("%d backups make place for those of other roots", len(got))
	}
	again := &backup.Plan{Name: "again", Source: "web", Roots: []object.Ref{web, set}, Namespace: "shop", Time: now.Add(-10 * time.Hour), Parts: all[3].Parts}
	if got := (backup.Retention{Keep: 1}).Expired(append(all, again), now); len(got) != 1 || got[0] != again {
		t.Errorf("of the same roots in another order: %v", got)
	}
}
