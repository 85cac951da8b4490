package check

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Grant is a rule of a role, and the way by which a service account has it.
type Grant struct {
	Rule rbacv1.PolicyRule
	// Role is the Role or ClusterRole that has the rule, Index the rule's place in it. For an
	// aggregated ClusterRole, Role is the one that the rule comes from.
	Role  object.Ref
	Index int
	// Through is the bound ClusterRole where it aggregates Role; the zero Ref otherwise.
	Through object.Ref
	// Binding is the RoleBinding or ClusterRoleBinding, Namespace its scope; empty for the
	// whole cluster.
	Binding   object.Ref
	Namespace string
	// Group is the group by which the binding includes the account (system:serviceaccounts);
	// empty where it names the account itself.
	Group string
}

// BoundRole is the role that its binding names.
func (g *Grant) BoundRole() object.Ref {
	if g.Through.Name != "" {
		return g.Through
	}
	return g.Role
}

// Grants returns the permissions of a service account, its own and those of its groups, in the
// order of bindings and rules: cluster-wide ones first. known is false where bindings, or
// bound roles, were not read: then it may do more. Only RBAC is read: webhooks and the Node
// authorizer may allow more.
func (w *ClusterState) Grants(sa object.Ref) (grants []Grant, known bool) {
	known = w.Read(ClusterRoleBindingKind, "") && w.Read(RoleBindingKind, "")
	x := w.bindings.build(w)
	for _, at := range x.bindingsFor(sa) {
		rules, ok := w.granted(at.Role, at.Object)
		known = known && ok
		for _, g := range rules {
			g.Binding, g.Namespace, g.Group = at.Object, at.Object.Namespace, at.group
			grants = append(grants, g)
		}
	}
	return grants, known
}

// grantIndex finds the bindings of a subject. An index, since there may be thousands of
// bindings and every pod of the cluster is looked up.
type grantIndex struct {
	once sync.Once
	all  []Binding
	// byAccount and byGroup number the bindings.
	byAccount map[object.Ref][]int
	byGroup   map[string][]int
}

// Binding is a RoleBinding or ClusterRoleBinding, and the group by which it includes the
// account that was looked up.
type Binding struct {
	Role   rbacv1.RoleRef
	Object object.Ref
	group  string
}

func (x *grantIndex) build(w *ClusterState) *grantIndex {
	x.once.Do(func() {
		x.byAccount, x.byGroup = map[object.Ref][]int{}, map[string][]int{}
		for _, b := range All[*rbacv1.ClusterRoleBinding](w.Facts, rbacv1.GroupName, ClusterRoleBindingKind.Kind) {
			x.add(b.RoleRef, b.Subjects, object.Ref{Group: rbacv1.GroupName, Kind: ClusterRoleBindingKind.Kind, Name: b.Name})
		}
		for _, b := range All[*rbacv1.RoleBinding](w.Facts, rbacv1.GroupName, RoleBindingKind.Kind) {
			x.add(b.RoleRef, b.Subjects, object.Ref{Group: rbacv1.GroupName, Kind: RoleBindingKind.Kind, Namespace: b.Namespace, Name: b.Name})
		}
	})
	return x
}

func (x *grantIndex) add(ref rbacv1.RoleRef, subjects []rbacv1.Subject, binding object.Ref) {
	n := len(x.all)
	x.all = append(x.all, Binding{Role: ref, Object: binding})
	for _, s := range subjects {
		if sa, ok := SubjectAccount(s, binding.Namespace); ok {
			x.byAccount[sa] = append(x.byAccount[sa], n)
		} else if s.Kind == rbacv1.GroupKind {
			x.byGroup[s.Name] = append(x.byGroup[s.Name], n)
		}
	}
}

// SubjectAccount returns the service account that a subject of a binding names, as an account
// or as a user. The default namespace is that of the binding; in a ClusterRoleBinding, which
// has none, the subject is invalid.
func SubjectAccount(s rbacv1.Subject, namespace string) (object.Ref, bool) {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		in := cmp.Or(s.Namespace, namespace)
		return ServiceAccount(in, s.Name), in != ""
	case rbacv1.UserKind:
		rest, isAccount := strings.CutPrefix(s.Name, "system:serviceaccount:")
		in, name, ok := strings.Cut(rest, ":")
		return ServiceAccount(in, name), isAccount && ok
	}
	return object.Ref{}, false
}

