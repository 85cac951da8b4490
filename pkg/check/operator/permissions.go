package operator

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// access is the permissions of a role's rule on custom resources.
type access struct {
	// signs are those of each definition that the rule names.
	signs map[int]signSet
	// any is set where it may write the objects of every group, all where it may do anything
	// with them.
	any, all bool
}

// permissions finds the permissions of the service account of each workload on the objects of
// definitions. Permissions through a group are noted, and not followed.
func (s *search) permissions() {
	type ruleAt struct {
		role  object.Ref
		index int
	}
	rules := map[ruleAt]access{}
	for i := range s.workloads {
		wl := &s.workloads[i]
		for _, sa := range wl.accounts {
			grants, _ := s.w.Grants(sa)
			for _, g := range grants {
				bound := g.BoundRole()
				if s.isUserRole(bound) {
					continue
				}
				at := ruleAt{g.Role, g.Index}
				a, ok := rules[at]
				if !ok {
					a = s.access(&g.Rule)
					rules[at] = a
				}
				if g.Group != "" {
					s.loose = s.loose || a.any || a.all || len(a.signs) > 0
					continue
				}
				for def, sign := range a.signs {
					s.sign(def, i, sign, bound.Kind+" "+bound.Name)
				}
				wl.any, wl.all = wl.any || a.any, wl.all || a.all
			}
		}
	}
}

// isUserRole reports whether a role is for people: it is one of admin, edit and view, or is
// aggregated to them. Its holders use custom resources, and do not run them.
func (s *search) isUserRole(role object.Ref) bool {
	if role.Kind != check.ClusterRoleKind.Kind {
		return false
	}
	names := []string{"admin", "edit", "view"}
	r, ok := check.Of[*rbacv1.ClusterRole](s.w.Facts, role)
	return slices.Contains(names, role.Name) || ok && slices.ContainsFunc(names, func(to string) bool {
		return r.Labels["rbac.authorization.k8s.io/aggregate-to-"+to] == "true"
	})
}

func (s *search) access(r *rbacv1.PolicyRule) access {
	out := access{signs: map[int]signSet{}}
	writes := verbs(r.Verbs, "update", "patch")
	// A rule that names objects is about these, not about the kind.
	if len(r.ResourceNames) > 0 || !writes && !verbs(r.Verbs, "get", "list", "watch") {
		return out
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
				out.signs[def] |= sign
			}
		}
	}
	return out
}

func verbs(verbs []string, want ...string) bool {
	return slices.ContainsFunc(verbs, func(v string) bool { return v == rbacv1.VerbAll || slices.Contains(want, v) })
}

// ruleSign returns the sign of a rule's resources for one resource. In RBAC * is all resources
// with their subresources, */status that of all resources.
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
