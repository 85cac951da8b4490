package preflight

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// legacy are the kinds that quotas count by their bare name too.
var legacy = []string{"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services"}

func one() resource.Quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

// countUsage is what an object counts for by being there.
func countUsage(r schema.GroupResource) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceName("count/" + r.String()): one()}
	if r.Group == "" && slices.Contains(legacy, r.Resource) {
		list[corev1.ResourceName(r.Resource)] = one()
	}
	return list
}

// podUsage is what a pod counts for, after the pod evaluator of the quota plugin.
func podUsage(p *corev1.Pod) corev1.ResourceList {
	list := corev1.ResourceList{"count/pods": one(), corev1.ResourcePods: one()}
	for name, q := range resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}) {
		switch {
		case name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			list[name], list["requests."+name] = q, q
		case extended(name):
			list["requests."+name] = q
		}
	}
	for name, q := range resourcehelper.PodLimits(p, resourcehelper.PodResourcesOptions{}) {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage {
			list["limits."+name] = q
		}
	}
	return list
}

// extended says that a resource is none of Kubernetes' own: nvidia.com/gpu.
func extended(name corev1.ResourceName) bool {
	domain, _, ok := strings.Cut(string(name), "/")
	return ok && !strings.HasSuffix(domain, "kubernetes.io") && !strings.HasPrefix(string(name), "requests.")
}

const classSuffix = ".storageclass.storage.k8s.io/"

// claimUsage is what a claim counts for, by itself and for its class.
func claimUsage(c *corev1.PersistentVolumeClaim) corev1.ResourceList {
	list := countUsage(schema.GroupResource{Resource: "persistentvolumeclaims"})
	class := volumehelpers.GetPersistentVolumeClaimClass(c)
	if class != "" {
		list[corev1.ResourceName(class+classSuffix+"persistentvolumeclaims")] = one()
	}
	if size, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		size.RoundUp(0)
		list[corev1.ResourceRequestsStorage] = size
		if class != "" {
			list[corev1.ResourceName(class+classSuffix+"requests.storage")] = size
		}
	}
	return list
}

// serviceUsage is what a Service counts for: node ports by its type.
func serviceUsage(s *corev1.Service) corev1.ResourceList {
	list := countUsage(schema.GroupResource{Resource: "services"})
	ports := int64(0)
	switch s.Spec.Type {
	case corev1.ServiceTypeNodePort:
		ports = int64(len(s.Spec.Ports))
	case corev1.ServiceTypeLoadBalancer:
		list[corev1.ResourceServicesLoadBalancers] = one()
		given := s.Spec.AllocateLoadBalancerNodePorts == nil || *s.Spec.AllocateLoadBalancerNodePorts
		for _, p := range s.Spec.Ports {
			if given || p.NodePort != 0 {
				ports++
			}
		}
	}
	if ports > 0 {
		list[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(ports, resource.DecimalSI)
	}
	return list
}

// plus adds n times a list to a sum.
func plus(sum, list corev1.ResourceList, n int) {
	for name, q := range list {
		have := sum[name]
		q = q.DeepCopy()
		q.Mul(int64(n))
		have.Add(q)
		sum[name] = have
	}
}

// excess is what one list has more than another; nothing where it has less.
func excess(list, than corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range list {
		q = q.DeepCopy()
		q.Sub(than[name])
		if q.Sign() > 0 {
			out[name] = q
		}
	}
	return out
}
