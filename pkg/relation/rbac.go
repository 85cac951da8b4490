package relation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// rbacRules reads who a pod is, and what that allows it.
func rbacRules() []Rule {
	return []Rule{
		{Name: "service-account-secret", From: from(serviceAccount), Relation: Needs, Via: Spec, To: "Secret", Field: "secrets[].name", Links: on(serviceAccountSecrets)},
		{Name: "service-account-pull-secret", From: from(serviceAccount), Relation: Needs, Via: Spec, To: "Secret", Field: "imagePullSecrets[].name", Links: on(serviceAccountPullSecrets)},
		{Name: "service-account-token", From: from(secret), Relation: Owns, Via: Annotation, To: "ServiceAccount", Backward: true, Field: annotation(corev1.ServiceAccountNameKey), Metadata: true, Links: serviceAccountToken},
		{Name: "binding-subject", From: from(roleBinding, clusterRoleBinding), Relation: Serves, Via: Spec, To: "ServiceAccount", Field: "subjects[]", Crosses: true, Links: bindingSubjects},
		{Name: "cluster-role-aggregation", From: from(clusterRole), Relation: Needs, Via: Label, To: "ClusterRole", Field: "aggregationRule.clusterRoleSelectors[]", Links: on(clusterRoleAggregation)},
		{Name: "binding-role", From: from(roleBinding, clusterRoleBinding), Relation: Needs, Via: Spec, To: "Role", Field: "roleRef", Links: bindingRole},
	}
}

func serviceAccountSecrets(a *corev1.ServiceAccount, self object.Ref, emit Emit) {
	for i := range a.Secrets {
		named(emit, secret, self.Namespace, a.Secrets[i].Name, at("secrets[", i, "].name"))
	}
}

func serviceAccountPullSecrets(a *corev1.ServiceAccount, self object.Ref, emit Emit) {
	for i := range a.ImagePullSecrets {
		named(emit, secret, self.Namespace, a.ImagePullSecrets[i].Name, at("imagePullSecrets[", i, "].name"))
	}
}

// serviceAccountToken: the token controller deletes such a Secret together with
// its account, so the account owns it. It is a guess because the type of the
// Secret, which would make it sure, is never read.
func serviceAccountToken(o object.Object, emit Emit) {
	notes := o.Meta.GetAnnotations()
	if name := notes[corev1.ServiceAccountNameKey]; name != "" {
		l := to(serviceAccount, o.Namespace, name, annotation(corev1.ServiceAccountNameKey))
		l.Target.UID = types.UID(notes[corev1.ServiceAccountUIDKey])
		l.Backward, l.Inferred = true, true
		emit(l)
	}
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

// bindingSubjects: an account may also stand there as the user that it becomes.
// Users and groups are no objects.
func bindingSubjects(o object.Object, emit Emit) {
	_, subjects := binding(o)
	for i := range subjects {
		namespace, name := account(&subjects[i], o.Namespace)
		if namespace == "" || name == "" {
			continue
		}
		l := to(serviceAccount, namespace, name, at("subjects[", i, "].name"))
		l.Value = subjects[i].Name
		emit(l)
	}
}

// account returns the ServiceAccount that a subject means, if any. One without a
// namespace is that of the binding, as it is to the authorizer.
func account(s *rbacv1.Subject, own string) (namespace, name string) {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Namespace == "" {
			return own, s.Name
		}
		return s.Namespace, s.Name
	case rbacv1.UserKind:
		return userAccount(s.Name)
	}
	return "", ""
}

// userAccount returns the ServiceAccount that becomes a user, if one does.
func userAccount(user string) (namespace, name string) {
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, name, _ = strings.Cut(account, ":")
	}
	return namespace, name
}

// clusterRoleAggregation: the rules of the role are those of every role that one
// of the selectors finds.
func clusterRoleAggregation(r *rbacv1.ClusterRole, _ object.Ref, emit Emit) {
	if r.AggregationRule == nil {
		return
	}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		sel := FromLabelSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		emit(Link{Target: Target{Kind: clusterRole, Selector: sel}, Field: at("aggregationRule.clusterRoleSelectors[", i, "]"), Value: sel.String()})
	}
}

func bindingRole(o object.Object, emit Emit) {
	switch ref, _ := binding(o); ref.Kind {
	case role.Kind:
		named(emit, role, o.Namespace, ref.Name, "roleRef.name")
	case clusterRole.Kind:
		named(emit, clusterRole, "", ref.Name, "roleRef.name")
	}
}
