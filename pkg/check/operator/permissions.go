package operator

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// claim is what a role lets its holders do with the objects of a definition.
type claim struct {
	def  int
	sign signSet
	role object.Ref
}

// role is what a role says of custom resources.
type role struct {
	claims []claim
	// any says that it may write the objects of every group, all that it may do something
	// with them.
	any, all bool
}

// rights finds what each service account may do with the objects of definitions, and puts
// that down for the workloads that run as it.
func (s *search) rights() {
	roles := s.roles()
	held := map[object.Ref]role{}
	hold := func(subjects []rbacv1.Subject, namespace string, ref rbacv1.RoleRef) {
		in := object.Ref{Group: rbacv1.GroupName, Kind: ref.Kind, Name: ref.Name}
		if ref.Kind == check.RoleKind.Kind {
			in.Namespace = namespace
		}
		role, ok := roles[in]
		if !ok || len(role.claims) == 0 && !role.any && !role.all {
			return
		}
		for _, sub := range subjects {
			sa, ok := check.SubjectAccount(sub, namespace)
			if !ok {
				// No other user runs in a pod, but pods may be in a group.
				s.loose = s.loose || sub.Kind == rbacv1.GroupKind && (sub.Name == "system:authenticated" || strings.HasPrefix(sub.Name, "system:serviceaccounts"))
				continue
			}
			have := held[sa]
			have.claims = append(have.claims, role.claims...)
			have.any = have.any || role.any
			have.all = have.all || role.all
			held[sa] = have
		}
	}
	for _, b := range check.All[*rbacv1.ClusterRoleBinding](s.w.Facts, rbacv1.GroupName, check.ClusterRoleBindingKind.Kind) {
		hold(b.Subjects, "", b.RoleRef)
	}
	for _, b := range check.All[*rbacv1.RoleBinding](s.w.Facts, rbacv1.GroupName, check.RoleBindingKind.Kind) {
		hold(b.Subjects, b.Namespace, b.RoleRef)
	}
	for i := range s.workloads {
		wl := &s.workloads[i]
		for _, sa := range wl.accounts {
			have := held[sa]
			for _, c := range have.claims {
				s.sign(c.def, i, c.sign, c.role.Kind+" "+c.role.Name)
			}
			wl.any = wl.any || have.any
			wl.all = wl.all || have.all
		}
	}
}

// roles reads all roles, those that are put together of others with what these have.
func (s *search) roles() map[object.Ref]role {
	out := map[object.Ref]role{}
	cluster := check.All[*rbacv1.ClusterRole](s.w.Facts, rbacv1.GroupName, check.ClusterRoleKind.Kind)
	for _, r := range cluster {
		if userRole(&r.ObjectMeta) {
			continue
		}
		ref := object.Ref{Group: rbacv1.GroupName, Kind: check.ClusterRoleKind.Kind, Name: r.Name}
		role := s.role(ref, r.Rules)
		// A cluster's controller copies the rules; a folder of manifests has them not.
		if r.AggregationRule != nil && len(r.Rules) == 0 {
			for _, part := range cluster {
				if check.Aggregates(r.AggregationRule, part.Labels) {
					more := s.role(ref, part.Rules)
					role.claims = append(role.claims, more.claims...)
					role.any, role.all = role.any || more.any, role.all || more.all
				}
			}
		}
		out[ref] = role
	}
	for _, r := range check.All[*rbacv1.Role](s.w.Facts, rbacv1.GroupName, check.RoleKind.Kind) {
		ref := object.Ref{Group: rbacv1.GroupName, Kind: check.RoleKind.Kind, Namespace: r.Namespace, Name: r.Name}
		out[ref] = s.role(ref, r.Rules)
	}
	return out
}

// userRole says that a role is for people: what is added up to admin, edit and
// view. Whoever is bound to these uses custom resources, and does not run them.
func userRole(m *metav1.ObjectMeta) bool {
	switch m.Name {
	case "admin", "edit", "view":
		return true
	}
	for _, to := range []string{"admin", "edit", "view"} {
		if m.Labels["rbac.authorization.k8s.io/aggregate-to-"+to] == "true" {
			return true
		}
	}
	return false
}

func (s *search) role(ref object.Ref, rules []rbacv1.PolicyRule) role {
	var out role
	for i := range rules {
		r := &rules[i]
		// A rule for a few names is about these, not about the kind.
		if len(r.ResourceNames) > 0 {
			continue
		}
		writes := verbs(r.Verbs, "update", "patch")
		if !writes && !verbs(r.Verbs, "get", "list", "watch") {
			continue
		}
		for _, group := range r.APIGroups {
			defs := s.byGroup[group]
			if group == rbacv1.APIGroupAll {
				if slices.Contains(r.Resources, rbacv1.ResourceAll) {
					out.all = true
					out.any = out.any || writes
					continue
				}
				defs = s.everyDef
			}
			for _, def := range defs {
				if sign := ruleSign(r.Resources, s.defs[def].plural, writes); sign != 0 {
					out.claims = append(out.claims, claim{def: def, sign: sign, role: ref})
				}
			}
		}
	}
	return out
}

func verbs(verbs []string, want ...string) bool {
	return slices.ContainsFunc(verbs, func(v string) bool { return v == rbacv1.VerbAll || slices.Contains(want, v) })
}

// ruleSign returns what a rule's resources let its holder do with a resource. In
// RBAC * is all resources with their subresources, */status that of all resources.
func ruleSign(resources []string, plural string, writes bool) signSet {
	var out signSet
	for _, r := range resources {
		name, sub, _ := strings.Cut(r, "/")
		if name != plural && name != rbacv1.ResourceAll {
			continue
		}
		switch {
		case r == rbacv1.ResourceAll && writes:
			out |= signGroup | signWrite | signRead
		case sub == "" && writes:
			out |= signWrite | signRead
		case sub == "":
			out |= signRead
		case sub == "status" && writes:
			out |= signStatus
		case sub == "finalizers" && writes:
			out |= signFinalizers
		}
	}
	return out
}
