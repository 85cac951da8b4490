package relation

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Rules that match routes to listeners. Both have NAME:PORT as value: of an existing listener, and
// of the one that a route requests, where either part may be absent.
const (
	// GatewayListener selects the routes that a listener accepts, by kind and namespace.
	GatewayListener = "gateway-listener"
	// RouteListener is the Gateway, and its listener if given, that a route requests.
	RouteListener = "route-listener"
)

// routeListeners emits the listeners that a route requests.
func routeListeners(o object.Object, emit EmitFunc) {
	for i, p := range items(o.Fields(), "spec", "parentRefs") {
		t := refer(p, gateway, o.Namespace)
		if t.Name != "" && (t.Kind == gateway || t.Kind == listenerSet) {
			emit(Link{Target: t, Field: at("spec.parentRefs[", i, "]"), Value: section(part(p, "sectionName"), part(p, "port"))})
		}
	}
}

func section(name, port any) string {
	text, _ := name.(string)
	switch n := port.(type) {
	case int64:
		return text + ":" + strconv.FormatInt(n, 10)
	case float64:
		return text + ":" + strconv.FormatInt(int64(n), 10)
	}
	return text + ":"
}

// listeners: by default a listener accepts the routes of its own namespace, and the kinds that
// match its protocol.
func listeners(o object.Object, emit EmitFunc) {
	for i, l := range items(o.Fields(), "spec", "listeners") {
		field := at("spec.listeners[", i, "]")
		value := section(part(l, "name"), part(l, "port"))
		for _, k := range routeKinds(l) {
			t := Target{Kind: k, Namespace: o.Namespace, Selector: &Selector{}}
			scope, _ := part(l, "allowedRoutes", "namespaces", "from").(string)
			switch sel, ok := SelectorIn(part(l, "allowedRoutes", "namespaces", "selector")); {
			case scope == "" || scope == "Same":
			case scope == "Selector" && ok:
				t.Namespaces = sel
			default:
				t.Namespace, t.AllNamespaces = "", true
			}
			emit(Link{Target: t, Field: field, Value: value})
		}
	}
}

// routeKinds returns the kinds of routes that a listener accepts. A protocol outside of the Gateway
// API may accept any kind.
func routeKinds(listener any) []schema.GroupKind {
	if listed := items(listener, "allowedRoutes", "kinds"); len(listed) > 0 {
		var kinds []schema.GroupKind
		for _, k := range listed {
			kinds = append(kinds, refer(k, schema.GroupKind{Group: gatewayGroup}, "").Kind)
		}
		return kinds
	}
	switch protocol, _ := part(listener, "protocol").(string); protocol {
	case "HTTP", "HTTPS":
		return from(httpRoute, grpcRoute)
	case "TLS":
		return from(tlsRoute, tcpRoute)
	case "TCP":
		return from(tcpRoute)
	case "UDP":
		return from(udpRoute)
	}
	return from(httpRoute, grpcRoute, tlsRoute, tcpRoute, udpRoute)
}
