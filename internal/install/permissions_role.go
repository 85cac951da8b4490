package install

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// Role returns the roles with exactly these permissions: a ClusterRole for cluster-scoped ones, and
// a Role in each namespace, after the missing namespaces that it needs. It is deterministic.
func Role(name string, rights []regulate.Permission, missing ...string) []*unstructured.Unstructured {
	byNamespace := map[string][]regulate.Permission{}
	for _, r := range rights {
		byNamespace[r.Namespace] = append(byNamespace[r.Namespace], r)
	}
	var out []*unstructured.Unstructured
	for _, ns := range distinct(missing) {
		if len(byNamespace[ns]) > 0 {
			out = append(out, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}})
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(byNamespace)) {
		kind, meta := "ClusterRole", map[string]any{"name": name}
		if ns != "" {
			kind, meta["namespace"] = "Role", ns
		}
		out = append(out, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": rolesGroup + "/v1", "kind": kind, "metadata": meta, "rules": rulesFor(byNamespace[ns]),
		}})
	}
	return out
}

// rulesFor compacts the permissions in one namespace into rules: it merges the verbs of an object,
// then objects of a kind with the same verbs, then kinds of a group with the same verbs and no
// names.
func rulesFor(rights []regulate.Permission) []any {
	type one struct{ group, resource, name string }
	verbs := map[one][]string{}
	for _, r := range rights {
		o := one{r.Group, r.Resource, r.Name}
		if r.Subresource != "" {
			o.resource += "/" + r.Subresource
		}
		if !slices.Contains(verbs[o], r.Verb) {
			verbs[o] = append(verbs[o], r.Verb)
		}
	}
	// A rule with names is redundant where a rule without names grants the same.
	for o, v := range verbs {
		if o.name != "" {
			all := verbs[one{o.group, o.resource, ""}]
			verbs[o] = slices.DeleteFunc(v, func(verb string) bool { return slices.Contains(all, verb) })
		}
	}
	type same struct{ group, resource, verbs string }
	named := map[same][]string{}
	whole := map[same][]string{}
	for o, v := range verbs {
		slices.Sort(v)
		text := strings.Join(v, ",")
		switch {
		case text == "":
		case o.name != "":
			named[same{o.group, o.resource, text}] = append(named[same{o.group, o.resource, text}], o.name)
		default:
			whole[same{o.group, "", text}] = append(whole[same{o.group, "", text}], o.resource)
		}
	}
	type row struct {
		group                   string
		resources, names, verbs []string
	}
	var rows []row
	for s, resources := range whole {
		rows = append(rows, row{group: s.group, resources: distinct(resources), verbs: strings.Split(s.verbs, ",")})
	}
	for s, names := range named {
		rows = append(rows, row{group: s.group, resources: []string{s.resource}, names: distinct(names), verbs: strings.Split(s.verbs, ",")})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.group, b.group), slices.Compare(a.resources, b.resources), slices.Compare(a.names, b.names), slices.Compare(a.verbs, b.verbs))
	})
	out := make([]any, 0, len(rows))
	for _, r := range rows {
		rule := map[string]any{"apiGroups": []any{r.group}, "resources": anys(r.resources), "verbs": anys(r.verbs)}
		if len(r.names) > 0 {
			rule["resourceNames"] = anys(r.names)
		}
		out = append(out, rule)
	}
	return out
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}