// bindingsFor returns the bindings that include an account, each once; naming the account
// takes precedence over naming one of its groups.
func (x *grantIndex) bindingsFor(sa object.Ref) []Binding {
	group := map[int]string{}
	for _, name := range []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + sa.Namespace} {
		for _, n := range x.byGroup[name] {
			group[n] = name
		}
	}
	for _, n := range x.byAccount[sa] {
		group[n] = ""
	}
	numbers := make([]int, 0, len(group))
	for n := range group {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	out := make([]Binding, 0, len(numbers))
	for _, n := range numbers {
		b := x.all[n]
		b.group = group[n]
		out = append(out, b)
	}
	return out
}

// granted returns the rules of a bound role. known is false for a role that the cluster surely
// has and that was not read.
func (w *ClusterState) granted(ref rbacv1.RoleRef, binding object.Ref) (grants []Grant, known bool) {
	role := object.Ref{Group: rbacv1.GroupName, Kind: ref.Kind, Name: ref.Name}
	if ref.Kind == RoleKind.Kind {
		role.Namespace = binding.Namespace
		if r, ok := Of[*rbacv1.Role](w.Facts, role); ok {
			return grantsOf(role, r.Rules), true
		}
		return nil, w.Read(RoleKind, role.Namespace)
	}
	r, ok := Of[*rbacv1.ClusterRole](w.Facts, role)
	switch {
	case ok && r.AggregationRule != nil:
		return w.aggregated(role, r), len(r.Rules) > 0 || w.Read(ClusterRoleKind, "")
	case ok:
		return grantsOf(role, r.Rules), true
	case ref.Name == clusterAdmin:
		return grantsOf(role, clusterAdminRules()), true
	}
	return nil, w.Read(ClusterRoleKind, "") && !grantDefaultName(ref.Name)
}

func grantsOf(role object.Ref, rules []rbacv1.PolicyRule) []Grant {
	out := make([]Grant, 0, len(rules))
	for i, rule := range rules {
		out = append(out, Grant{Rule: rule, Role: role, Index: i})
	}
	return out
}

// aggregated returns the rules that a ClusterRole aggregates. A controller copies them into
// it; in manifests, and until then, only the other roles have them. Each rule is ascribed to
// the role that has it, where that is known.
func (w *ClusterState) aggregated(role object.Ref, r *rbacv1.ClusterRole) []Grant {
	var from []Grant
	for _, other := range All[*rbacv1.ClusterRole](w.Facts, rbacv1.GroupName, ClusterRoleKind.Kind) {
		if other.Name == r.Name || !aggregates(r.AggregationRule, other.Labels) {
			continue
		}
		source := object.Ref{Group: rbacv1.GroupName, Kind: ClusterRoleKind.Kind, Name: other.Name}
		for _, g := range grantsOf(source, other.Rules) {
			g.Through = role
			from = append(from, g)
		}
	}
	if len(r.Rules) == 0 {
		return from
	}
	out := grantsOf(role, r.Rules)
	for i := range out {
		same := func(g Grant) bool { return grantSameRule(&g.Rule, &out[i].Rule) }
		if at := slices.IndexFunc(from, same); at >= 0 {
			out[i] = from[at]
		}
	}
	return out
}

// aggregates reports whether a ClusterRole aggregates another one, by the labels of that.
func aggregates(rule *rbacv1.AggregationRule, roleLabels map[string]string) bool {
	return slices.ContainsFunc(rule.ClusterRoleSelectors, func(s metav1.LabelSelector) bool { return Selects(&s, roleLabels) })
}

func grantSameRule(a, b *rbacv1.PolicyRule) bool {
	return slices.Equal(a.Verbs, b.Verbs) && slices.Equal(a.APIGroups, b.APIGroups) && slices.Equal(a.Resources, b.Resources) &&
		slices.Equal(a.ResourceNames, b.ResourceNames) && slices.Equal(a.NonResourceURLs, b.NonResourceURLs)
}

// OwnBindings returns the bindings that name the account, and not a group. It does not matter
// whether their roles were read.
func (w *ClusterState) OwnBindings(sa object.Ref) []Binding {
	return slices.DeleteFunc(w.bindings.build(w).bindingsFor(sa), func(b Binding) bool { return b.group != "" })
}
