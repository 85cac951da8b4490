package relation

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// gatewayRules reads the Gateway API, whose kinds are custom resources. A Gateway is shared: its
// routes need it, and it serves none of them. A reference into another namespace counts only if a
// ReferenceGrant there allows it. Which routes a listener accepts (allowedRoutes) is evidence and
// no edge, since it names no object.
func gatewayRules() []Rule {
	routes := from(httpRoute, grpcRoute, tlsRoute, tcpRoute, udpRoute)
	return []Rule{
		{Name: "route-parent", From: routes, Relation: Needs, Via: Spec, To: "Gateway", Field: "spec.parentRefs[]", CrossNamespace: true, Links: routeParents},
		{Name: RouteListener, From: routes, Relation: Needs, Via: Spec, To: "Gateway", Field: "spec.parentRefs[]", Evidence: true, Links: routeListeners},
		{Name: "route-mesh", From: routes, Relation: Serves, Via: Spec, To: "Service", Field: "spec.parentRefs[]", Links: routeMesh},
		{Name: "route-backend", From: routes, Relation: Serves, Via: Spec, To: "Service", Field: "spec.rules[].backendRefs[]", Exposes: true, Links: routeBackends},
		{Name: "route-filter", From: routes, Relation: Needs, Via: Spec, To: "(filter)", Field: "spec.rules[].filters[].extensionRef", Links: routeFilters},

		{Name: "gateway-class", From: from(gateway), Relation: Needs, Via: Spec, To: "GatewayClass", Field: "spec.gatewayClassName", Links: gatewayClassName},
		{Name: GatewayListener, From: from(gateway, listenerSet), Relation: Serves, Via: Spec, To: "(route)", Field: "spec.listeners[].allowedRoutes", Evidence: true, Links: listeners},
		{Name: "gateway-certificate", From: from(gateway, listenerSet), Relation: Needs, Via: Spec, To: "Secret", Field: "spec.listeners[].tls.certificateRefs[]", Links: gatewayCertificates},
		{Name: "gateway-tls", From: from(gateway), Relation: Needs, Via: Spec, To: "Secret", Field: "spec.tls", Links: gatewayTLS},
		{Name: "gateway-parameters", From: from(gateway), Relation: Needs, Via: Spec, To: "(parameters)", Field: "spec.infrastructure.parametersRef", Links: gatewayParameters},
		{Name: "gateway-class-parameters", From: from(gatewayClass), Relation: Needs, Via: Spec, To: "(parameters)", Field: "spec.parametersRef", Links: gatewayClassParameters},
		{Name: "listener-set-parent", From: from(listenerSet), Relation: Needs, Via: Spec, To: "Gateway", Field: "spec.parentRef", CrossNamespace: true, Links: listenerSetParent},

		{Name: "backend-tls-target", From: from(backendTLS), Relation: Serves, Via: Spec, To: "Service", Field: "spec.targetRefs[]", Links: backendTLSTargets},
		{Name: "backend-tls-ca", From: from(backendTLS), Relation: Needs, Via: Spec, To: "ConfigMap", Field: "spec.validation.caCertificateRefs[]", Links: backendTLSCA},
	}
}

const gatewayGroup = "gateway.networking.k8s.io"

// part returns the value at a path of keys in maps, or nil if a key is absent or not a map.
func part(at any, keys ...string) any {
	for _, key := range keys {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[key]
	}
	return at
}

func items(at any, keys ...string) []any {
	list, _ := part(at, keys...).([]any)
	return list
}

// refer reads a reference. An absent group, kind or namespace is taken from the arguments; an empty
// group is the core group.
func refer(ref any, usual schema.GroupKind, namespace string) Target {
	t := Target{Kind: usual, Namespace: namespace}
	t.Name, _ = part(ref, "name").(string)
	if group, ok := part(ref, "group").(string); ok {
		t.Kind.Group = group
	}
	if name, ok := part(ref, "kind").(string); ok && name != "" {
		t.Kind.Kind = name
	}
	if ns, ok := part(ref, "namespace").(string); ok && ns != "" {
		t.Namespace = ns
	}
	return t
}

// grantable returns a target that may be in another namespace if a ReferenceGrant allows it.
func grantable(ref any, usual schema.GroupKind, namespace string) Target {
	t := refer(ref, usual, namespace)
	t.Granted = true
	return t
}

// referred emits a link to the target of the reference at path.
func referred(emit EmitFunc, t Target, path string) {
	if t.Name != "" && t.Kind.Kind != "" {
		emit(Link{Target: t, Field: path + ".name", Value: t.Name})
	}
}

// local returns the target of a reference with all fields required, in the namespace.
func local(ref any, namespace string) Target {
	t := refer(ref, schema.GroupKind{}, namespace)
	t.Namespace = namespace
	return t
}

