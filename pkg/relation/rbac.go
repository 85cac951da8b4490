package relation

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// rbacRules reads the identity of a pod and its permissions.
func rbacRules() []Rule {
	return []Rule{
		{Name: "service-account-secret", From: from(serviceAccount), Relation: Needs, Via: Spec, To: "Secret", Field: "secrets[].name", Links: on(serviceAccountSecrets)},
		{Name: "service-account-pull-secret", From: from(serviceAccount), Relation: Needs, Via: Spec, To: "Secret", Field: "imagePullSecrets[].name", Links: on(serviceAccountPullSecrets)},
		{Name: "service-account-token", From: from(secret), Relation: Owns, Via: Annotation, To: "ServiceAccount", Backward: true, Field: annotation(corev1.ServiceAccountNameKey), Metadata: true, Deletes: Always, Links: serviceAccountToken},
		{Name: "binding-subject", From: from(roleBinding, clusterRoleBinding), Relation: Serves, Via: Spec, To: "(subject)", Field: "subjects[]", CrossNamespace: true, Links: bindingSubjects},
		{Name: "cluster-role-aggregation", From: from(clusterRole), Relation: Needs, Via: Label, To: "ClusterRole", Field: "aggregationRule.clusterRoleSelectors[]", Links: on(clusterRoleAggregation)},
		{Name: "role-resource-name", From: from(role, clusterRole), Relation: Needs, Via: Spec, To: "(resource)", Field: "rules[].resourceNames[]", Peer: true, Links: roleResourceNames},
		{Name: "binding-role", From: from(roleBinding, clusterRoleBinding), Relation: Needs, Via: Spec, To: "Role", Field: "roleRef", Links: bindingRole},
	}
}

func serviceAccountSecrets(a *corev1.ServiceAccount, self object.Ref, emit EmitFunc) {
	for i := range a.Secrets {
		named(emit, secret, self.Namespace, a.Secrets[i].Name, at("secrets[", i, "].name"))
	}
}

func serviceAccountPullSecrets(a *corev1.ServiceAccount, self object.Ref, emit EmitFunc) {
	for i := range a.ImagePullSecrets {
		named(emit, secret, self.Namespace, a.ImagePullSecrets[i].Name, at("imagePullSecrets[", i, "].name"))
	}
}

// serviceAccountToken: the token controller deletes a Secret of its type with its account, so the
// account owns it; in a Secret of another type the annotation has no effect. If the type was not
// read the link is inferred, and requires the UID of the account, which the controller sets on its
// own Secrets.
func serviceAccountToken(o object.Object, emit EmitFunc) {
	notes := o.Meta.GetAnnotations()
	name, uid := notes[corev1.ServiceAccountNameKey], notes[corev1.ServiceAccountUIDKey]
	known := o.Type == string(corev1.SecretTypeServiceAccountToken)
	if name == "" || !known && (o.Type != "" || uid == "") {
		return
	}
	l := to(serviceAccount, o.Namespace, name, annotation(corev1.ServiceAccountNameKey))
	l.Target.UID = types.UID(uid)
	l.Backward, l.Inferred = true, !known
	emit(l)
}

// binding reads a RoleBinding or a ClusterRoleBinding.
func binding(o object.Object) (rbacv1.RoleRef, []rbacv1.Subject) {
	switch b := o.Body.(type) {
	case *rbacv1.RoleBinding:
		return b.RoleRef, b.Subjects
	case *rbacv1.ClusterRoleBinding:
		return b.RoleRef, b.Subjects
	}
	return rbacv1.RoleRef{}, nil
}

func bindingSubjects(o object.Object, emit EmitFunc) {
	_, subjects := binding(o)
	for i := range subjects {
		s, field := &subjects[i], at("subjects[", i, "].name")
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			// Without a namespace the authorizer uses that of the binding.
			if namespace := cmp.Or(s.Namespace, o.Namespace); namespace != "" {
				named(emit, serviceAccount, namespace, s.Name, field)
			}
		case rbacv1.UserKind:
			subjectUser(s.Name, field, emit)
		case rbacv1.GroupKind:
			subjectGroup(s.Name, field, emit)
		}
	}
}

// subjectUser: a subject may name an account by its user name. Other users are virtual.
func subjectUser(name, field string, emit EmitFunc) {
	l := to(user, "", name, field)
	if namespace, account := userAccount(name); namespace != "" && account != "" {
		l.Target = Target{Kind: serviceAccount, Namespace: namespace, Name: account}
	}
	if name != "" {
		emit(l)
	}
}

// subjectGroup: the accounts of a namespace are a group. The groups of all accounts and of all
// authenticated users are virtual: members of those share nothing.
func subjectGroup(name, field string, emit EmitFunc) {
	l := to(group, "", name, field)
	if namespace, ok := strings.CutPrefix(name, "system:serviceaccounts:"); ok && namespace != "" {
		l.Target = Target{Kind: serviceAccount, Namespace: namespace, Selector: &Selector{}}
	}
	if name != "" {
		emit(l)
	}
}

// userAccount returns the ServiceAccount of a user name, if it is one.
func userAccount(user string) (namespace, name string) {
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, name, _ = strings.Cut(account, ":")
	}
	return namespace, name
}

// clusterRoleAggregation: the role has the rules of every role that one of the selectors matches.
func clusterRoleAggregation(r *rbacv1.ClusterRole, _ object.Ref, emit EmitFunc) {
	if r.AggregationRule == nil {
		return
	}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		sel := FromLabelSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		emit(Link{Target: Target{Kind: clusterRole, Selector: sel}, Field: at("aggregationRule.clusterRoleSelectors[", i, "]"), Value: sel.String()})
	}
}

// roleResourceNames reads the objects that a role names, by resource. A Role names objects of its
// namespace. The namespace of a ClusterRole depends on the binding, so only its cluster-scoped
// names count. The objects need not exist.
func roleResourceNames(o object.Object, emit EmitFunc) {
	var rules []rbacv1.PolicyRule
	switch b := o.Body.(type) {
	case *rbacv1.Role:
		rules = b.Rules
	case *rbacv1.ClusterRole:
		rules = b.Rules
	}
	budget := 1000 // limits what a hostile role with three long lists can cost
	for i := range rules {
		r := &rules[i]
		for j, name := range r.ResourceNames {
			field := at(at("rules[", i, "].resourceNames["), j, "]")
			for _, resource := range r.Resources {
				resource, _, _ = strings.Cut(resource, "/")
				for _, group := range r.APIGroups {
					if budget--; budget < 0 {
						return
					}
					if name == "" || resource == "*" || group == "*" {
						continue
					}
					l := to(kind(group, resource), o.Namespace, name, field)
					l.Target.IsResource, l.Target.IfPresent, l.Optional = true, true, true
					emit(l)
				}
			}
		}
	}
}

func bindingRole(o object.Object, emit EmitFunc) {
	switch ref, _ := binding(o); ref.Kind {
	case role.Kind:
		named(emit, role, o.Namespace, ref.Name, "roleRef.name")
	case clusterRole.Kind:
		named(emit, clusterRole, "", ref.Name, "roleRef.name")
	}
}
