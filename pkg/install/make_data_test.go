package install

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func wantLosses(t *testing.T, p *Plan, want ...string) {
	t.Helper()
	var got []string
	for _, ref := range p.Losses() {
		got = append(got, ref.String())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s loses %q, want %q", p.Action, got, want)
	}
}

// Whatever deletes custom resources, claims or definitions says which.
func TestLosses(t *testing.T) {
	s, o := shopInstalled(t)
	const db = "Cluster.pg.example.com/shop/db"
	const web = "Certificate.cert.example.com/shop/web"
	wantLosses(t, NewPlan(Uninstall, shopSystem, shopParts(t), s, o), web, db)
	o.DeleteDefinitions = true
	wantLosses(t, NewPlan(Uninstall, shopSystem, shopParts(t), s, o),
		"CustomResourceDefinition.apiextensions.k8s.io/certificates.cert.example.com", "CustomResourceDefinition.apiextensions.k8s.io/clusters.pg.example.com", web, db)

	// An upgrade that drops the app, or an object of it; and nothing where nothing goes.
	s, o = shopInstalled(t)
	wantLosses(t, NewPlan(Upgrade, shopSystem, shopParts(t), s, o))
	var rest []*Part
	for _, p := range shopParts(t) {
		if p.Name != "db" {
			rest = append(rest, p)
		}
	}
	wantLosses(t, NewPlan(Upgrade, shopSystem, rest, s, o), db)
	parts := shopParts(t)
	for _, p := range parts {
		if p.Name == "db" {
			p.Rendered.Objects = nil
		}
	}
	wantLosses(t, NewPlan(Upgrade, shopSystem, parts, s, o), db)

	// A rollback takes away what was made since: also the claims that go with a StatefulSet.
	first := o.Before
	extra := planPart("cache", "shop", "0.1.0", chart.Rendered{})
	extra.App = true
	extra.Rendered.Objects = append(extra.Rendered.Objects,
		planObject(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: scratch, namespace: shop}}"),
		planObject(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: kept, namespace: shop, annotations: {helm.sh/resource-policy: keep}}}"),
		planObject(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: cache, namespace: shop}, spec: {replicas: 2, "+
			"persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, volumeClaimTemplates: [{metadata: {name: data}}]}}"),
		planObject(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: retained, namespace: shop}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]}}"))
	up := NewPlan(Upgrade, shopSystem, append(shopParts(t), extra), s, o)
	s = doPlan(t, s, up)
	o.Before, o.To = statesOf(s, up), first
	wantLosses(t, NewPlan(Rollback, shopSystem, nil, s, o), "PersistentVolumeClaim/shop/data-cache-0", "PersistentVolumeClaim/shop/data-cache-1", "PersistentVolumeClaim/shop/scratch")
}

// What may not be read is said once for each resource of a namespace.
func TestGapsAreSaidOnce(t *testing.T) {
	s := emptyState()
	for _, n := range []string{"a", "b", "c"} {
		s.Gaps = append(s.Gaps, object.Gap{Resource: "customresourcedefinitions.apiextensions.k8s.io", Reason: "Forbidden", Message: n + " is forbidden"})
	}
	s.Gaps = append(s.Gaps, object.Gap{Resource: "secrets", Namespace: "shop", Reason: "Forbidden", Message: "secrets is forbidden"})
	p := NewPlan(Install, shopSystem, shopParts(t), s, planOptions)
	if n := strings.Count(refusalTexts(p), "cannot be read"); n != 2 {
		t.Errorf("%d refusals, want 2:\n%s", n, refusalTexts(p))
	}
	wantRefusal(t, p, "rights", "customresourcedefinitions.apiextensions.k8s.io", "you may not: a is forbidden (and 2 more)")
	wantRefusal(t, p, "rights", "secrets in shop")
}
