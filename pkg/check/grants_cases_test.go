package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

const aggregatedRoles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: whole}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to-whole: "true"}}, {matchLabels: {also: "true"}}]}
rules: RULES
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part-a, labels: {to-whole: "true"}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [""], resources: [secrets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part-b, labels: {also: "true"}}
rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: no-part, labels: {to-whole: "false"}}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: whole}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
`

// grantLines says where each grant is written, and by what it is bound.
func grantLines(grants []check.Grant) string {
	var out []string
	for _, g := range grants {
		line := fmt.Sprintf("%s[%d] %s", g.Role.Name, g.Index, strings.Join(g.Rule.Resources, "+"))
		if g.Through.Name != "" {
			line += " through " + g.Through.Name
		}
		if g.Group != "" {
			line += " of " + g.Group
		}
		if g.Namespace != "" {
			line += " in " + g.Namespace
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestAggregatedRoles(t *testing.T) {
	parts := "part-a[0] pods through whole; part-a[1] secrets through whole; part-b[0] deployments through whole"
	for name, c := range map[string]struct{ rules, want string }{
		"not filled in": {"null", parts},
		"filled in":     {"[{apiGroups: [\"\"], resources: [pods], verbs: [get]}, {apiGroups: [\"\"], resources: [secrets], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [get]}]", parts},
		"stale":         {"[{apiGroups: [batch], resources: [jobs], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [get]}]", "whole[0] jobs; part-b[0] deployments through whole"},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.Replace(aggregatedRoles, "RULES", c.rules, 1))
			grants, known := w.Grants(check.ServiceAccount("shop", "app"))
			if got := grantLines(grants); got != c.want || !known {
				t.Errorf("got %s (known %t), want %s", got, known, c.want)
			}
		})
	}
}

func TestGrantsByGroup(t *testing.T) {
	const roles = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: read}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read}
subjects: [{kind: Group, name: "system:serviceaccounts"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: both}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read}
subjects: [{kind: Group, name: "system:authenticated"}, {kind: ServiceAccount, name: app, namespace: shop}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: nobody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read}
subjects: [{kind: ServiceAccount, name: app}, {kind: Group, name: "system:serviceaccounts:other"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: own, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read}
subjects: [{kind: ServiceAccount, name: app}]
`
	w := checktest.Read(t, operator.Find, roles)
	grants, _ := w.Grants(check.ServiceAccount("shop", "app"))
	if got, want := grantLines(grants), "read[0] pods of system:serviceaccounts; read[0] pods; read[0] pods in shop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestGrantsUnknown: what was not read is not known, and what every cluster has is not
// missing because a file of manifests lacks it.
func TestGrantsUnknown(t *testing.T) {
	bind := func(role string) string {
		return `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: bind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "` + role + `"}
subjects: [{kind: ServiceAccount, name: app, namespace: shop}]
`
	}
	for name, c := range map[string]struct {
		role   string
		unread []string
		known  bool
		rules  int
	}{
		"cluster-admin":            {role: "cluster-admin", known: true, rules: 2},
		"cluster-admin, unread":    {role: "cluster-admin", unread: []string{"ClusterRole"}, known: true, rules: 2},
		"a role that is not there": {role: "gone", known: true},
		"a role that was not read": {role: "gone", unread: []string{"ClusterRole"}},
		"a role of every cluster":  {role: "edit"},
		"one of the system":        {role: "system:node"},
		"bindings of namespaces":   {role: "gone", unread: []string{"RoleBinding"}},
		"bindings of the cluster":  {role: "gone", unread: []string{"ClusterRoleBinding"}},
		"roles nobody is bound to": {role: "gone", unread: []string{"Role"}, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, bind(c.role), c.unread...)
			grants, known := w.Grants(check.ServiceAccount("shop", "app"))
			if known != c.known || len(grants) != c.rules {
				t.Errorf("known %t, %d rules: %v", known, len(grants), grants)
			}
		})
	}
	w := checktest.Read(t, operator.Find, bind("cluster-admin"))
	grants, _ := w.Grants(check.ServiceAccount("shop", "app"))
	if !slices.ContainsFunc(grants, func(g check.Grant) bool {
		return len(g.AllowedVerbs("", "users", "impersonate")) > 0 && len(g.Rule.ResourceNames) == 0
	}) {
		t.Error("cluster-admin may not act as others")
	}
}
