package check

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// RuleHas reports whether a list of a rule has a word, or "*", which means all.
func RuleHas(list []string, word string) bool {
	return slices.Contains(list, rbacv1.VerbAll) || slices.Contains(list, word)
}

// grantResource reports whether resources of a rule have one of a request.
func grantResource(list []string, resource string) bool {
	if RuleHas(list, resource) {
		return true
	}
	_, sub, ok := strings.Cut(resource, "/")
	return ok && slices.Contains(list, "*/"+sub)
}

// AllowedVerbs returns which of some verbs the rule allows for a resource (pods/log), for any
// name and in any namespace.
func (g *Grant) AllowedVerbs(group, resource string, verbs ...string) []string {
	if !RuleHas(g.Rule.APIGroups, group) || !grantResource(g.Rule.Resources, resource) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return !RuleHas(g.Rule.Verbs, v) })
}

// clusterAdmin is the ClusterRole of every cluster that allows everything.
const clusterAdmin = "cluster-admin"

// clusterAdminRules are those of cluster-admin, as the API server writes them. Manifests may
// bind it without containing it.
func clusterAdminRules() []rbacv1.PolicyRule {
	all := []string{"*"}
	return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
}

// grantDefaultName reports whether the API server itself makes a ClusterRole of that name.
func grantDefaultName(name string) bool {
	switch name {
	case clusterAdmin, "admin", "edit", "view":
		return true
	}
	return strings.HasPrefix(name, "system:")
}

// grantBootstrapping is the label of roles that the API server makes, and restores at its
// start.
const grantBootstrapping = "kubernetes.io/bootstrapping"

// IsDefaultRole reports whether a role is not the user's to change. Then the binding is what
// to correct.
func (w *ClusterState) IsDefaultRole(role object.Ref) bool {
	if role.Kind != ClusterRoleKind.Kind {
		return false
	}
	if r, ok := Of[*rbacv1.ClusterRole](w.Facts, role); ok && r.Labels[grantBootstrapping] != "" {
		return true
	}
	switch role.Name {
	case clusterAdmin, "admin", "edit", "view":
		return true
	}
	return false
}

// CreatesDefinitions returns the grant that allows creating definitions.
func CreatesDefinitions(grants []Grant) (Grant, bool) {
	for _, g := range grants {
		if g.Namespace == "" && RuleHas(g.Rule.APIGroups, "apiextensions.k8s.io") && RuleHas(g.Rule.Resources, "customresourcedefinitions") && RuleHas(g.Rule.Verbs, "create") && len(g.Rule.ResourceNames) == 0 {
			return g, true
		}
	}
	return Grant{}, false
}
