package app

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// A rule of check tests the workload that install lets in.
func TestConnectionConsumer(t *testing.T) {
	t.Parallel()
	sys, problems := system.Parse("test", []byte(`apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  apps:
  - {name: db, roots: [statefulset/db]}
  - name: web
    resources:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: web}}
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}}
  connections:
  - {from: {app: db, port: sql}, to: {app: web, env: DB}}
  - {from: {app: db, port: sql}, to: {app: web, root: deployments.apps/worker, env: DB}}
  - {from: {app: db, port: sql}, to: {app: web, root: deployment/worker, path: spec.replicas}}
  - {from: {app: db, port: sql}, to: {app: web, configMap: web, key: db}}
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range []string{"Deployment.apps/shop/web", "Deployment.apps/shop/worker", "Deployment.apps/shop/worker", "/"} {
		if got := consumer(sys, sys.Connections[i].To).String(); got != want {
			t.Errorf("connection %d has the consumer %s, want %s", i, got, want)
		}
	}
}
