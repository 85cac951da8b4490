package relation

import (
	"cmp"
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

// serviceAccountToken: the token controller deletes a Secret of its type together
// with its account, so the account owns it; in one of another type the annotation
// says nothing. Where the type was not read it is a guess, and only where the
// controller has left the UID of the account on the Secret, as it does on its own.
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
			// One without a namespace is that of the binding, as it is to the authorizer.
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

// subjectUser: an account may stand there as the user that it becomes. Other users
// are names.
func subjectUser(name, field string, emit EmitFunc) {
	l := to(user, "", name, field)
	if namespace, account := userAccount(name); namespace != "" && account != "" {
		l.Target = Target{Kind: serviceAccount, Namespace: namespace, Name: account}
	}
	if name != "" {
		emit(l)
	}
}

// subjectGroup: the accounts of a namespace are a group. The group of all of them,
// and everybody who is authenticated, are names: nothing is shared by being one of
// these.
func subjectGroup(name, field string, emit EmitFunc) {
	l := to(group, "", name, field)
	if namespace, ok := strings.CutPrefix(name, "system:serviceaccounts:"); ok && namespace != "" {
		l.Target = Target{Kind: serviceAccount, Namespace: namespace, Selector: &Selector{}}
	}
	if name != "" {
		emit(l)
	}
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
func clusterRoleAggregation(r *rbacv1.ClusterRole, _ object.Ref, emit EmitFunc) {
	if r.AggregationRule == nil {
		return
	}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		sel := FromLabelSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		emit(Link{Target: Target{Kind: clusterRole, Selector: sel}, Field: at("aggregationRule.clusterRoleSelectors[", i, "]"), Value: sel.String()})
	}
}

// roleResourceNames: objects that a role names, by their resource. A Role means
// those of its namespace. Which namespace a ClusterRole means depends on who binds
// it, so that of what it names only the cluster-scoped counts. What is named need
// not be there.
func roleResourceNames(o object.Object, emit EmitFunc) {
	var rules []rbacv1.PolicyRule
	switch b := o.Body.(type) {
	case *rbacv1.Role:
		rules = b.Rules
	case *rbacv1.ClusterRole:
		rules = b.Rules
	}
	budget := 1000 // A hostile role multiplies three long lists.
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
