package backups

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const replacedSpecs = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - name: web
    resources:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: lost}}
`

func configMap(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	o.SetName(name)
	o.SetNamespace("shop")
	return o
}

// TestReplace: only what exists of the named System is deleted, as it was seen: what took its place
// meanwhile stays, and so does what holds the data of the backup.
func TestReplace(t *testing.T) {
	s, in, _ := newServer(t, configMap("settings"), configMap("copy"))
	connected, err := systems.Connect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{connected}
	p := &backup.Plan{Name: "shop-backup-20260901-030000", Source: "shop", Namespace: "shop", Specs: replacedSpecs, Live: true}
	p.Parts = []backup.Part{{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "lost"}, Method: backup.ByOperator, Status: health.Healthy, Backup: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "copy"}}}
	plan := func(name string, change func(*backup.Restore)) (*backup.Restore, error) {
		sys, problems := system.Parse("", []byte(replacedSpecs))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		r := &backup.Restore{Name: "shop", Namespace: "shop", Backup: p.Name, System: sys}
		change(r)
		return r, c.planReplace(t.Context(), r, p, name)
	}
	for _, wrong := range []struct {
		name, want string
		change     func(*backup.Restore)
	}{
		{"web", "--replace web: the backup shop-backup-20260901-030000 is of the System shop", func(*backup.Restore) {}},
		{"shop", "ConfigMap/shop/lost would be deleted, and its data is not restored: by hand", func(r *backup.Restore) {
			r.Unrestored = []backup.Unsaved{{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "lost"}, Reason: "by hand"}}
		}},
		{"shop", "ConfigMap/shop/copy exists and has the data of the backup: it is not replaced", func(r *backup.Restore) {
			r.SecretObjects = []*unstructured.Unstructured{configMap("copy")}
		}},
	} {
		if _, err := plan(wrong.name, wrong.change); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%v, want %q", err, wrong.want)
		}
	}
	r, err := plan("shop", func(*backup.Restore) {})
	if err != nil || !slices.Equal(r.Replaced, []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}}) {
		t.Fatalf("replaced are %v, %v", r.Replaced, err)
	}
	if len(s.deletes()) > 0 {
		t.Fatal("the plan deleted something")
	}
	const path = "/api/v1/namespaces/shop/configmaps/settings"
	seen := s.objects[path].GetUID()
	s.objects[path].SetUID("another")
	if err := Replace(t.Context(), in, r); err != nil || s.objects[path] == nil {
		t.Errorf("another object of the name was deleted, or %v", err)
	}
	s.objects[path].SetUID(seen)
	if err := Replace(t.Context(), in, r); err != nil || s.objects[path] != nil || s.objects[strings.Replace(path, "settings", "copy", 1)] == nil {
		t.Errorf("left are %v, %v", s.objects, err)
	}
}
