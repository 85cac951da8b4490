package relation

import (
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ingressRules reads Ingresses, their classes, and the annotations of the most common controllers.
func ingressRules() []Rule {
	return []Rule{
		{Name: "ingress-backend", From: from(ingress), Relation: Serves, Via: Spec, To: "Service", Field: "spec.rules[].http.paths[].backend", Exposes: true, Links: on(ingressBackends)},
		{Name: "ingress-class", From: from(ingress), Relation: Needs, Via: Spec, To: "IngressClass", Field: "spec.ingressClassName", Links: on(ingressClassName)},
		{Name: "ingress-class-annotation", From: from(ingress), Relation: Needs, Via: Annotation, To: "IngressClass", Field: annotation(ingressClassKey), Metadata: true, Links: ingressClassAnnotation},
		{Name: "ingress-tls", From: from(ingress), Relation: Needs, Via: Spec, To: "Secret", Field: "spec.tls[].secretName", Links: on(ingressTLS)},
		{Name: "ingress-issuer", From: from(ingress), Relation: Needs, Via: Annotation, To: "Issuer, ClusterIssuer", Field: annotation(issuerKey), Metadata: true, Links: ingressIssuer},
		{Name: "ingress-nginx-secret", From: from(ingress), Relation: Needs, Via: Annotation, To: "Secret", Field: annotation(nginxPrefix + "auth-secret"), Metadata: true, Links: ingressNginxSecrets},
		{Name: "ingressclass-parameters", From: from(ingressClass), Relation: Needs, Via: Spec, To: "(parameters)", Field: "spec.parameters", Links: on(ingressClassParameters)},
	}
}

// ingressBackends: an Ingress serves its backends, including the default one. A backend without an
// API group is in the core group.
func ingressBackends(in *networkingv1.Ingress, self object.Ref, emit EmitFunc) {
	if in.Spec.DefaultBackend != nil {
		ingressBackend(in.Spec.DefaultBackend, self, "spec.defaultBackend.", emit)
	}
	for i := range in.Spec.Rules {
		if in.Spec.Rules[i].HTTP == nil {
			continue
		}
		paths := in.Spec.Rules[i].HTTP.Paths
		for j := range paths {
			ingressBackend(&paths[j].Backend, self, at(at("spec.rules[", i, "].http.paths["), j, "].backend."), emit)
		}
	}
}

func ingressBackend(b *networkingv1.IngressBackend, self object.Ref, path string, emit EmitFunc) {
	if b.Service != nil {
		named(emit, service, self.Namespace, b.Service.Name, path+"service.name")
	}
	if b.Resource != nil {
		named(emit, kind(value(b.Resource.APIGroup), b.Resource.Kind), self.Namespace, b.Resource.Name, path+"resource.name")
	}
}

// ingressClassName is settled once the Ingress has an address: a controller has accepted it.
func ingressClassName(in *networkingv1.Ingress, _ object.Ref, emit EmitFunc) {
	if name := value(in.Spec.IngressClassName); name != "" {
		l := to(ingressClass, "", name, "spec.ingressClassName")
		l.Settled = len(in.Status.LoadBalancer.Ingress) > 0
		emit(l)
	}
}

const ingressClassKey = "kubernetes.io/ingress.class"

// ingressClassAnnotation: the annotation is older than IngressClass, and a controller may accept a
// value without an object.
func ingressClassAnnotation(o object.Object, emit EmitFunc) {
	present(emit, ingressClass, "", o.Meta.GetAnnotations()[ingressClassKey], annotation(ingressClassKey))
}

func ingressTLS(in *networkingv1.Ingress, self object.Ref, emit EmitFunc) {
	for i := range in.Spec.TLS {
		named(emit, secret, self.Namespace, in.Spec.TLS[i].SecretName, at("spec.tls[", i, "].secretName"))
	}
}

const (
	issuerKey        = "cert-manager.io/issuer"
	clusterIssuerKey = "cert-manager.io/cluster-issuer"
	certManagerGroup = "cert-manager.io"
)

// ingressIssuer: an external issuer has its kind and group in annotations; a cluster issuer is
// always cert-manager's.
func ingressIssuer(o object.Object, emit EmitFunc) {
	notes := o.Meta.GetAnnotations()
	if name := notes[issuerKey]; name != "" {
		issuer := kind(certManagerGroup, "Issuer")
		if k := notes["cert-manager.io/issuer-kind"]; k != "" {
			issuer.Kind = k
		}
		if g := notes["cert-manager.io/issuer-group"]; g != "" {
			issuer.Group = g
		}
		emit(to(issuer, o.Namespace, name, annotation(issuerKey)))
	}
	named(emit, kind(certManagerGroup, "ClusterIssuer"), "", notes[clusterIssuerKey], annotation(clusterIssuerKey))
}

const nginxPrefix = "nginx.ingress.kubernetes.io/"

// ingressNginxSecrets: the controller reads each as [namespace/]name.
func ingressNginxSecrets(o object.Object, emit EmitFunc) {
	notes := o.Meta.GetAnnotations()
	for _, key := range [...]string{nginxPrefix + "auth-secret", nginxPrefix + "auth-tls-secret", nginxPrefix + "proxy-ssl-secret"} {
		if text := notes[key]; text != "" {
			namespace, name := inNamespace(text, o.Namespace)
			named(emit, secret, namespace, name, annotation(key))
		}
	}
}

func ingressClassParameters(c *networkingv1.IngressClass, _ object.Ref, emit EmitFunc) {
	if p := c.Spec.Parameters; p != nil {
		named(emit, kind(value(p.APIGroup), p.Kind), value(p.Namespace), p.Name, "spec.parameters.name")
	}
}
