package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// Escalation is a role, or a binding to one, that a run creates. The API server accepts it from
// subjects that may escalate (or bind), or that have all permissions of the role.
type Escalation struct {
	Part   string
	Object object.Ref
	// Either is the permission to escalate the role, or to bind it.
	Either permission.Permission
	// Or are the known permissions of the role. Unknown means that there are more: those of a role
	// that the run does not create, permissions on URLs, and aggregated ones.
	Or      []permission.Permission
	Unknown bool
}

// Escalations returns the roles and bindings that a run creates, in its order.
func Escalations(p *Plan) []Escalation {
	roles := map[object.Ref]*unstructured.Unstructured{}
	for _, part := range p.Parts {
		for _, u := range madeBy(part) {
			if permission.IsRole(object.RefOf(u).GroupKind()) {
				roles[object.RefOf(u)] = u
			}
		}
	}
	var out []Escalation
	for _, part := range p.Parts {
		if slices.Contains(p.Unchanged, part.Name) {
			continue
		}
		for _, u := range madeBy(part) {
			ref := object.RefOf(u)
			switch gk := ref.GroupKind(); {
			case permission.IsRole(gk):
				e := Escalation{Part: part.Name, Object: ref, Either: onRole("escalate", ref)}
				e.Or, e.Unknown = permission.Granted(u, ref.Namespace)
				out = append(out, e)
			case permission.IsBinding(gk):
				out = append(out, bindingOf(part.Name, u, roles))
			}
		}
	}
	return out
}

// onRole returns a permission on a role.
func onRole(verb string, role object.Ref) permission.Permission {
	return permission.Permission{Verb: verb, Group: permission.RolesGroup, Resource: strings.ToLower(role.Kind) + "s", Namespace: role.Namespace, Name: role.Name}
}

// bindingOf returns the escalation of a binding: the permissions of its role, in its namespace.
func bindingOf(part string, u *unstructured.Unstructured, roles map[object.Ref]*unstructured.Unstructured) Escalation {
	kind, _, _ := unstructured.NestedString(u.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(u.Object, "roleRef", "name")
	role := object.Ref{Group: permission.RolesGroup, Kind: kind, Name: name}
	if kind == "Role" {
		role.Namespace = u.GetNamespace()
	}
	e := Escalation{Part: part, Object: object.RefOf(u), Either: onRole("bind", role)}
	// The permission to bind a ClusterRole in a namespace is checked in that namespace.
	e.Either.Namespace = u.GetNamespace()
	e.Unknown = true
	if known := roles[role]; known != nil {
		e.Or, e.Unknown = permission.Granted(known, u.GetNamespace())
	}
	return e
}

// CheckEscalations refuses roles and bindings that the API server would refuse, given the
// permissions that are missing among Either and Or. If the permissions of a role are partly unknown
// and none of the others is missing, the result is a note: only the server can decide.
func CheckEscalations(all []Escalation, missing []permission.Permission) ([]Refusal, []string) {
	lacks := map[permission.Permission]bool{}
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
