package system_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// TestCarry: an export has each section of the manifest that no object shows, and that of a new
// section as well.
func TestCarry(t *testing.T) {
	from, problems := system.Parse("s", []byte(`
apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: shop, namespace: shop}
spec:
  description: a shop
  apps:
  - {name: web, roots: [deployment/web], monitoring: {port: 8080}, autoscaling: {min: 2, max: 4}, gitops: ignore}
  - {name: db, roots: [statefulset/db]}
  connections: [{from: {app: db, port: sql}, to: {app: web, env: DB_HOST}}]
  labels: {team: till}
  monitoring: {interval: 30s}
  autoscaling: {budget: "90"}
  backup: {verify: {http: {service: web, port: 80, path: /}}}
  chargeback: {tenant: shop-team}
  upgrade: {regulate: true}
  waivers: [{id: stack-scaled, reason: fixed}]
  regulation: {holdOff: 7m}
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	out := &system.System{Name: "shop", Namespace: "shop", Apps: []system.App{{Name: "web"}, {Name: "db"}}}
	out.Carry(from)
	// Of these the objects themselves tell, or what reads them.
	elsewhere := []string{"Values", "Apps", "Operators", "Inputs", "Dependencies", "Origin"}
	got, want := reflect.ValueOf(*out), reflect.ValueOf(*from)
	for i := range want.NumField() {
		name := want.Type().Field(i).Name
		if slices.Contains(elsewhere, name) {
			continue
		}
		if want.Field(i).IsZero() {
			t.Errorf("the manifest of the test has no %s", name)
		}
		if !reflect.DeepEqual(got.Field(i).Interface(), want.Field(i).Interface()) {
			t.Errorf("%s is %+v, want %+v", name, got.Field(i), want.Field(i))
		}
	}
	if w := out.Apps[0]; w.Monitoring.Port != "8080" || w.Autoscaling == nil || w.Autoscaling.Max != 4 || w.GitOps != system.Ignore {
		t.Errorf("web is %+v", w)
	}
}
