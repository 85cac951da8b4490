package install

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
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
	wantRefusal(t, NewPlan(Rollback, shopSystem, nil, s, o), "data", "cannot tell which claims would be deleted with StatefulSet.apps/shop/cache", "persistentvolumeclaims in shop")
	s.Claims = map[string][]*unstructured.Unstructured{"shop": {planClaim(t, "data-cache-0", ""), planClaim(t, "data-cache-1", ""), planClaim(t, "data-retained-0", "")}}
	wantLosses(t, NewPlan(Rollback, shopSystem, nil, s, o), "PersistentVolumeClaim/shop/data-cache-0", "PersistentVolumeClaim/shop/data-cache-1", "PersistentVolumeClaim/shop/scratch")
}

// Scalers and monitors, which the program itself creates, hold no data; other custom resources may.
func TestLossesOfConfigurations(t *testing.T) {
	var kinds []object.Resource
	var removed []*unstructured.Unstructured
	for _, version := range []string{"keda.sh/v1alpha1 ScaledObject", "autoscaling.k8s.io/v1 VerticalPodAutoscaler", "monitoring.coreos.com/v1 PodMonitor", "pg.example.com/v1 Cluster"} {
		version, kind, _ := strings.Cut(version, " ")
		group, v, _ := strings.Cut(version, "/")
		kinds = append(kinds, object.Resource{Group: group, Version: v, Kind: kind, Plural: strings.ToLower(kind) + "s", Namespaced: true, Custom: true})
		removed = append(removed, planObject(t, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: x}}", version, kind)))
	}
	m := &planner{kinds: planKinds(kinds...)}
	if got := m.data(removed, "shop"); len(got) != 1 || got[0].String() != "Cluster.pg.example.com/shop/x" {
		t.Errorf("lost: %v", got)
	}
}

// planClaim is a claim, which a StatefulSet or a pod owns.
func planClaim(t *testing.T, name, owner string) *unstructured.Unstructured {
	t.Helper()
	owners := ""
	if kind, name, owned := strings.Cut(owner, "/"); owned {
		version := map[string]string{"StatefulSet": "apps/v1", "Pod": "v1"}[kind]
		owners = fmt.Sprintf(", ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: u}]", version, kind, name)
	}
	return planObject(t, fmt.Sprintf("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: shop%s}}", name, owners))
}

// planSet is a StatefulSet db with claims of the template data, and what its spec says besides.
func planSet(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return planObject(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]"+spec+"}}")
}

// setInstalled is the System with an app that has only that StatefulSet, which is there as live
// says, and with claims beside it.
func setInstalled(t *testing.T, set, live *unstructured.Unstructured, claims ...*unstructured.Unstructured) (State, func(*unstructured.Unstructured) []*Part) {
	t.Helper()
	parts := func(set *unstructured.Unstructured) []*Part {
		p := planPart("data", "shop", "0.1.0", chart.Rendered{})
		p.App, p.Release = true, "shop-data"
		if set != nil {
			p.Rendered.Objects = append(p.Rendered.Objects, set)
		}
		return []*Part{p}
	}
	s := emptyState()
	s = doPlan(t, s, NewPlan(Install, shopSystem, parts(set), s, planOptions))
	s.Sets = map[object.Ref]*unstructured.Unstructured{object.RefOf(live): live}
	s.Claims = map[string][]*unstructured.Unstructured{"shop": claims}
	return s, parts
}

// The claims that count are those that are there, and not those that a manifest would make.
func TestLossesOfClaims(t *testing.T) {
	const gone = ", persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}"
	const owner = "StatefulSet/db"
	claim := func(n int, owner string) *unstructured.Unstructured {
		return planClaim(t, fmt.Sprint("data-db-", n), owner)
	}
	ref := func(n int) string { return fmt.Sprint("PersistentVolumeClaim/shop/data-db-", n) }
	deleting := claim(7, owner)
	now := metav1.Now()
	deleting.SetDeletionTimestamp(&now)
	for _, c := range []struct {
		what      string
		set, live string
		claims    []*unstructured.Unstructured
		want      []string
	}{
		{"none are there", gone, gone, nil, nil},
		{"no replicas", gone + ", replicas: 0", gone + ", replicas: 0", []*unstructured.Unstructured{claim(0, owner), claim(1, "")}, []string{ref(0), ref(1)}},
		{"scaled up by somebody", gone + ", replicas: 1", gone + ", replicas: 3", []*unstructured.Unstructured{claim(0, owner), claim(1, owner), claim(2, owner)}, []string{ref(0), ref(1), ref(2)}},
		{"the policy is somebody's", ", replicas: 1", gone + ", replicas: 1", []*unstructured.Unstructured{claim(0, owner)}, []string{ref(0)}},
		{"owned since before", ", replicas: 1", ", persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}", []*unstructured.Unstructured{claim(0, ""), claim(1, owner), claim(2, "Pod/db-2")}, []string{ref(1), ref(2)}},
		{"retained", ", replicas: 1", ", replicas: 1", []*unstructured.Unstructured{claim(0, ""), claim(1, "")}, nil},
		{"others', and going ones", gone, gone, []*unstructured.Unstructured{planClaim(t, "data-db2-0", "StatefulSet/db2"), planClaim(t, "data-db-x", ""), deleting}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, parts := setInstalled(t, planSet(t, c.set), planSet(t, c.live), c.claims...)
			wantLosses(t, NewPlan(Uninstall, shopSystem, parts(nil), s, planOptions), c.want...)
			wantLosses(t, NewPlan(Upgrade, shopSystem, parts(nil), s, planOptions), c.want...)
		})
	}
}

