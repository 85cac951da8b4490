package relation

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var (
	virtualService  = kind("networking.istio.io", "VirtualService")
	destinationRule = kind("networking.istio.io", "DestinationRule")
	serviceEntry    = kind("networking.istio.io", "ServiceEntry")
)

// Rules whose links compare the hosts of Istio. The catalog says what they mean in a stack.
const (
	// IstioHost is a host that must be a Service, unless a ServiceEntry has it.
	IstioHost = "istio-host"
	// IstioEntry is a host of a ServiceEntry.
	IstioEntry = "istio-entry"
)

func istioRules() []Rule {
	return []Rule{
		{Name: IstioHost, From: []schema.GroupKind{virtualService, destinationRule}, Relation: Serves, Via: Spec, To: "Service", Field: "spec.http[].route[].destination.host", Evidence: true, Links: istioHosts},
		{Name: IstioEntry, From: []schema.GroupKind{serviceEntry}, Relation: Owns, Via: Spec, To: "(itself)", Field: "spec.hosts[]", Evidence: true, Links: istioEntries},
	}
}

// istioHosts reads the destinations of routes and the host of a DestinationRule. The spec.hosts of
// a VirtualService may be any name that a gateway accepts.
func istioHosts(o object.Object, emit EmitFunc) {
	destination := func(at any, path string, keys ...string) {
		if host, ok := part(at, keys...).(string); ok {
			istioHost(o, host, path+"."+strings.Join(keys, "."), emit)
		}
	}
	if o.Kind == destinationRule.Kind {
		destination(part(o.Fields(), "spec"), "spec", "host")
		return
	}
	for _, protocol := range []string{"http", "tls", "tcp"} {
		for i, r := range items(o.Fields(), "spec", protocol) {
			path := at("spec."+protocol+"[", i, "]")
			for j, d := range items(r, "route") {
				destination(d, at(path+".route[", j, "]"), "destination", "host")
			}
			for j, m := range items(r, "mirrors") {
				destination(m, at(path+".mirrors[", j, "]"), "destination", "host")
			}
			destination(r, path, "mirror", "host")
		}
	}
}

// istioHost: Istio adds the object's namespace to a name without a dot, and uses one with a dot
// unchanged. A name in another domain may belong to another cluster.
func istioHost(o object.Object, host, field string, emit EmitFunc) {
	name, namespace := host, o.Namespace
	if strings.Contains(host, ".") {
		parts := strings.SplitN(host, ".", 3)
		if len(parts) < 3 || parts[2] != "svc.cluster.local" {
			return
		}
		name, namespace = parts[0], parts[1]
	}
	if isLabel(name) && isServiceName(name) && isLabel(namespace) {
		l := to(service, namespace, name, field)
		l.Value = host
		emit(l)
	}
}

func istioEntries(o object.Object, emit EmitFunc) {
	for i, h := range items(o.Fields(), "spec", "hosts") {
		if host, ok := h.(string); ok && host != "" {
			itself(o, at("spec.hosts[", i, "]"), host, emit)
		}
	}
}