// routeParents: a route that is attached to a Service configures a mesh.
func routeParents(o object.Object, emit EmitFunc) {
	for i, p := range items(o.Fields(), "spec", "parentRefs") {
		if t := refer(p, gateway, o.Namespace); t.Kind != service {
			referred(emit, t, at("spec.parentRefs[", i, "]"))
		}
	}
}

// routeMesh: a route in the Service's own namespace applies to all clients. One in another
// namespace applies to the clients there only, so it is not part of the Service.
func routeMesh(o object.Object, emit EmitFunc) {
	for i, p := range items(o.Fields(), "spec", "parentRefs") {
		if t := refer(p, gateway, o.Namespace); t.Kind == service && t.Namespace == o.Namespace {
			referred(emit, t, at("spec.parentRefs[", i, "]"))
		}
	}
}

// routeBackends: a route serves its backends, and works without those that it mirrors requests to.
func routeBackends(o object.Object, emit EmitFunc) {
	for i, rule := range items(o.Fields(), "spec", "rules") {
		for j, b := range items(rule, "backendRefs") {
			referred(emit, grantable(b, service, o.Namespace), at(at("spec.rules[", i, "].backendRefs["), j, "]"))
		}
	}
	mirrored := func(l Link) { l.Optional = true; emit(l) }
	filters(o, func(f any, path string) {
		referred(mirrored, grantable(part(f, "requestMirror", "backendRef"), service, o.Namespace), path+".requestMirror.backendRef")
	})
}

func routeFilters(o object.Object, emit EmitFunc) {
	filters(o, func(f any, path string) {
		referred(emit, local(part(f, "extensionRef"), o.Namespace), path+".extensionRef")
	})
}

// filters visits the filters of a route: those of its rules and of their backends.
func filters(o object.Object, each func(filter any, path string)) {
	for i, rule := range items(o.Fields(), "spec", "rules") {
		path := at("spec.rules[", i, "].")
		for j, f := range items(rule, "filters") {
			each(f, at(path+"filters[", j, "]"))
		}
		for j, b := range items(rule, "backendRefs") {
			for k, f := range items(b, "filters") {
				each(f, at(at(path+"backendRefs[", j, "].filters["), k, "]"))
			}
		}
	}
}

func gatewayClassName(o object.Object, emit EmitFunc) {
	name, _ := part(o.Fields(), "spec", "gatewayClassName").(string)
	named(emit, gatewayClass, "", name, "spec.gatewayClassName")
}

func gatewayCertificates(o object.Object, emit EmitFunc) {
	for i, l := range items(o.Fields(), "spec", "listeners") {
		for j, r := range items(l, "tls", "certificateRefs") {
			referred(emit, grantable(r, secret, o.Namespace), at(at("spec.listeners[", i, "].tls.certificateRefs["), j, "]"))
		}
	}
}

// gatewayTLS: the CAs that a Gateway accepts client certificates from, per port or for all, and the
// certificate that it presents to backends.
func gatewayTLS(o object.Object, emit EmitFunc) {
	tls := part(o.Fields(), "spec", "tls")
	trust := func(validation any, path string) {
		for i, r := range items(validation, "caCertificateRefs") {
			referred(emit, grantable(r, schema.GroupKind{}, o.Namespace), at(path+".caCertificateRefs[", i, "]"))
		}
	}
	trust(part(tls, "frontend", "default", "validation"), "spec.tls.frontend.default.validation")
	for i, p := range items(tls, "frontend", "perPort") {
		trust(part(p, "tls", "validation"), at("spec.tls.frontend.perPort[", i, "].tls.validation"))
	}
	referred(emit, grantable(part(tls, "backend", "clientCertificateRef"), secret, o.Namespace), "spec.tls.backend.clientCertificateRef")
}

func gatewayParameters(o object.Object, emit EmitFunc) {
	referred(emit, local(part(o.Fields(), "spec", "infrastructure", "parametersRef"), o.Namespace), "spec.infrastructure.parametersRef")
}

func gatewayClassParameters(o object.Object, emit EmitFunc) {
	referred(emit, refer(part(o.Fields(), "spec", "parametersRef"), schema.GroupKind{}, ""), "spec.parametersRef")
}

func listenerSetParent(o object.Object, emit EmitFunc) {
	referred(emit, refer(part(o.Fields(), "spec", "parentRef"), gateway, o.Namespace), "spec.parentRef")
}

func backendTLSTargets(o object.Object, emit EmitFunc) {
	for i, r := range items(o.Fields(), "spec", "targetRefs") {
		referred(emit, local(r, o.Namespace), at("spec.targetRefs[", i, "]"))
	}
}

func backendTLSCA(o object.Object, emit EmitFunc) {
	for i, r := range items(o.Fields(), "spec", "validation", "caCertificateRefs") {
		referred(emit, local(r, o.Namespace), at("spec.validation.caCertificateRefs[", i, "]"))
	}
}
