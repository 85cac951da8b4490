package relation

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// admissionRules reads what the API server calls before it stores an object. Which objects a
// webhook or a policy matches is no edge: it may be every object.
func admissionRules() []Rule {
	injected := from(mutatingWebhooks, validatingWebhooks, apiService, definition)
	return []Rule{
		{Name: "webhook-service", From: from(mutatingWebhooks, validatingWebhooks), Relation: Serves, Via: Spec, To: "Service", Field: "webhooks[].clientConfig.service", CrossNamespace: true, Links: webhookServices},
		{Name: "policy-binding-policy", From: from(mutatingPolicyBinding, validatingPolicyBinding), Relation: Serves, Via: Spec, To: "(policy)", Field: "spec.policyName", Links: policyBindingPolicy},
		{Name: "policy-binding-param", From: from(mutatingPolicyBinding, validatingPolicyBinding), Relation: Needs, Via: Spec, To: "(parameter)", Field: "spec.paramRef", Links: policyBindingParams},
		{Name: "ca-certificate", From: injected, Relation: Needs, Via: Annotation, To: "Certificate", Field: annotation(caCertificateKey), Metadata: true, Links: caCertificate},
		{Name: "ca-secret", From: injected, Relation: Needs, Via: Annotation, To: "Secret", Field: annotation(caSecretKey), Metadata: true, Links: caSecret},
	}
}

// webhookServices: the configuration serves the Service. It is useless without the Service, and the
// Service works without it. A webhook with a URL has no object to link.
func webhookServices(o object.Object, emit EmitFunc) {
	switch b := o.Body.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range b.Webhooks {
			webhookService(&b.Webhooks[i].ClientConfig, b.Webhooks[i].FailurePolicy, i, emit)
		}
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range b.Webhooks {
			webhookService(&b.Webhooks[i].ClientConfig, b.Webhooks[i].FailurePolicy, i, emit)
		}
	}
}

// webhookService: the API server refuses a request if the webhook does not answer, unless the
// failurePolicy is Ignore.
func webhookService(c *admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType, i int, emit EmitFunc) {
	if s := c.Service; s != nil && s.Name != "" {
		l := to(service, s.Namespace, s.Name, at("webhooks[", i, "].clientConfig.service.name"))
		l.Optional = value(policy) == admissionv1.Ignore
		emit(l)
	}
}

func policyBindingPolicy(o object.Object, emit EmitFunc) {
	if policy, _ := policyBinding(o); policy.Kind != "" {
		named(emit, policy.GroupKind(), "", policy.Name, "spec.policyName")
	}
}

// policyBinding returns the policy that a binding names, and its parameters if any.
func policyBinding(o object.Object) (policy object.Ref, params *admissionv1.ParamRef) {
	switch b := o.Body.(type) {
	case *admissionv1.MutatingAdmissionPolicyBinding:
		return object.Ref{Group: mutatingPolicy.Group, Kind: mutatingPolicy.Kind, Name: b.Spec.PolicyName}, b.Spec.ParamRef
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		return object.Ref{Group: validatingPolicy.Group, Kind: validatingPolicy.Kind, Name: b.Spec.PolicyName}, b.Spec.ParamRef
	}
	return object.Ref{}, nil
}

// policyBindingParams: the policy gives the kind of the parameters; without a kind they are
// ignored. Parameters of a namespaced kind without a namespace are looked up in the namespace of
// each request, so they name no object. A binding has either a name or a selector.
func policyBindingParams(o object.Object, emit EmitFunc) {
	policy, p := policyBinding(o)
	if p == nil || policy.Name == "" || (p.Name == "") == (p.Selector == nil) {
		return
	}
	l := Link{
		Target: Target{KindBy: &policy, Namespace: p.Namespace, Name: p.Name}, Field: "spec.paramRef.name", Value: p.Name,
		Optional: value(p.ParameterNotFoundAction) == admissionv1.AllowAction,
	}
	if p.Selector != nil {
		l.Target.Selector = FromLabelSelector(p.Selector)
		l.Field, l.Value = "spec.paramRef.selector", l.Target.Selector.String()
	}
	emit(l)
}

const (
	caCertificateKey = "cert-manager.io/inject-ca-from"
	caSecretKey      = "cert-manager.io/inject-ca-from-secret"
)

// cert-manager's injector writes the CA bundle of a webhook, an aggregated API or a conversion from
// the object that these annotations name, always as namespace/name.

func caCertificate(o object.Object, emit EmitFunc) {
	if namespace, name, ok := strings.Cut(o.Meta.GetAnnotations()[caCertificateKey], "/"); ok && namespace != "" {
		named(emit, certificate, namespace, name, annotation(caCertificateKey))
	}
}

func caSecret(o object.Object, emit EmitFunc) {
	if namespace, name, ok := strings.Cut(o.Meta.GetAnnotations()[caSecretKey], "/"); ok && namespace != "" {
		named(emit, secret, namespace, name, annotation(caSecretKey))
	}
}
