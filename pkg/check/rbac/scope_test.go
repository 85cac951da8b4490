package rbac

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// TestScopeSettings: names of real operators' arguments and variables, and of those that
// are about something else.
func TestScopeSettings(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--watch-namespace=shop"}, "--watch-namespace shop"},
		{[]string{"-watch-namespace", "shop"}, "--watch-namespace shop"},
		{[]string{"--namespaces=a,b"}, "--namespaces a b"},                                     // prometheus-operator, ECK
		{[]string{"--prometheus-instance-namespaces=a"}, "--prometheus-instance-namespaces a"}, // prometheus-operator
		{[]string{"--watch-namespace"}, "--watch-namespace"},
		{[]string{"--watch-namespace="}, "--watch-namespace"},
		{[]string{"--watch-namespaces=*"}, "--watch-namespaces"},
		{[]string{"--namespace=shop"}, "--namespace shop"}, // cert-manager
		{[]string{"--namespace=ops"}, ""},
		{[]string{"--namespace=$(POD_NAMESPACE)"}, ""},
		{[]string{"--leader-election-namespace=kube-system"}, ""}, // cert-manager
		{[]string{"--cluster-resource-namespace=$(POD_NAMESPACE)"}, ""},
		{[]string{"--deny-namespaces=a"}, ""}, // prometheus-operator
		{[]string{"--exclude-namespaces=a"}, ""},
		{[]string{"--webhook-namespace=ops"}, ""},
		{[]string{"--v=2", "run"}, ""},
	} {
		var got []string
		for _, s := range scopeArgs(c.args, "ops") {
			got = append(got, strings.Join(append([]string{s.name}, s.namespaces...), " "))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%v: %v, want %s", c.args, got, c.want)
		}
	}
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}
	olm := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['olm.targetNamespaces']"}}
	for _, c := range []struct {
		env  corev1.EnvVar
		want []string
		is   bool
	}{
		{corev1.EnvVar{Name: "WATCH_NAMESPACE"}, nil, true},
		{corev1.EnvVar{Name: "WATCH_NAMESPACE", Value: "a, b"}, []string{"a", "b"}, true},
		{corev1.EnvVar{Name: "WATCH_NAMESPACE", ValueFrom: field}, []string{"ops"}, true},
		{corev1.EnvVar{Name: "WATCH_NAMESPACE", ValueFrom: olm}, nil, true},
		{corev1.EnvVar{Name: "OPERATOR_WATCHED_NAMESPACES", Value: "a"}, []string{"a"}, true},
		{corev1.EnvVar{Name: "STRIMZI_NAMESPACE", Value: "*"}, nil, true},
		{corev1.EnvVar{Name: "STRIMZI_NAMESPACE", Value: "kafka"}, nil, false},
		{corev1.EnvVar{Name: "POD_NAMESPACE", ValueFrom: field}, nil, false},
		{corev1.EnvVar{Name: "NAMESPACE", Value: "ops"}, nil, false},
		{corev1.EnvVar{Name: "IGNORED_NAMESPACES", Value: "a"}, nil, false},
		{corev1.EnvVar{Name: "NAMESPACE_LABEL", Value: "a"}, nil, false},
	} {
		s, ok := scopeEnv(&c.env, "ops")
		if ok != c.is || !slices.Equal(s.namespaces, c.want) {
			t.Errorf("%+v: %t %v", c.env, ok, s.namespaces)
		}
	}
}

func TestOperatorsInNamespaces(t *testing.T) {
	const role = `{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch]}`
	const own = `{apiGroups: [example.org], resources: [certs], verbs: [get, list, watch]}`
	for name, c := range map[string]struct {
		rule, in, env string
		want          string
	}{
		"everywhere":                      {rule: role, want: "info"},
		"everywhere, could be told":       {rule: role, env: `[{name: WATCH_NAMESPACE, value: ""}]`, want: "fine"},
		"told, with rights everywhere":    {rule: role, env: `[{name: WATCH_NAMESPACE, value: shop}]`, want: "info containers[c].env[WATCH_NAMESPACE]"},
		"rights in namespaces":            {rule: role, in: "shop", want: "fine"},
		"rights in namespaces, told":      {rule: role, in: "shop", env: `[{name: WATCH_NAMESPACE, value: shop}]`, want: "fine"},
		"its own kind everywhere":         {rule: own, want: "info"},
		"nodes everywhere":                {rule: `{apiGroups: [""], resources: [nodes], verbs: [list]}`, want: "fine"},
		"events and leases everywhere":    {rule: `{apiGroups: ["", coordination.k8s.io], resources: [events, leases], verbs: [create]}`, want: "fine"},
		"everything everywhere":           {rule: `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`, want: "info"},
		"a kind that nobody serves":       {rule: `{apiGroups: [gone.example.org], resources: [things], verbs: [get]}`, want: "fine"},
		"paths everywhere":                {rule: `{nonResourceURLs: [/metrics], verbs: [get]}`, want: "fine"},
		"logs of pods everywhere, by sub": {rule: `{apiGroups: [""], resources: [pods/log], verbs: [get]}`, want: "info"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t, c.rule, c.in)
			for _, wl := range w.Workloads() {
				if c.env != "" && wl.Ref.Name == "operator" {
					wl.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "WATCH_NAMESPACE", Value: strings.Trim(strings.SplitAfter(c.env, "value: ")[1], `"]}`)}}
				}
			}
			kinds := operatorNamed(w, "operator").Kinds
			// The role by which it is found is not asked about.
			b, ok := check.Of[*rbacv1.ClusterRoleBinding](w.Facts, object.Ref{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding", Name: "found-by"})
			if !ok {
				t.Fatal("no binding found-by")
			}
			b.RoleRef.Name = "gone"
			o := &check.Operator{World: check.NewWorld(w.Graph, w.Facts, w.Kinds, w.Read), Name: "operator", Kinds: kinds}
			wl, _ := o.World.Workload(w.Stack("Deployment.apps/ops/operator").Ref)
			o.Workloads = []*check.Workload{wl}
			r := checktest.Only(t, Rules(), "operator-namespaces", o.Check)
			got := "fine"
			if len(r.Findings) > 0 {
				got = strings.TrimSpace(r.Findings[0].Severity.String() + " " + strings.TrimPrefix(r.Findings[0].Field, "spec.template.spec."))
			}
			if got != c.want || len(r.Findings)+len(r.Passed)+len(r.Unknowns) != 1 {
				t.Errorf("%s (%+v), want %s", got, r, c.want)
			}
		})
	}
}