// Claims go with the pods that an upgrade has no more, where the StatefulSet says so.
func TestLossesOfScaling(t *testing.T) {
	const scaled = ", persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}"
	var claims []*unstructured.Unstructured
	for i := range 5 {
		claims = append(claims, planClaim(t, fmt.Sprint("data-db-", i), ""))
	}
	ref := func(n int) string { return fmt.Sprint("PersistentVolumeClaim/shop/data-db-", n) }
	for _, c := range []struct {
		what              string
		set, live, wanted string
		want              []string
	}{
		{"lower", scaled + ", replicas: 3", scaled + ", replicas: 3", scaled + ", replicas: 1", []string{ref(1), ref(2)}},
		{"to none", scaled + ", replicas: 2", scaled + ", replicas: 2", scaled + ", replicas: 0", []string{ref(0), ref(1)}},
		{"lower than what somebody scaled it to", scaled + ", replicas: 2", scaled + ", replicas: 4", scaled + ", replicas: 2, serviceName: other", []string{ref(2), ref(3)}},
		{"another start", scaled + ", replicas: 2", scaled + ", replicas: 2", scaled + ", replicas: 2, ordinals: {start: 1}", []string{ref(0)}},
		{"higher", scaled + ", replicas: 2", scaled + ", replicas: 2", scaled + ", replicas: 4", nil},
		{"the policy is somebody's", ", replicas: 2", scaled + ", replicas: 2", ", replicas: 1", []string{ref(1)}},
		{"the policy is new", ", replicas: 2", ", replicas: 2", scaled + ", replicas: 1", []string{ref(1)}},
		{"the policy goes", scaled + ", replicas: 2", scaled + ", replicas: 2", ", replicas: 1", nil},
		{"retained", ", replicas: 2", ", replicas: 2", ", replicas: 1", nil},
		{"no number any more", scaled + ", replicas: 3", scaled + ", replicas: 3", scaled, []string{ref(1), ref(2)}},
		{"the number is somebody's", scaled, scaled + ", replicas: 3", scaled + ", serviceName: other", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, parts := setInstalled(t, planSet(t, c.set), planSet(t, c.live), claims...)
			p := NewPlan(Upgrade, shopSystem, parts(planSet(t, c.wanted)), s, planOptions)
			wantLosses(t, p, c.want...)
			if len(p.Refusals) > 0 || len(p.Steps) == 0 {
				t.Errorf("steps %v, refused:\n%s", stepIDs(p), refusalTexts(p))
			}
		})
	}
}

// What is there is read: the StatefulSets as they are, and the claims beside them. Who may not
// list claims is refused; who has no StatefulSet that has any deleted need not list them.
func TestGatherReadsClaims(t *testing.T) {
	const gone = ", persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, replicas: 1"
	sets := object.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Listable: true}
	for _, c := range []struct {
		what, set, live string
		listed          bool
	}{
		{"by its release", gone, gone, true}, {"by somebody", "", gone, true}, {"retained", "", "", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, parts := setInstalled(t, planSet(t, c.set), planSet(t, c.live))
			s.Kinds = planKinds(sets)
			delete(s.Objects, object.RefOf(planSet(t, "")))
			m := readerOf(t, s)
			m.objects = append(m.objects, planSet(t, c.live), planClaim(t, "data-db-0", "StatefulSet/db"), planClaim(t, "data-db-5", "StatefulSet/db"))
			ask := StateRequest{Installation: shopSystem, Action: Uninstall, Parts: parts(nil), Kinds: s.Kinds}
			read, err := ReadState(t.Context(), m, ask)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if c.listed {
				want = []string{"PersistentVolumeClaim/shop/data-db-0", "PersistentVolumeClaim/shop/data-db-5"}
			}
			if slices.Contains(m.asked, "list persistentvolumeclaims") != c.listed {
				t.Errorf("asked %q", m.asked)
			}
			p := NewPlan(Uninstall, shopSystem, ask.Parts, read, planOptions)
			if c.listed {
				wantLosses(t, p, want...)
			}
			m.forbidden = map[string]bool{"persistentvolumeclaims": true}
			read, err = ReadState(t.Context(), m, ask)
			if err != nil {
				t.Fatal(err)
			}
			p = NewPlan(Uninstall, shopSystem, ask.Parts, read, planOptions)
			if !c.listed && len(p.Refusals) > 0 {
				t.Errorf("refused: %s", refusalTexts(p))
			}
			if c.listed {
				wantRefusal(t, p, "rights", "you may not read persistentvolumeclaims in shop")
			}
			rights := fmt.Sprint(Permissions(p, read, s.Kinds))
			if strings.Contains(rights, "persistentvolumeclaims") != c.listed {
				t.Errorf("rights: %s", rights)
			}
		})
	}
}

// What may not be read is said once for each resource of a namespace.
func TestGapsAreSaidOnce(t *testing.T) {
	s := emptyState()
	for _, n := range []string{"a", "b", "c"} {
		s.Gaps = append(s.Gaps, object.Gap{Resource: "customresourcedefinitions.apiextensions.k8s.io", Reason: "Forbidden", Message: n + " is forbidden"})
	}
	s.Gaps = append(s.Gaps, object.Gap{Resource: "secrets", Namespace: "shop", Reason: "Forbidden", Message: "secrets is forbidden"})
	p := NewPlan(Install, shopSystem, shopParts(t), s, planOptions)
	if n := strings.Count(refusalTexts(p), "you may not read"); n != 2 {
		t.Errorf("%d refusals, want 2:\n%s", n, refusalTexts(p))
	}
	wantRefusal(t, p, "rights", "customresourcedefinitions.apiextensions.k8s.io", "the current state is unknown: a is forbidden (and 2 more)")
	wantRefusal(t, p, "rights", "secrets in shop")
}
