package regulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// rule is a set of verbs on objects of one resource: the named ones, or all of the namespace.
type rule struct {
	namespace, group, kind, sub string // kind is the plural
	names, verbs                []string
}

func (r rule) resource() string {
	return Permission{Group: r.group, Resource: r.kind, Subresource: r.sub}.resource()
}

// String describes the rule for people.
func (r rule) String() string {
	text := strings.Join(r.verbs, ", ") + " " + r.resource()
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

func (r rule) policy() rbacv1.PolicyRule {
	resource := r.kind
	if r.sub != "" {
		resource += "/" + r.sub
	}
	return rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: []string{resource}, ResourceNames: r.names, Verbs: r.verbs}
}

// rulesOf returns the fewest rules that give exactly the permissions: it merges the verbs of an
// object, then the objects with equal verbs. They are sorted.
func rulesOf(rights []Permission) []rule {
	type one struct{ namespace, group, kind, sub, name string }
	verbs := map[one][]string{}
	for _, r := range rights {
		o := one{r.Namespace, r.Group, r.Resource, r.Subresource, r.Name}
		if !slices.Contains(verbs[o], r.Verb) {
			verbs[o] = append(verbs[o], r.Verb)
		}
	}
	type same struct {
		namespace, group, kind, sub, verbs string
		named                              bool
	}
	rules := map[same]*rule{}
	for o, v := range verbs {
		slices.Sort(v)
		s := same{o.namespace, o.group, o.kind, o.sub, strings.Join(v, ","), o.name != ""}
		if rules[s] == nil {
			rules[s] = &rule{namespace: o.namespace, group: o.group, kind: o.kind, sub: o.sub, verbs: v}
		}
		if o.name != "" {
			rules[s].names = append(rules[s].names, o.name)
		}
	}
	out := make([]rule, 0, len(rules))
	for r := range maps.Values(rules) {
		slices.Sort(r.names)
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b rule) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind), cmp.Compare(a.sub, b.sub),
			slices.Compare(a.names, b.names), slices.Compare(a.verbs, b.verbs))
	})
	return out
}

// policies are the rules of each namespace; those of the key "" are of the whole cluster.
func policies(rights []Permission) map[string][]rbacv1.PolicyRule {
	out := map[string][]rbacv1.PolicyRule{}
	for _, r := range rulesOf(rights) {
		out[r.namespace] = append(out[r.namespace], r.policy())
	}
	return out
}
