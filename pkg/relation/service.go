package relation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// serviceRules reads Services and their endpoints. Endpoints have nothing that EndpointSlices do
// not have. Two facts make no edges: the node of an endpoint, which is that of its pod, and the
// ServiceCIDR of an address, which is arithmetic.
func serviceRules() []Rule {
	return []Rule{
		{Name: "service-selector", From: from(service), Relation: Serves, Via: Label, To: "Pod", Field: "spec.selector", Links: on(serviceSelector)},
		{Name: "service-external-name", From: from(service), Relation: Needs, Via: Spec, To: "Service", Field: "spec.externalName", Links: on(serviceExternalName)},
		{Name: "ip-address-parent", From: from(ipAddress), Relation: Needs, Via: Spec, To: "(parent)", Field: "spec.parentRef", Links: on(ipAddressParent)},
		{Name: "endpointslice-service", From: from(endpointSlice), Relation: Serves, Via: Label, To: "Service", Field: endpointSliceField, Metadata: true, Links: endpointSliceService},
		{Name: "endpointslice-pod", From: from(endpointSlice), Relation: Serves, Via: Spec, To: "Pod", Field: "endpoints[].targetRef", Links: on(endpointSlicePods)},
		{Name: "endpoints-service", From: from(endpoints), Relation: Serves, Via: Spec, To: "Service", Field: "metadata.name", Metadata: true, OnDemand: true, Links: endpointsService},
		{Name: "endpoints-pod", From: from(endpoints), Relation: Serves, Via: Spec, To: "Pod", Field: "subsets[].addresses[].targetRef", OnDemand: true, Links: on(endpointsPods)},
	}
}

// serviceSelector: a Service without a selector selects nothing, and one of type ExternalName has
// no endpoints, whatever its selector.
func serviceSelector(s *corev1.Service, self object.Ref, emit EmitFunc) {
	if len(s.Spec.Selector) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	sel := &Selector{Labels: s.Spec.Selector}
	emit(Link{Target: Target{Kind: pod, Namespace: self.Namespace, Selector: sel}, Field: "spec.selector", Value: sel.String()})
}

// serviceExternalName: an alias needs its target and does not serve it. It belongs to its clients:
// their stack leads through it to the target, and the stack of the target must not include the
// aliases of all its clients. The name goes into a CNAME, which no search path completes, so only a
// name with svc can be a Service.
func serviceExternalName(s *corev1.Service, self object.Ref, emit EmitFunc) {
	name := s.Spec.ExternalName
	if s.Spec.Type != corev1.ServiceTypeExternalName || !strings.Contains(name, ".svc") {
		return
	}
	if !qualified(name) {
		return
	}
	servicesOf(name, self.Namespace, true, func(namespace, svc string) {
		l := to(service, namespace, svc, "spec.externalName")
		l.Value, l.Inferred, l.Target.IfPresent = name, true, true
		emit(l)
	})
}

func endpointSliceService(o object.Object, emit EmitFunc) {
	named(emit, service, o.Namespace, o.Meta.GetLabels()[discoveryv1.LabelServiceName], endpointSliceField)
}

// endpointSliceField is a constant, because there are many slices.
const endpointSliceField = "metadata.labels[" + discoveryv1.LabelServiceName + "]"

func endpointSlicePods(s *discoveryv1.EndpointSlice, self object.Ref, emit EmitFunc) {
	for i := range s.Endpoints {
		if r := s.Endpoints[i].TargetRef; r != nil {
			endpointPod(r, self, at("endpoints[", i, "].targetRef.name"), emit)
		}
	}
}

// endpointsService is ifPresent: leader election once kept its lock in Endpoints without a Service.
func endpointsService(o object.Object, emit EmitFunc) {
	present(emit, service, o.Namespace, o.Name, "metadata.name")
}

//nolint:staticcheck // Deprecated, and still what a dump may hold.
func endpointsPods(e *corev1.Endpoints, self object.Ref, emit EmitFunc) {
	for i := range e.Subsets {
		for _, list := range [...]struct {
			name      string
			addresses []corev1.EndpointAddress
		}{
			{"].addresses[", e.Subsets[i].Addresses},
			{"].notReadyAddresses[", e.Subsets[i].NotReadyAddresses},
		} {
			for j := range list.addresses {
				if r := list.addresses[j].TargetRef; r != nil {
					endpointPod(r, self, at(at("subsets[", i, list.name), j, "].targetRef.name"), emit)
				}
			}
		}
	}
}

// endpointPod: a router serves its backend. The namespace of the reference may be absent.
func endpointPod(r *corev1.ObjectReference, self object.Ref, field string, emit EmitFunc) {
	if r.Kind != pod.Kind || r.Name == "" {
		return
	}
	namespace := r.Namespace
	if namespace == "" {
		namespace = self.Namespace
	}
	l := to(pod, namespace, r.Name, field)
	l.Target.UID = r.UID
	emit(l)
}

// ipAddressParent: the object that an address is allocated to is named by its resource.
func ipAddressParent(a *networkingv1.IPAddress, _ object.Ref, emit EmitFunc) {
	if p := a.Spec.ParentRef; p != nil && p.Resource != "" && p.Name != "" {
		l := to(kind(p.Group, p.Resource), p.Namespace, p.Name, "spec.parentRef.name")
		l.Target.IsResource = true
		emit(l)
	}
}
