package rbac

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// accountNames lists objects of one kind by namespace and name.
func accountNames(refs []object.Ref) string {
	words := make([]string, 0, len(refs))
	for _, r := range refs {
		words = append(words, r.Namespace+"/"+r.Name)
	}
	return object.ShortList(words)
}

// ask applies a topic to every rule of the holder.
func (t *permissionTopic) ask(h *subject, r *check.Result) {
	holdings, open := h.held()
	for _, sa := range open {
		r.AddUnknown(sa, "not all roles and bindings could be read: the account may have more permissions")
	}
	wrong := map[object.Ref]bool{}
	bound := map[object.Ref]check.Finding{}
	for _, x := range holdings {
		hit, ok := t.find(h, x)
		if !ok {
			continue
		}
		for _, sa := range x.accounts {
			wrong[sa] = true
		}
		f := h.finding(x, &hit)
		if f.Object != x.Binding {
			r.AddFinding(f)
			continue
		}
		// A default role is right; its binding is wrong, and is reported once.
		if f.Severity == 0 {
			f.Severity = r.Rule.Severity
		}
		if before, ok := bound[f.Object]; !ok || f.Severity < before.Severity {
			bound[f.Object] = f
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(bound), object.Compare) {
		r.AddFinding(bound[ref])
	}
	for _, ref := range h.tokenless {
		r.Pass(ref)
	}
	for _, sa := range h.accounts {
		if !wrong[sa] && !slices.Contains(open, sa) {
			r.Pass(sa)
		}
	}
}

func (h *subject) finding(x *holding, hit *finding) check.Finding {
	f := check.Finding{
		Severity: hit.severity, Object: x.Role,
		Field: fmt.Sprintf("rules[%d].%s", x.Index, hit.field), Value: hit.value, Remedy: hit.remedy,
		Message: fmt.Sprintf("%s %s %s", accountsText(x), hit.what, x.scopeText()),
	}
	f.Related = append(f.Related, x.bindings...)
	if h.w.IsDefaultRole(x.Role) || h.w.IsDefaultRole(x.Through) {
		bound := x.Role
		if x.Through.Name != "" {
			bound = x.Through
		}
		f.Object, f.Field, f.Value = x.Binding, "roleRef.name", bound.Name
		f.Related = append(slices.Clone(x.bindings[1:]), bound)
		f.Remedy = fmt.Sprintf("Bind a role of its own that names what it needs, instead of %s.", bound.Name)
	}
	f.Related = append(f.Related, x.accounts...)
	if !h.operator {
		for _, sa := range x.accounts {
			f.Related = append(f.Related, h.workloads[sa]...)
		}
	}
	return f
}

// accountsText names the accounts, and the group that gives them the rule.
func accountsText(x *holding) string {
	word := "service account "
	if len(x.accounts) > 1 {
		word = "service accounts "
	}
	word += accountNames(x.accounts)
	if x.Group != "" {
		word += " (as every member of " + x.Group + ")"
	}
	return word
}
