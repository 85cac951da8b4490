package health

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

func networkKinds() []kindRule {
	return []kindRule{
		typed("", "v1", "Service", serviceHealth),
		typed("networking.k8s.io", "v1", "Ingress", ingressHealth),
		typed("networking.k8s.io", "v1", "ServiceCIDR", serviceCIDRHealth),
	}
}

// noAddress: a load balancer was requested, and has no address yet. The object does not show
// whether a controller works on it or none exists, so it stays Progressing.
const noAddress = "NoAddress"

// serviceHealth evaluates a Service by itself: its pods and their workloads report whether it has
// any.
func serviceHealth(s *subject, v *corev1.Service) Health {
	if v.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return newHealth(Healthy, s.createdAt(), Exists, "a Service of type %s has no state", or(string(v.Spec.Type), "ClusterIP"))
	}
	if ports := find(v.Status.Conditions, corev1.LoadBalancerPortsError, saidOf); ports.yes() {
		return ports.as(Degraded, corev1.LoadBalancerPortsError, "its load balancer does not serve all of its ports")
	}
	var at string
	for _, i := range v.Status.LoadBalancer.Ingress {
		at = or(at, or(i.Hostname, i.IP))
		for _, port := range i.Ports {
			if port.Error != nil {
				return newHealth(Degraded, time.Time{}, corev1.LoadBalancerPortsError, "port %d of its load balancer: %s", port.Port, *port.Error)
			}
		}
	}
	switch {
	case v.Spec.ClusterIP == "":
		return newHealth(Progressing, s.createdAt(), noAddress, "it has no cluster IP yet")
	case len(v.Status.LoadBalancer.Ingress) == 0:
		return newHealth(Progressing, s.createdAt(), noAddress, "its load balancer has no address yet")
	}
	return newHealth(Healthy, time.Time{}, "AddressAssigned", "its load balancer is at %s", or(at, "an unnamed address"))
}

// ingressHealth: an Ingress without an address has no controller, or one that writes none; Argo CD
// treats it the same way.
func ingressHealth(s *subject, i *networkingv1.Ingress) Health {
	var at string
	for _, l := range i.Status.LoadBalancer.Ingress {
		at = or(at, or(l.Hostname, l.IP))
		for _, port := range l.Ports {
			if port.Error != nil {
				return newHealth(Degraded, time.Time{}, corev1.LoadBalancerPortsError, "port %d of its load balancer: %s", port.Port, *port.Error)
			}
		}
	}
	if len(i.Status.LoadBalancer.Ingress) == 0 {
		class := ""
		if i.Spec.IngressClassName != nil {
			class = fmt.Sprintf(" of class %s", *i.Spec.IngressClassName)
		}
		return newHealth(Progressing, s.createdAt(), noAddress, "no controller%s has given it an address; some never write one", class)
	}
	return newHealth(Healthy, time.Time{}, "AddressAssigned", "it is at %s", or(at, "an unnamed address"))
}

func serviceCIDRHealth(s *subject, c *networkingv1.ServiceCIDR) Health {
	ready := find(c.Status.Conditions, networkingv1.ServiceCIDRConditionReady, saidOf)
	switch {
	case ready.yes():
		return ready.as(Healthy, "Ready", "addresses can be allocated from it")
	case ready.found():
		return ready.as(Degraded, "NotReady", "no addresses can be allocated from it")
	}
	return newHealth(Progressing, s.createdAt(), "NotReady", "it does not report whether it is ready")
}
