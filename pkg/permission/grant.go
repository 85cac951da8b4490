package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Rule is a rule of a role.
type Rule rbacv1.PolicyRule

// Grant is a rule of a role of the plan, with the subjects that a binding grants it to.
type Grant struct {
	Part string `json:"part"`
	// Role has the rule; Binding binds the role, and is empty if no binding of the release does.
	Role    object.Ref `json:"role"`
	Binding object.Ref `json:"binding,omitzero"`
	// Namespace is the namespace in which the rule applies; empty for all.
	Namespace string `json:"namespace,omitempty"`
	// Subjects receive the rule: ServiceAccount shop/web.
	Subjects []string `json:"subjects,omitempty"`
	// Rule is empty for a role outside the release, and for an Aggregated one.
	Rule Rule `json:"rule,omitzero"`
	// Known is false for a role outside the release, whose rules are those on the cluster.
	// Aggregated means that the role collects the rules of other roles.
	Known      bool `json:"-"`
	Aggregated bool `json:"aggregated,omitempty"`
	// New means that the release did not grant it before.
	New bool `json:"new"`
}

// GrantsOf returns the rules that the roles and bindings among objects of a part grant, a grant for
// each binding. ref returns the reference of an object, with its namespace.
func GrantsOf(part string, objects []*unstructured.Unstructured, ref func(*unstructured.Unstructured) object.Ref) []Grant {
	roles, bound := map[object.Ref]*unstructured.Unstructured{}, map[object.Ref]bool{}
	var bindings []*unstructured.Unstructured
	for _, u := range objects {
		switch gk := ref(u).GroupKind(); {
		case IsRole(gk):
			roles[ref(u)] = u
		case IsBinding(gk):
			bindings = append(bindings, u)
		}
	}
	var out []Grant
	for _, b := range bindings {
		in := ref(b).Namespace
		g := Grant{Part: part, Binding: ref(b), Namespace: in, Role: boundRole(b, in), Subjects: subjectsOf(b, in)}
		bound[g.Role] = true
		out = append(out, roleGrants(g, roles[g.Role])...)
	}
	for at, role := range roles {
		if !bound[at] {
			out = append(out, roleGrants(Grant{Part: part, Role: at, Namespace: at.Namespace}, role)...)
		}
	}
	return out
}

// MarkNew returns grants with New set on those that were not granted before. A grant of which only
// some verbs are new is split.
func MarkNew(was, now []Grant) []Grant {
	had := map[string]bool{}
	for _, g := range was {
		for _, a := range g.atoms() {
			had[a] = true
		}
	}
	var out []Grant
	for _, g := range now {
		out = append(out, g.parted(had)...)
	}
	return out
}

func boundRole(binding *unstructured.Unstructured, namespace string) object.Ref {
	kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	role := object.Ref{Group: RolesGroup, Kind: kind, Name: name}
	if kind == "Role" {
		role.Namespace = namespace
	}
	return role
}

func subjectsOf(binding *unstructured.Unstructured, namespace string) []string {
	list, _, _ := unstructured.NestedSlice(binding.Object, "subjects")
	var out []string
	for _, item := range list {
		s, _ := item.(map[string]any)
		kind, _ := s["kind"].(string)
		name, _ := s["name"].(string)
		in, _ := s["namespace"].(string)
		if kind == "ServiceAccount" {
			name = cmp.Or(in, namespace) + "/" + name
		}
		out = append(out, kind+" "+name)
	}
	slices.Sort(out)
	return out
}

// roleGrants returns a grant for each rule of a role, and one grant without a rule for an unknown
// role.
func roleGrants(g Grant, role *unstructured.Unstructured) []Grant {
	if role == nil {
		return []Grant{g}
	}
	g.Known = true
	var out []Grant
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
	for _, item := range rules {
		r, _ := item.(map[string]any)
		one := g
		one.Rule = Rule{textsOf(r, "verbs"), textsOf(r, "apiGroups"), textsOf(r, "resources"), textsOf(r, "resourceNames"), textsOf(r, "nonResourceURLs")}
		out = append(out, one)
	}
	if _, aggregated := role.Object["aggregationRule"]; aggregated {
		g.Aggregated = true
		out = append(out, g)
	}
	return out
}

// parted splits a grant into its new part and the rest. A rule that is new as a whole, or not at
// all, is not split.
func (g Grant) parted(had map[string]bool) []Grant {
	fresh, old := g, g
	fresh.New = true
	fresh.Rule.Verbs, old.Rule.Verbs = nil, nil
	if !g.Known || g.Aggregated {
		g.New = !had[g.atoms()[0]]
		return []Grant{g}
	}
	for _, v := range g.Rule.Verbs {
		one := g
		one.Rule.Verbs = []string{v}
		isNew := slices.ContainsFunc(one.atoms(), func(a string) bool { return !had[a] })
		if isNew {
			fresh.Rule.Verbs = append(fresh.Rule.Verbs, v)
		} else {
			old.Rule.Verbs = append(old.Rule.Verbs, v)
		}
	}
	var out []Grant
	if len(fresh.Rule.Verbs) > 0 {
		out = append(out, fresh.narrowed(had))
	}
	if len(old.Rule.Verbs) > 0 {
		out = append(out, old)
	}
	return out
}

