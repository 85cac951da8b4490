package check

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Grant is a rule of a role, and how a service account comes by it.
type Grant struct {
	Rule rbacv1.PolicyRule
	// Role is the Role or ClusterRole, Index the rule's place in it.
	Role  object.Ref
	Index int
	// Binding is the RoleBinding or ClusterRoleBinding, Namespace where it is in force; the
	// whole cluster, where it is empty.
	Binding   object.Ref
	Namespace string
}

var (
	clusterRoleKind        = schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRole"}
	clusterRoleBindingKind = schema.GroupKind{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding"}
	roleKind               = schema.GroupKind{Group: rbacv1.GroupName, Kind: "Role"}
	roleBindingKind        = schema.GroupKind{Group: rbacv1.GroupName, Kind: "RoleBinding"}
)

// Grants returns what a service account may do, by itself and by its groups, in the order
// of bindings and rules. known is false where bindings or roles were not read whole: then
// it may do more.
func (w *World) Grants(sa object.Ref) (grants []Grant, known bool) {
	known = w.Read(clusterRoleKind, "") && w.Read(clusterRoleBindingKind, "") && w.Read(roleBindingKind, "") && w.Read(roleKind, "")
	for _, b := range All[*rbacv1.ClusterRoleBinding](w.Facts, rbacv1.GroupName, "ClusterRoleBinding") {
		if binds(b.Subjects, sa, "") {
			from := object.Ref{Group: rbacv1.GroupName, Kind: "ClusterRoleBinding", Name: b.Name}
			grants = append(grants, w.granted(b.RoleRef, from, "")...)
		}
	}
	for _, b := range All[*rbacv1.RoleBinding](w.Facts, rbacv1.GroupName, "RoleBinding") {
		if binds(b.Subjects, sa, b.Namespace) {
			from := object.Ref{Group: rbacv1.GroupName, Kind: "RoleBinding", Namespace: b.Namespace, Name: b.Name}
			grants = append(grants, w.granted(b.RoleRef, from, b.Namespace)...)
		}
	}
	return grants, known
}

// binds says whether a service account is among the subjects, by name or as a member of a
// group that all service accounts, or all of its namespace, are in.
func binds(subjects []rbacv1.Subject, sa object.Ref, namespace string) bool {
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			in := s.Namespace
			if in == "" {
				in = namespace
			}
			if s.Name == sa.Name && in == sa.Namespace {
				return true
			}
		case rbacv1.UserKind:
			if s.Name == "system:serviceaccount:"+sa.Namespace+":"+sa.Name {
				return true
			}
		case rbacv1.GroupKind:
			switch s.Name {
			case "system:serviceaccounts", "system:serviceaccounts:" + sa.Namespace, "system:authenticated":
				return true
			}
		}
	}
	return false
}

func (w *World) granted(ref rbacv1.RoleRef, binding object.Ref, namespace string) []Grant {
	role := object.Ref{Group: rbacv1.GroupName, Kind: ref.Kind, Name: ref.Name}
	var rules []rbacv1.PolicyRule
	if ref.Kind == "Role" {
		role.Namespace = namespace
		if r, ok := Of[*rbacv1.Role](w.Facts, role); ok {
			rules = r.Rules
		}
	} else if r, ok := Of[*rbacv1.ClusterRole](w.Facts, role); ok {
		rules = r.Rules
	}
	out := make([]Grant, 0, len(rules))
	for i, rule := range rules {
		out = append(out, Grant{Rule: rule, Role: role, Index: i, Binding: binding, Namespace: namespace})
	}
	return out
}
