package permission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// rule is a set of verbs on resources of one group: on the named objects of one resource, or on
// all objects of the namespace.
type rule struct {
	namespace, group        string
	resources, names, verbs []string // a resource with its subresource: deployments/scale
}

// resource is written as kubectl create role takes it: deployments.apps/scale,statefulsets.apps.
func (r rule) resource() string {
	var out []string
	for _, text := range r.resources {
		resource, sub, _ := strings.Cut(text, "/")
		out = append(out, Permission{Group: r.group, Resource: resource, Subresource: sub}.resource())
	}
	return strings.Join(out, ",")
}

// String describes the rule for people.
func (r rule) String() string {
	text := strings.Join(r.verbs, ", ") + " " + strings.ReplaceAll(r.resource(), ",", ", ")
	const maxShown = 5
	switch {
	case len(r.names) > maxShown:
		text += fmt.Sprintf(" %s and %d more", strings.Join(r.names[:maxShown], ", "), len(r.names)-maxShown)
	case len(r.names) > 0:
		text += " " + strings.Join(r.names, ", ")
	}
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

func (r rule) compare(o rule) int {
	return cmp.Or(cmp.Compare(r.namespace, o.namespace), cmp.Compare(r.group, o.group), slices.Compare(r.resources, o.resources),
		slices.Compare(r.names, o.names), slices.Compare(r.verbs, o.verbs))
}

// rulesOf returns the fewest rules that grant exactly the permissions, sorted: it merges the verbs
// of an object, then the objects of a resource with equal verbs, then the resources of a group with
// equal verbs and no names. A verb on a name is left out where it is granted on all.
func rulesOf(permissions []Permission) []rule {
	type target struct{ namespace, group, resource, name string }
	verbs := map[target][]string{}
	for _, p := range permissions {
		t := target{p.Namespace, p.Group, p.Resource, p.Name}
		if p.Subresource != "" {
			t.resource += "/" + p.Subresource
		}
		if !slices.Contains(verbs[t], p.Verb) {
			verbs[t] = append(verbs[t], p.Verb)
		}
	}
	rules := map[[4]string]*rule{}
	for t, v := range verbs {
		key := [4]string{t.namespace, t.group}
		if t.name != "" {
			all := verbs[target{t.namespace, t.group, t.resource, ""}]
			v = slices.DeleteFunc(slices.Clone(v), func(verb string) bool { return slices.Contains(all, verb) })
			key[2] = t.resource
		}
		if len(v) == 0 {
			continue
		}
		v = slices.Sorted(slices.Values(v))
		key[3] = strings.Join(v, ",")
		r := rules[key]
		if r == nil {
			r = &rule{namespace: t.namespace, group: t.group, verbs: v}
			rules[key] = r
		}
		if !slices.Contains(r.resources, t.resource) {
			r.resources = append(r.resources, t.resource)
		}
		if t.name != "" {
			r.names = append(r.names, t.name)
		}
	}
	out := make([]rule, 0, len(rules))
	for r := range maps.Values(rules) {
		slices.Sort(r.resources)
		slices.Sort(r.names)
		out = append(out, *r)
	}
	slices.SortFunc(out, rule.compare)
	return out
}

// Policies returns the rules of RBAC of each namespace that grant the permissions; those of the key
// "" are of the whole cluster.
func Policies(permissions []Permission) map[string][]rbacv1.PolicyRule {
	out := map[string][]rbacv1.PolicyRule{}
	for _, r := range rulesOf(permissions) {
		out[r.namespace] = append(out[r.namespace], rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: r.resources, ResourceNames: r.names, Verbs: r.verbs})
	}
	return out
}

// Role returns the roles with exactly these permissions: a ClusterRole for cluster-scoped ones, and
// a Role in each namespace, after the missing namespaces that it needs. It is deterministic.
func Role(name string, permissions []Permission, missing ...string) []*unstructured.Unstructured {
	policies := Policies(permissions)
	var out []*unstructured.Unstructured
	for _, ns := range slices.Compact(slices.Sorted(slices.Values(missing))) {
		if len(policies[ns]) > 0 {
			out = append(out, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}})
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(policies)) {
		kind := "Role"
		if ns == "" {
			kind = "ClusterRole" // with the same fields
		}
		out = append(out, journal.Unstructured(&rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind},
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns},
			Rules:      policies[ns],
		}))
	}
	return out
}