// narrowed drops the groups and resources of a new grant that have nothing new.
func (g Grant) narrowed(had map[string]bool) Grant {
	keep := func(all []string, with func(string) Rule) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
			one := g
			one.Rule = with(s)
			return !slices.ContainsFunc(one.atoms(), func(a string) bool { return !had[a] })
		})
	}
	r := g.Rule
	g.Rule.Resources = keep(r.Resources, func(s string) Rule { r := r; r.Resources = []string{s}; return r })
	g.Rule.APIGroups = keep(r.APIGroups, func(s string) Rule { r := r; r.APIGroups = []string{s}; return r })
	return g
}

// atoms returns the single permissions of a grant, each with its subject and namespace.
func (g Grant) atoms() []string {
	to := strings.Join(g.Subjects, ",") + " in " + g.Namespace
	if !g.Known || g.Aggregated {
		return []string{fmt.Sprintf("%s: all of %s, aggregated %t", to, g.Role, g.Aggregated)}
	}
	names := g.Rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var out []string
	for _, v := range g.Rule.Verbs {
		for _, url := range g.Rule.NonResourceURLs {
			out = append(out, fmt.Sprintf("%s: %s %s", to, v, url))
		}
		for _, group := range g.Rule.APIGroups {
			for _, resource := range g.Rule.Resources {
				for _, name := range names {
					out = append(out, fmt.Sprintf("%s: %s %s/%s %s", to, v, group, resource, name))
				}
			}
		}
	}
	return out
}

// String returns the grant as text: subject, verbs, resources, namespace, role.
func (g Grant) String() string {
	subjects := "no subject of this release"
	if len(g.Subjects) > 0 {
		subjects = strings.Join(g.Subjects, ", ")
	}
	scope := "in all namespaces"
	if g.Namespace != "" {
		scope = "in " + g.Namespace
	}
	rule := g.Rule.String()
	switch {
	case g.Aggregated:
		rule = "all that the aggregated roles allow"
	case !g.Known && g.Role.Name == "cluster-admin":
		rule = "everything"
	case !g.Known:
		rule = "all that this role of the cluster allows"
	}
	return fmt.Sprintf("%s: %s, %s (%s %s)", subjects, rule, scope, g.Role.Kind, g.Role.Name)
}

// String returns the rule as text: get, list pods, deployments.apps.
func (r Rule) String() string {
	var resources []string
	for _, resource := range r.Resources {
		for _, group := range r.APIGroups {
			switch group {
			case "":
				resources = append(resources, resource)
			default:
				resources = append(resources, resource+"."+group)
			}
		}
	}
	resources = append(resources, r.NonResourceURLs...)
	text := strings.Join(r.Verbs, ", ") + " " + strings.Join(resources, ", ")
	if len(r.ResourceNames) > 0 {
		text += " named " + strings.Join(r.ResourceNames, ", ")
	}
	return text
}

// Granted returns the permissions of a role in a namespace, or everywhere if it is empty, and whether
// there are others.
func Granted(role *unstructured.Unstructured, namespace string) (rights []Permission, more bool) {
	if _, aggregated := role.Object["aggregationRule"]; aggregated {
		more = true
	}
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
	for _, item := range rules {
		rule, _ := item.(map[string]any)
		if len(textsOf(rule, "nonResourceURLs")) > 0 {
			more = true
		}
		names := textsOf(rule, "resourceNames")
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range textsOf(rule, "apiGroups") {
			for _, resource := range textsOf(rule, "resources") {
				plural, sub, _ := strings.Cut(resource, "/")
				for _, verb := range textsOf(rule, "verbs") {
					for _, name := range names {
						rights = append(rights, Permission{Verb: verb, Group: group, Resource: plural, Subresource: sub, Namespace: namespace, Name: name})
					}
				}
			}
		}
	}
	slices.SortFunc(rights, Compare)
	return slices.Compact(rights), more
}

func textsOf(fields map[string]any, name string) []string {
	list, _ := fields[name].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// RolesGroup is the API group of roles.
const RolesGroup = "rbac.authorization.k8s.io"

// IsRole says whether a kind is one of roles, of a namespace or of the cluster.
func IsRole(gk schema.GroupKind) bool {
	return gk.Group == RolesGroup && (gk.Kind == "Role" || gk.Kind == "ClusterRole")
}

// IsBinding says whether a kind binds a role to subjects.
func IsBinding(gk schema.GroupKind) bool {
	return gk.Group == RolesGroup && (gk.Kind == "RoleBinding" || gk.Kind == "ClusterRoleBinding")
}
