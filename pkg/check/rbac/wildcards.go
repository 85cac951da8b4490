package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// wildcards finds "*" in a rule; another rule reports one that allows everything. Its severity
// depends on its coverage: low for an operator's own kinds, higher for other objects.
func wildcards(h *subject, x *holding) (finding, bool) {
	if x.SelectsEverything() || len(x.Rule.Resources) == 0 {
		return finding{}, false
	}
	var parts []string
	for _, p := range []struct {
		name string
		list []string
	}{{"verbs", x.Rule.Verbs}, {"resources", x.Rule.Resources}, {"apiGroups", x.Rule.APIGroups}} {
		if slices.Contains(p.list, "*") {
			parts = append(parts, p.name)
		}
	}
	if len(parts) == 0 {
		return finding{}, false
	}
	return finding{
		severity: wildcardSeverity(h, x),
		field:    parts[0], value: "*",
		what:   wildcardMeans(x),
		remedy: h.spelled(x, parts),
	}, true
}

// wildcardMeans describes in words what the rule allows.
func wildcardMeans(x *holding) string {
	do := object.AndList(x.Rule.Verbs)
	if slices.Contains(x.Rule.Verbs, rbacv1.VerbAll) {
		do = "do anything to"
	}
	resources := object.ShortList(x.Rule.Resources)
	if slices.Contains(x.Rule.Resources, rbacv1.ResourceAll) {
		resources = "every resource"
	}
	groups := make([]string, 0, len(x.Rule.APIGroups))
	for _, g := range x.Rule.APIGroups {
		groups = append(groups, cmp.Or(g, "the core group"))
	}
	groupNames := object.ShortList(groups)
	if slices.Contains(x.Rule.APIGroups, rbacv1.APIGroupAll) {
		groupNames = "every group"
	}
	if len(x.Rule.ResourceNames) > 0 {
		groupNames += " named " + object.ShortList(x.Rule.ResourceNames)
	}
	return fmt.Sprintf("may %s %s of %s", do, resources, groupNames)
}

func wildcardSeverity(h *subject, x *holding) check.Severity {
	own := !slices.ContainsFunc(x.Rule.APIGroups, func(g string) bool { return !h.own[g] })
	if own || !x.cluster || len(x.Rule.ResourceNames) > 0 {
		return check.Info
	}
	reading := !slices.ContainsFunc(x.Rule.Verbs, func(v string) bool { return !slices.Contains(readVerbs, v) })
	// Reading is harmless, except for secrets.
	if reading && len(x.AllowedVerbs("", "secrets", readVerbs...)) == 0 {
		return check.Info
	}
	return check.Warning
}

// spelled lists the resources that "*" covers, by the kinds of the cluster.
func (h *subject) spelled(x *holding, parts []string) string {
	var out []string
	if slices.Contains(parts, "verbs") {
		out = append(out, "Name the verbs that it uses (of get, list, watch, create, update, patch, delete).")
	}
	if slices.Contains(parts, "resources") {
		if list := h.kindsWhere(func(r object.Resource) bool { return slices.Contains(x.Rule.APIGroups, r.Group) && r.Plural != "" }, wildcardPlural); len(list) > 0 {
			out = append(out, fmt.Sprintf("Name the resources (%s).", object.ShortList(list)))
		} else {
			out = append(out, "Name the resources.")
		}
	}
	if slices.Contains(parts, "apiGroups") {
		if list := h.kindsWhere(func(r object.Resource) bool { return slices.Contains(x.Rule.Resources, r.Plural) }, wildcardGroup); len(list) > 0 {
			out = append(out, fmt.Sprintf("Name the groups (%s).", object.ShortList(list)))
		} else {
			out = append(out, "Name the groups.")
		}
	}
	return strings.Join(out, " ")
}

func wildcardPlural(r object.Resource) string { return r.Plural }

func wildcardGroup(r object.Resource) string {
	if r.Group == "" {
		return `""`
	}
	return r.Group
}

func (h *subject) kindsWhere(want func(object.Resource) bool, say func(object.Resource) string) []string {
	var out []string
	for _, r := range h.w.Kinds.All() {
		if want(r) {
			out = append(out, say(r))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
