package backups

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
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
	owned := configMap("owned")
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "settings", UID: "1"}})
	synced := configMap("synced")
	synced.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"})
	s, in, _ := newServer(t, configMap("settings"), configMap("copy"), owned, synced)
	connected, err := systems.Connect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{connected}
	p := &backup.Plan{Name: "shop-backup-20260901-030000", Source: "shop", Namespace: "shop", Specs: replacedSpecs, Live: true}
	p.Parts = []backup.Part{{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "lost"}, Method: backup.ByOperator, Status: health.Healthy, Backup: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "copy"}}}
	s.put("/api/v1/namespaces/other", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "other"}}})
	home := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system"}}}
	cluster := string(s.put("/api/v1/namespaces/kube-system", home).GetUID())
	given := *p
	plan := func(name string, change func(*backup.Restore, *backup.Plan)) (*backup.Restore, error) {
		sys, problems := system.Parse("", []byte(replacedSpecs))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		r, p := &backup.Restore{Name: "shop", Namespace: "shop", Backup: given.Name, System: sys}, given
		p.Parts = slices.Clone(given.Parts)
		change(r, &p)
		return r, c.planReplace(t.Context(), r, &RestoreRequest{Plan: &p, Replace: name})
	}
	const unknown = ", and what exists would be deleted for it"
	for _, wrong := range []struct {
		name, want, way string
		change          func(*backup.Restore, *backup.Plan)
	}{
		{"web", "--replace web: the backup shop-backup-20260901-030000 is of the System shop", "--replace shop deletes", func(*backup.Restore, *backup.Plan) {}},
		{"shop", "ConfigMap/shop/lost would be deleted, and its data is not restored: by hand", elsewhereHint, func(r *backup.Restore, _ *backup.Plan) {
			r.Unrestored = []backup.Unsaved{{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "lost"}, Reason: "by hand"}}
		}},
		{"shop", "ConfigMap/shop/copy exists and has the data of the backup: it is not replaced", elsewhereHint, func(r *backup.Restore, _ *backup.Plan) {
			r.SecretObjects = []*unstructured.Unstructured{configMap("copy")}
		}},
		{"shop", "ConfigMap/shop/copy exists and has the data of the backup: it is not replaced", "kubectl sysop restore run shop-backup-20260901-030000 -n shop --replace shop", func(r *backup.Restore, p *backup.Plan) {
			p.Live, p.Cluster = false, cluster
			r.SecretObjects = []*unstructured.Unstructured{configMap("copy")}
		}},
		{"shop", "Namespace/other exists and has no namespace: others may use it, and it is not replaced", "--only-missing leaves it", func(r *backup.Restore, _ *backup.Plan) {
			r.SecretObjects = []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "other"}}}}
		}},
		{"shop", "ConfigMap/shop/synced is managed by Flux's Kustomization shop in flux-system, which would create it again", "take it out of what manages it", func(r *backup.Restore, _ *backup.Plan) {
			r.SecretObjects = []*unstructured.Unstructured{configMap("synced")}
		}},
		{"shop", "Velero restores the backup", elsewhereHint, func(_ *backup.Restore, p *backup.Plan) { p.Parts[0].Method = backup.ByVelero }},
		{"shop", "ConfigMap/shop/owned is owned by ConfigMap settings, and is deleted with it: there would be no copy", "--namespace-map", func(_ *backup.Restore, p *backup.Plan) { p.Parts[0].Backup.Name = "owned" }},
		{"shop", "the file does not say that it is of this cluster, so whether its data still exists is unknown" + unknown, elsewhereHint, func(_ *backup.Restore, p *backup.Plan) { p.Live, p.Cluster = false, "another" }},
		{"shop", "the file does not say that it is of this cluster", elsewhereHint, func(_ *backup.Restore, p *backup.Plan) { p.Live = false }},
		{"shop", "ConfigMap/shop/none was deleted: whether the data of ConfigMap/shop/lost is still at s3://b shows when it is restored" + unknown, elsewhereHint, func(_ *backup.Restore, p *backup.Plan) {
			p.Live, p.Cluster, p.Parts[0].Backup.Name, p.Parts[0].Handle = false, cluster, "none", "s3://b"
		}},
		{"shop", "whether the data of ConfigMap/shop/lost is still at s3://b is unknown" + unknown, elsewhereHint, func(_ *backup.Restore, p *backup.Plan) {
			p.Live, p.Cluster, p.Parts[0].Backup, p.Parts[0].Handle = false, cluster, object.Ref{}, "s3://b"
		}},
	} {
		if _, err := plan(wrong.name, wrong.change); err == nil || !strings.Contains(err.Error(), wrong.want) || !strings.Contains(hint.For(err), wrong.way) {
			t.Errorf("%v (%s), want %q and %q", err, hint.For(err), wrong.want, wrong.way)
		}
	}
	r, err := plan("shop", func(*backup.Restore, *backup.Plan) {})
	if err != nil || len(r.Replaced) != 1 || r.Replaced[0].Ref != (object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}) {
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

// TestReplaceOpenRun: what another run left half done is not deleted; the run of this restore continues.
func TestReplaceOpenRun(t *testing.T) {
	_, in, _ := newServer(t, configMap("settings"))
	connected, err := systems.Connect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	c, of := cluster{connected}, install.Installation{Name: "shop", Namespace: "shop", System: true}
	store, err := install.NewStore(c.Config, of)
	if err != nil {
		t.Fatal(err)
	}
	r := &backup.Restore{Name: "shop", Namespace: "shop"}
	for _, is := range []struct {
		run                  *install.Run
		continued, installed bool
		want                 string
	}{
		{run: &install.Run{Action: install.Install, Unstamped: "this"}, continued: true},
		{run: &install.Run{Action: install.Install, Unstamped: "another", By: "me"}, want: "--replace shop: the install by me did not finish"},
		{run: &install.Run{Action: install.Install, By: "me"}, want: "--replace shop: the install by me did not finish"},
		{run: &install.Run{Action: install.Upgrade, By: "me"}, want: "--replace shop: the upgrade by me did not finish"},
		{run: &install.Run{Action: install.Uninstall}, installed: true},
		{},
	} {
		j, err := store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if is.run != nil {
			is.run.ID = "run"
		}
		j.Installation, j.Run, r.Installed = of, is.run, false
		if err := store.Save(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		continued, err := c.installed(t.Context(), r, "this")
		if continued != is.continued || r.Installed != is.installed || (err != nil) != (is.want != "") || err != nil && !strings.Contains(err.Error(), is.want) {
			t.Errorf("%+v: continued %v, installed %v, %v", is.run, continued, r.Installed, err)
		}
	}
}

// TestRefuseUninstall: an installation with more than the backup is not uninstalled, nor is one that
// does not have what it would have to delete.
func TestRefuseUninstall(t *testing.T) {
	t.Parallel()
	ref := func(kind, name string) object.Ref { return object.Ref{Kind: kind, Namespace: "shop", Name: name} }
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "shop"}
	r := &backup.Restore{Name: "shop", Namespace: "shop", Replaced: []backup.ReplacedObject{{Ref: ref("ConfigMap", "settings")}, {Ref: role}}}
	next := &install.Plan{Parts: []*install.Part{{Name: "web", Rendered: &chart.Rendered{Objects: []*unstructured.Unstructured{configMap("made")}}}}}
	gone := func(data []object.Ref, objects ...object.Ref) *install.Plan {
		return &install.Plan{Steps: []install.Step{{Objects: objects, Data: data}}}
	}
	more, err := RefuseUninstall(r, gone(nil, ref("ConfigMap", "settings"), role, ref("ConfigMap", "made")), next)
	if err != nil || !slices.Equal(more, []object.Ref{ref("ConfigMap", "made")}) {
		t.Errorf("more are %v, %v", more, err)
	}
	for want, plan := range map[string]*install.Plan{
		"ConfigMap/shop/later is of the installation shop and not of the backup":                 gone(nil, role, ref("ConfigMap", "later")),
		"PersistentVolumeClaim/shop/later is of the installation shop and not of the backup":     gone([]object.Ref{ref("PersistentVolumeClaim", "later")}, role),
		"ClusterRole.rbac.authorization.k8s.io/shop exists, and is not of the installation shop": gone(nil, ref("ConfigMap", "settings")),
	} {
		if _, err := RefuseUninstall(r, plan, next); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	next.Refusals = []install.Refusal{
		{Topic: "ownership", Object: ref("ConfigMap", "settings")},
		{Topic: "ownership", Object: ref("ConfigMap", "foreign")},
		{Topic: "rights", Object: ref("ConfigMap", "settings")},
		{Topic: "images"},
	}
	if DropReplaced(r, next); len(next.Refusals) != 3 || next.Refusals[0].Object.Name != "foreign" {
		t.Errorf("the refusals are %v", next.Refusals)
	}
}
