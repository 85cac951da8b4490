package install

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// rolesPart has a role, a binding to it, and one to a role of the cluster.
func rolesPart(t *testing.T) *Part {
	return planPart("op", "op", "1.0.0", chart.Rendered{
		Definitions: []*unstructured.Unstructured{planDefinition(t, "Thing", "x.example.com")},
		Objects: []*unstructured.Unstructured{
			planObject(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: op}, rules: [{apiGroups: [''], resources: [secrets, pods/log], verbs: [get]}]}"),
			planObject(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: op, namespace: op}, roleRef: {kind: ClusterRole, name: op}}"),
			planObject(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: view, namespace: op}, roleRef: {kind: ClusterRole, name: view}}"),
			planDeployment(t, "op", "op", "op:1"),
		},
		Hooks: []chart.Hook{{Object: planObject(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: op}}"), Events: []string{"pre-install"}}},
	})
}

func rightTexts(rights []permission.Permission) []string {
	var out []string
	for _, r := range rights {
		text := r.String()
		if r.Optional {
			text += " (optional)"
		}
		out = append(out, text)
	}
	return out
}

func TestRights(t *testing.T) {
	s := emptyState()
	p := NewPlan(Install, Installation{Name: "op", Namespace: "op"}, []*Part{rolesPart(t)}, s, planOptions)
	got := rightTexts(Permissions(p, s, s.Kinds))
	for _, want := range []string{
		"create namespaces", "delete namespaces op",
		"create customresourcedefinitions.apiextensions.k8s.io", "patch customresourcedefinitions.apiextensions.k8s.io things.x.example.com", "list things.x.example.com",
		"create configmaps in op", "update leases.coordination.k8s.io sysop-install-op in op",
		"create secrets in op", "list secrets in op", "update secrets sh.helm.release.v1.op.v1 in op",
		"create deployments.apps in op", "patch deployments.apps op in op", "delete deployments.apps op in op", "list deployments.apps in op", "list pods in op",
		"create jobs.batch in op", "watch jobs.batch in op",
		"escalate clusterroles.rbac.authorization.k8s.io op (optional)",
		"bind clusterroles.rbac.authorization.k8s.io op in op (optional)",
		"bind clusterroles.rbac.authorization.k8s.io view in op (optional)",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no right to %s; there are:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if !slices.Equal(got, rightTexts(Permissions(p, s, s.Kinds))) {
		t.Error("the rights are in no order")
	}
	for _, r := range got {
		if strings.Contains(r, "*") && r != "list *.* in op (optional)" {
			t.Errorf("more than is needed: %s", r)
		}
	}
	after := doPlan(t, s, p)
	if again := NewPlan(Install, Installation{Name: "op", Namespace: "op"}, []*Part{rolesPart(t)}, after, planOptions); len(Permissions(again, after, after.Kinds)) > 0 {
		t.Error("nothing is to be done, and it takes rights")
	}
}

// An upgrade that is undone may have to delete pods of StatefulSets that come in order, by name.
func TestRightsOfOrdered(t *testing.T) {
	in := Installation{Name: "op", Namespace: "op"}
	part := func(version, more string) *Part {
		return planPart("op", "op", version, chart.Rendered{Objects: []*unstructured.Unstructured{
			planObject(t, "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: op, labels: {version: '"+version+"'}}, spec: {replicas: 2"+more+"}}"),
		}})
	}
	for more, want := range map[string][]string{
		"":                                {"list pods in op (optional)", "delete pods db-0 in op (optional)", "delete pods db-1 in op (optional)"},
		", ordinals: {start: 3}":          {"list pods in op (optional)", "delete pods db-3 in op (optional)", "delete pods db-4 in op (optional)"},
		", podManagementPolicy: Parallel": nil,
	} {
		first := NewPlan(Install, in, []*Part{part("1.0.0", more)}, emptyState(), planOptions)
		s := doPlan(t, emptyState(), first)
		for action, p := range map[Action]*Plan{Install: first, Upgrade: NewPlan(Upgrade, in, []*Part{part("1.1.0", more)}, s, planOptions)} {
			state, want := s, want
			if action == Install {
				state, want = emptyState(), nil // nothing is brought back
			}
			all := rightTexts(Permissions(p, state, s.Kinds))
			if action == Upgrade && !slices.Contains(all, "get namespaces op") {
				t.Errorf("nobody can plan an upgrade who may not read its namespace: %q", all)
			}
			got := slices.DeleteFunc(all, func(text string) bool {
				return !strings.Contains(text, " pods ") || !strings.Contains(text, "optional")
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s, %q: %q, want %q", action, more, got, want)
			}
		}
	}
}

func TestRightsOfUninstall(t *testing.T) {
	in := Installation{Name: "op", Namespace: "op"}
	s := doPlan(t, emptyState(), NewPlan(Install, in, []*Part{rolesPart(t)}, emptyState(), planOptions))
	s.with(planCustom(t, "Thing", "x.example.com", "other", "a"))
	o := planOptions
	o.DeleteData, o.DeleteDefinitions = true, true
	part := &Part{Name: "op", Release: "op", Namespace: "op"}
	p := NewPlan(Uninstall, in, []*Part{part}, s, o)
	got := rightTexts(Permissions(p, s, s.Kinds))
	for _, want := range []string{
		"delete things.x.example.com a in other", "delete customresourcedefinitions.apiextensions.k8s.io things.x.example.com",
		"delete deployments.apps op in op", "delete secrets sh.helm.release.v1.op.v1 in op", "list things.x.example.com",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no right to %s; there are:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

func TestCheckEscalations(t *testing.T) {
	p := NewPlan(Install, Installation{Name: "op", Namespace: "op"}, []*Part{rolesPart(t)}, emptyState(), planOptions)
	all := Escalations(p)
	if len(all) != 3 {
		t.Fatalf("%d escalations: %+v", len(all), all)
	}
	role := all[0]
	if want := []string{"get pods/log", "get secrets"}; !slices.Equal(rightTexts(role.Or), want) {
		t.Errorf("the role gives %v, want %v", rightTexts(role.Or), want)
	}
	if refused, notes := CheckEscalations(all, nil); len(refused)+len(notes) > 0 {
		t.Errorf("nothing is missing: %v %v", refused, notes)
	}
	// Who holds what the role gives need not escalate.
	refused, notes := CheckEscalations(all, []permission.Permission{role.Either, all[2].Either})
	if len(refused) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "RoleBinding.rbac.authorization.k8s.io/op/view grants permissions that are unknown here") {
		t.Errorf("%v %v", refused, notes)
	}
	refused, _ = CheckEscalations(all, []permission.Permission{role.Either, role.Or[1]})
	if len(refused) != 1 || refused[0].Topic != "rights" || !strings.Contains(refused[0].Message, "grants permissions that you do not have (get secrets)") {
		t.Errorf("%+v", refused)
	}
}

func TestCheckKubernetes(t *testing.T) {
	for _, c := range []struct {
		within, version string
		say             string // empty for fine
	}{
		{">=1.29 <1.36", "v1.33.2", ""},
		{">=1.33.0-0", "v1.33.2-gke.100", ""},
		{">=1.33", "v1.33.0-alpha.1+abc", ""},
		{"", "v1.33.2", ""},
		{">=1.29", "", ""},
		{">=1.34", "v1.33.2", "op requires Kubernetes >=1.34, and the cluster has v1.33.2"},
		{"soon", "v1.33.2", "not a range of versions"},
		{">=1.29", "latest", "not a version"},
	} {
		r, bad := CheckKubernetes("op", c.within, c.version)
		if bad != (c.say != "") || !strings.Contains(r.Message, c.say) {
			t.Errorf("%s on %s: %v %+v", c.within, c.version, bad, r)
		}
	}
}

func TestCheckImages(t *testing.T) {
	p := planPart("op", "op", "1.0.0", chart.Rendered{Images: []string{"amd:1", "both:1", "nobody-knows:1"}})
	platforms := map[string][]string{"amd:1": {"linux/amd64"}, "both:1": {"linux/amd64", "linux/arm64/v8"}}
	for _, c := range []struct {
		nodes          []string
		refused, notes int
	}{
		{[]string{"linux/amd64"}, 0, 0},
		{[]string{"linux/arm64", "linux/arm64"}, 1, 0},
		{[]string{"linux/amd64", "linux/arm64"}, 0, 1},
		{nil, 0, 0},
	} {
		refused, notes := CheckImages([]*Part{p}, platforms, c.nodes)
		if len(refused) != c.refused || len(notes) != c.notes {
			t.Errorf("%v: %v %v", c.nodes, refused, notes)
		}
		if len(refused) > 0 && (refused[0].Topic != "images" || !strings.Contains(refused[0].Message, "image amd:1 is for linux/amd64")) {
			t.Errorf("%+v", refused[0])
		}
	}
}
