package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// Escalation is a role, or a binding to one, that a run makes: the API server lets that pass
// who has the right to escalate (or to bind), or who holds all that the role gives.
type Escalation struct {
	Part   string
	Object object.Ref
	// Either is the right to escalate the role, or to bind it.
	Either regulate.Permission
	// Or are the rights that the role gives, as far as they are known; Unknown says that
	// there are more: those of a role that is not among what the run makes, rights to URLs
	// and what aggregation brings.
	Or      []regulate.Permission
	Unknown bool
}

// Escalations are the roles and bindings that a run makes, in its order.
func Escalations(p *Plan) []Escalation {
	roles := map[object.Ref]*unstructured.Unstructured{}
	for _, part := range p.Parts {
		for _, u := range madeBy(part) {
			if isRole(refOf(u).GroupKind()) {
				roles[refOf(u)] = u
			}
		}
	}
	var out []Escalation
	for _, part := range p.Parts {
		if slices.Contains(p.Unchanged, part.Name) {
			continue
		}
		for _, u := range madeBy(part) {
			ref := refOf(u)
			switch gk := ref.GroupKind(); {
			case isRole(gk):
				e := Escalation{Part: part.Name, Object: ref, Either: onRole("escalate", ref)}
				e.Or, e.Unknown = given(u, ref.Namespace)
				out = append(out, e)
			case isBinding(gk):
				out = append(out, bindingOf(part.Name, u, roles))
			}
		}
	}
	return out
}

// onRole is a right on a role: it is asked of the role's own resource.
func onRole(verb string, role object.Ref) regulate.Permission {
	return regulate.Permission{Verb: verb, Group: rolesGroup, Resource: strings.ToLower(role.Kind) + "s", Namespace: role.Namespace, Name: role.Name}
}

// bindingOf is what a binding takes: it gives what its role does, in the namespace of the binding.
func bindingOf(part string, u *unstructured.Unstructured, roles map[object.Ref]*unstructured.Unstructured) Escalation {
	kind, _, _ := unstructured.NestedString(u.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(u.Object, "roleRef", "name")
	role := object.Ref{Group: rolesGroup, Kind: kind, Name: name}
	if kind == "Role" {
		role.Namespace = u.GetNamespace()
	}
	e := Escalation{Part: part, Object: refOf(u), Either: onRole("bind", role)}
	// The right to bind a ClusterRole within a namespace is asked for there.
	e.Either.Namespace = u.GetNamespace()
	e.Unknown = true
	if known := roles[role]; known != nil {
		e.Or, e.Unknown = given(known, u.GetNamespace())
	}
	return e
}

// given are the rights that a role gives, in a namespace or, where that is empty, everywhere.
func given(role *unstructured.Unstructured, namespace string) (rights []regulate.Permission, more bool) {
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
						rights = append(rights, regulate.Permission{Verb: verb, Group: group, Resource: plural, Subresource: sub, Namespace: namespace, Name: name})
					}
				}
			}
		}
	}
	slices.SortFunc(rights, compareRights)
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

// CheckEscalations refuses roles and bindings that the API server would not let pass, by the
// rights that are missing of all that they ask for (Either and Or). Where what a role gives
// is not known whole, and nothing of it is missing, the server alone can say: that is a note.
func CheckEscalations(all []Escalation, missing []regulate.Permission) ([]Refusal, []string) {
	lacks := map[regulate.Permission]bool{}
	for _, r := range missing {
		r.Optional = false
		lacks[r] = true
	}
	var refused []Refusal
	var notes []string
	for _, e := range all {
		if !lacks[e.Either] {
			continue
		}
		var missing []string
		for _, r := range e.Or {
			if lacks[r] {
				missing = append(missing, r.String())
			}
		}
		if len(missing) == 0 {
			if e.Unknown {
				notes = append(notes, fmt.Sprintf("%s grants permissions that are unknown here: the API server admits it only if you have them, or may %s", e.Object, e.Either))
			}
			continue
		}
		const maxShown = 5
		text := strings.Join(missing[:min(maxShown, len(missing))], ", ")
		if len(missing) > maxShown {
			text += fmt.Sprintf(" and %d more", len(missing)-maxShown)
		}
		refused = append(refused, Refusal{
			Topic: "rights", Part: e.Part, Object: e.Object,
			Message: fmt.Sprintf("%s grants permissions that you do not have (%s), and you may not %s", e.Object, text, e.Either),
			Hint:    "you need permission to " + e.Either.String() + ", which --print-rbac prints",
		})
	}
	slices.SortStableFunc(refused, func(a, b Refusal) int { return cmp.Compare(a.Part, b.Part) })
	return refused, notes
}
