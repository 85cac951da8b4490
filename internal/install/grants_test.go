package install

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
)

const (
	grantRole    = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web, namespace: shop}, rules: [RULES]}`
	grantBinding = `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web, namespace: shop}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}, subjects: [{kind: ServiceAccount, name: web}]}`
)

func webWith(t *testing.T, rules string, more ...string) *Part {
	t.Helper()
	objects := []*unstructured.Unstructured{planObject(t, strings.ReplaceAll(grantRole, "RULES", rules)), planObject(t, grantBinding)}
	for _, m := range more {
		objects = append(objects, planObject(t, m))
	}
	p := planPart("web", "shop", "1.0.0", chart.Rendered{Objects: objects})
	p.App = true
	return p
}

func grantTexts(p *Plan) (out []string) {
	for _, g := range p.Grants {
		text := g.String()
		if g.New {
			text = "new: " + text
		}
		out = append(out, text)
	}
	return out
}

// A plan has every rule that is granted; of an upgrade the new rights are in front, and only
// they are called new.
func TestPlanHasEveryGrant(t *testing.T) {
	was := webWith(t, `{verbs: [get, list], apiGroups: [""], resources: [pods]}, {verbs: [get], apiGroups: [apps], resources: [deployments], resourceNames: [web]}`)
	first := NewPlan(Install, shopSystem, []*Part{was}, emptyState(), PlanOptions{})
	if got := grantTexts(first); len(got) != 2 || slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, "new: ServiceAccount shop/web: ") }) {
		t.Errorf("of an install: %q", got)
	}
	state := doPlan(t, emptyState(), first)
	cluster := `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: web}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: web, namespace: shop}]}`
	is := webWith(t, `{verbs: [get, list, delete], apiGroups: [""], resources: [pods, secrets]}, {verbs: [get], apiGroups: [apps], resources: [deployments], resourceNames: [web]}`, cluster)
	is.Version = "2.0.0"
	got := grantTexts(NewPlan(Upgrade, shopSystem, []*Part{is}, state, PlanOptions{}))
	want := []string{
		"new: ServiceAccount shop/web: everything, in all namespaces (ClusterRole cluster-admin)",
		"new: ServiceAccount shop/web: get, list, delete pods, secrets, in shop (Role web)",
		"ServiceAccount shop/web: get deployments.apps named web, in shop (Role web)",
	}
	slices.Sort(want[:2])
	slices.Sort(got[:min(2, len(got))])
	if !slices.Equal(got, want) {
		t.Errorf("of an upgrade:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What of a rule is new is told apart from what was there.
func TestGrantIsParted(t *testing.T) {
	was := webWith(t, `{verbs: [get, list], apiGroups: ["", apps], resources: [pods]}`)
	state := doPlan(t, emptyState(), NewPlan(Install, shopSystem, []*Part{was}, emptyState(), PlanOptions{}))
	is := webWith(t, `{verbs: [get, list, watch], apiGroups: ["", apps], resources: [pods]}`)
	p := NewPlan(Upgrade, shopSystem, []*Part{is}, state, PlanOptions{})
	want := []string{"new: ServiceAccount shop/web: watch pods, pods.apps, in shop (Role web)", "ServiceAccount shop/web: get, list pods, pods.apps, in shop (Role web)"}
	if got := grantTexts(p); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A plan has the objects that are made, changed and deleted, and not those that stay.
func TestPlanHasEveryObject(t *testing.T) {
	object := func(name, text string) *unstructured.Unstructured {
		return planObject(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: shop}, data: {a: "+text+"}}")
	}
	part := func(us ...*unstructured.Unstructured) *Part {
		p := planPart("web", "shop", "1.0.0", chart.Rendered{Objects: us})
		p.App = true
		return p
	}
	changes := func(p *Plan) (out []string) {
		for _, c := range p.Changes {
			out = append(out, c.Change+" "+c.Object.String())
		}
		return out
	}
	first := NewPlan(Install, shopSystem, []*Part{part(object("stays", "x"), object("changes", "x"), object("goes", "x"))}, emptyState(), PlanOptions{})
	if got := changes(first); len(got) != 4 || got[0] != "added Namespace/shop" {
		t.Errorf("of an install: %q", got)
	}
	second := NewPlan(Upgrade, shopSystem, []*Part{part(object("stays", "x"), object("changes", "y"), object("comes", "x"))}, doPlan(t, emptyState(), first), PlanOptions{})
	if got, want := changes(second), []string{"added ConfigMap/shop/comes", "changed ConfigMap/shop/changes", "removed ConfigMap/shop/goes"}; !slices.Equal(got, want) {
		t.Errorf("of an upgrade: %q, want %q", got, want)
	}
}

// The arguments are part of what a run is.
func TestFingerprintHasArguments(t *testing.T) {
	part := webWith(t, "")
	with := func(a string) string {
		return NewPlan(Install, shopSystem, []*Part{part}, emptyState(), PlanOptions{Arguments: a}).Fingerprint
	}
	first, again, other := with("a"), with("a"), with("b")
	if first != again || first == other {
		t.Error("the arguments are no part of the fingerprint")
	}
}
