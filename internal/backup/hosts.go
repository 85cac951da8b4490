package backup

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// hosts finds the host names of Services whose namespace is mapped to another one: NAME.NAMESPACE of
// a known Service, and any name before NAMESPACE.svc.
type hosts struct {
	namespaces map[string]string
	services   map[object.Ref]bool
	// operated are custom resources: an operator names Services after them.
	operated []object.Ref
}

// hostsOf knows the Services of the apps of a System, before it is moved.
func hostsOf(sys *system.System, namespaces map[string]string) *hosts {
	h := &hosts{namespaces: namespaces, services: map[object.Ref]bool{}}
	for i := range sys.Apps {
		for _, o := range sys.Apps[i].Resources {
			ref := placed(o, sys)
			if ref.GroupKind() == serviceKind {
				h.services[ref] = true
			} else if _, _, known := catalog.KindOf(object.Resource{Group: ref.Group, Kind: ref.Kind}); known {
				h.operated = append(h.operated, ref)
			}
		}
	}
	return h
}

var serviceKind = schema.GroupKind{Kind: "Service"}

var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9._-]+`) })

// rewired is a text with the host names in their new namespaces.
func (h *hosts) rewired(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return hostName().ReplaceAllStringFunc(text, func(host string) string {
		labels := strings.Split(host, ".")
		if i := h.at(labels); i > 0 {
			labels[i] = h.namespaces[labels[i]]
		}
		return strings.Join(labels, ".")
	})
}

// at is where a host name has a namespace that is mapped; 0 for a name that is none of a Service.
func (h *hosts) at(labels []string) int {
	last := len(labels) - 1
	for last > 0 && labels[last] == "" { // a name at the end of a sentence, or an absolute one
		last--
	}
	for i := 1; i <= last; i++ {
		if to, mapped := h.namespaces[labels[i]]; !mapped || to == labels[i] {
			continue
		}
		if i < last && labels[i+1] == "svc" || i == last && h.isService(labels[i-1], labels[i]) {
			return i
		}
	}
	return 0
}

func (h *hosts) isService(name, namespace string) bool {
	return h.services[object.Ref{Kind: serviceKind.Kind, Namespace: namespace, Name: name}] ||
		slices.ContainsFunc(h.operated, func(o object.Ref) bool {
			return o.Namespace == namespace && (name == o.Name || strings.HasPrefix(name, o.Name+"-"))
		})
}

// named returns the namespace of a Service that a Secret or a ConfigMap names; empty for none.
func (h *hosts) named(o *unstructured.Unstructured) string {
	for _, text := range decoded(o) {
		for _, host := range hostName().FindAllString(text, -1) {
			labels := strings.Split(host, ".")
			if i := h.at(labels); i > 0 {
				return labels[i]
			}
		}
	}
	return ""
}

// decoded are the values of a Secret, or of a ConfigMap.
func decoded(o *unstructured.Unstructured) []string {
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	var out []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		text := data[key]
		if o.GetKind() == secretKind.Kind {
			plain, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				continue
			}
			text = string(plain)
		}
		out = append(out, text)
	}
	return out
}

// routePaths are the fields with the host names of objects that take traffic from outside.
var routePaths = []string{
	"spec.rules[].host", "spec.tls[].hosts[]", "spec.hostnames[]", "spec.listeners[].hostname", "spec.host", "spec.hosts[]", "spec.servers[].hosts[]", "spec.virtualhost.fqdn",
}

// isRoute says whether objects of a kind take traffic from outside by host names.
func isRoute(gk schema.GroupKind) bool {
	switch gk.Group {
	case "networking.k8s.io", "extensions":
		return gk.Kind == "Ingress"
	case "gateway.networking.k8s.io":
		return gk.Kind == "Gateway" || strings.HasSuffix(gk.Kind, "Route")
	case "networking.istio.io":
		return gk.Kind == "Gateway" || gk.Kind == "VirtualService"
	case "traefik.io", "traefik.containo.us":
		return strings.HasPrefix(gk.Kind, "IngressRoute")
	case "route.openshift.io":
		return gk.Kind == "Route"
	case "projectcontour.io":
		return gk.Kind == "HTTPProxy"
	case "externaldns.k8s.io":
		return gk.Kind == "DNSEndpoint"
	}
	return false
}

// routedHosts are the host names of a route.
func routedHosts(o *unstructured.Unstructured) []string {
	var out []string
	for _, text := range routePaths {
		path, err := field.Parse(text)
		if err != nil {
			continue
		}
		for _, v := range path.Find(o.Object) {
			out = append(out, field.Scalar(v))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
