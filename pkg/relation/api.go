package relation

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// apiRules reads how the API server is extended. Two facts make no edge: that a
// CustomResourceDefinition defines the objects of its kind, and that an APIService without a
// Service covers the definitions of its group. They would connect all objects of a kind.
func apiRules() []Rule {
	return []Rule{
		{Name: "api-service", From: from(apiService), Relation: Serves, Via: Spec, To: "Service", Field: "spec.service", CrossNamespace: true, Untyped: true, Links: apiServiceBackend},
		{Name: "conversion-service", From: from(definition), Relation: Serves, Via: Spec, To: "Service", Field: "spec.conversion.webhook.clientConfig.service", Untyped: true, Links: conversionService},
		{Name: "policy-param-kind", From: from(mutatingPolicy, validatingPolicy), Relation: Needs, Via: Spec, To: "CustomResourceDefinition", Field: "spec.paramKind", Links: policyParamKind, States: paramKind},
		{Name: "migration-definition", From: from(migration), Relation: Serves, Via: Spec, To: "CustomResourceDefinition", Field: "spec.resource", Untyped: true, Links: migrationDefinition},
	}
}

// apiServiceBackend: as with a webhook, the Service works without the APIService.
func apiServiceBackend(o object.Object, emit EmitFunc) {
	serviceAt(part(o.Fields(), "spec", "service"), "spec.service", emit)
}

// conversionService: in the beta of the API the reference is one level higher.
func conversionService(o object.Object, emit EmitFunc) {
	conversion := part(o.Fields(), "spec", "conversion")
	serviceAt(part(conversion, "webhook", "clientConfig", "service"), "spec.conversion.webhook.clientConfig.service", emit)
	serviceAt(part(conversion, "webhookClientConfig", "service"), "spec.conversion.webhookClientConfig.service", emit)
}

// serviceAt emits a link for a reference to a Service with its namespace.
func serviceAt(ref any, path string, emit EmitFunc) {
	namespace, _ := part(ref, "namespace").(string)
	name, _ := part(ref, "name").(string)
	if namespace != "" {
		named(emit, service, namespace, name, path+".name")
	}
}

// policyParamKind: a policy names the kind of its parameters, which implies the definition. A
// built-in kind such as ConfigMap has none.
func policyParamKind(o object.Object, emit EmitFunc) {
	if gk, ok := paramKind(o); ok {
		emit(Link{Target: Target{Kind: gk, Name: gk.Kind, Definition: true}, Field: "spec.paramKind.kind", Value: gk.Kind})
	}
}

// paramKind returns the kind of the parameters of a policy, and false if it takes none.
func paramKind(o object.Object) (schema.GroupKind, bool) {
	var params *admissionv1.ParamKind
	switch b := o.Body.(type) {
	case *admissionv1.MutatingAdmissionPolicy:
		params = b.Spec.ParamKind
	case *admissionv1.ValidatingAdmissionPolicy:
		params = b.Spec.ParamKind
	}
	if params == nil || params.Kind == "" {
		return schema.GroupKind{}, false
	}
	return kind(groupOf(params.APIVersion), params.Kind), true
}

// migrationDefinition is ifPresent: most built-in resources can be migrated as well.
func migrationDefinition(o object.Object, emit EmitFunc) {
	r := part(o.Fields(), "spec", "resource")
	group, _ := part(r, "group").(string)
	name, _ := part(r, "resource").(string)
	if group == "" || name == "" {
		return
	}
	l := to(definition, "", name+"."+group, "spec.resource.resource")
	l.Value, l.Target.IfPresent = name, true
	emit(l)
}
