package backups

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// What a manifest declares is kept between the workloads of the record, but for what would wait for itself.
func TestKeepDependencies(t *testing.T) {
	t.Parallel()
	parse := func(text string) *system.System {
		sys, problems := system.Parse("test", []byte("apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: shop, namespace: shop}\nspec:\n"+text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return sys
	}
	sys := parse(`  apps:
  - name: db
    resources: [{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}}]
  - name: db-service
    resources: [{apiVersion: v1, kind: Service, metadata: {name: db}}]
  - name: web
    resources: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}]
  - name: worker
    resources: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}}]
  dependencies:
  - {from: web, to: db-service}
  - {from: db, to: worker}
`)
	declared := parse(`  apps:
  - {name: base, roots: [statefulset/db, service/db]}
  - {name: web, roots: [deployment/web]}
  - {name: worker, roots: [deployment/worker, configmap/none]}
  dependencies:
  - {from: web, to: base, reason: it stores orders}
  - {from: worker, to: base}
`)
	kinds := object.NewKinds([]object.Resource{
		{Version: "v1", Kind: "Service", Plural: "services", Singular: "service", Namespaced: true},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Singular: "configmap", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Singular: "statefulset", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Singular: "deployment", Namespaced: true},
	})
	notes := keepDependencies(sys, declared, kinds)
	if len(notes) != 1 || notes[0] != "a restore does not wait for the dependency worker -> base of the manifest: db needs worker" {
		t.Errorf("notes: %q", notes)
	}
	got := sys.Dependencies[2:]
	if len(got) != 1 || got[0].From != "web" || got[0].To != "db" || got[0].Reason != "it stores orders" {
		t.Errorf("added: %+v", got)
	}
}
