package metrics

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// reserved is what a pod and its containers request, and what limits them. Pods of
// one template share it: it is never changed.
type reserved struct {
	requested, limited Amounts
	containers         []Container // without what they use
}

// reservedBy computes what a pod reserves as the scheduler does: the larger of what
// its containers request together and what its init containers need one after
// another, sidecars throughout; resources of the pod as a whole go before those of
// its containers; overhead comes on top; while a resize is under way the larger of
// what is wanted, allocated and in force counts. Source: KEP-753, KEP-1287, KEP-2837
// and PodRequests of k8s.io/component-helpers.
//
// In-place resize of the pod-level resources is left off: with it the status counts
// the overhead a second time (kubernetes/kubernetes#139627).
func reservedBy(pod *corev1.Pod) *reserved {
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	r := &reserved{
		requested: requestsOf(resourcehelper.PodRequests(pod, options)),
		limited:   amountsOf(resourcehelper.PodLimits(pod, options)),
	}
	unlimited(pod, r.limited)
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; sidecar(c) {
			r.containers = append(r.containers, containerOf(pod, c))
		}
	}
	for i := range pod.Spec.Containers {
		r.containers = append(r.containers, containerOf(pod, &pod.Spec.Containers[i]))
	}
	return r
}

// sidecar says that an init container runs as long as the pod does.
func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// containerOf returns what one container reserves, by the rules of its pod.
func containerOf(pod *corev1.Pod, c *corev1.Container) Container {
	alone := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{*c}}, Status: pod.Status}
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	return Container{
		Name:      c.Name,
		Requested: requestsOf(resourcehelper.PodRequests(alone, options)),
		Limited:   amountsOf(resourcehelper.PodLimits(alone, options)),
	}
}

// unlimited takes out of the limits of a pod what one of its containers may use
// without a limit: the sum of the others limits nothing.
func unlimited(pod *corev1.Pod, limits Amounts) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if pod.Spec.Resources != nil && resourcehelper.IsSupportedPodLevelResource(name) {
			if _, ok := pod.Spec.Resources.Limits[name]; ok {
				continue
			}
		}
		free := func(c corev1.Container) bool {
			limit, ok := c.Resources.Limits[name]
			return !ok || limit.IsZero()
		}
		if slices.ContainsFunc(pod.Spec.Containers, free) ||
			slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return sidecar(&c) && free(c) }) {
			delete(limits, Resource(name))
		}
	}
}

// requestsOf is amountsOf for requests. Who requests no CPU or memory reserves none:
// that is known, and no reason to leave it out.
func requestsOf(list corev1.ResourceList) Amounts {
	out := amountsOf(list)
	for _, name := range []Resource{CPU, Memory} {
		if _, ok := out[name]; !ok {
			out[name] = decimal.Decimal{}
		}
	}
	return out
}

// amountsOf turns quantities into decimals, exactly. How many pods and attached
// volumes a node takes is left out: nobody pays for these.
func amountsOf(list corev1.ResourceList) Amounts {
	out := make(Amounts, len(list)+1)
	for name, q := range list {
		if name == corev1.ResourcePods || strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix) {
			continue
		}
		out[Resource(name)] = exactly(q)
	}
	return out
}

// exactly returns the value of a quantity. (MilliValue, the usual way, rounds up to
// thousandths: a metrics server writes 146648300n.)
func exactly(q resource.Quantity) decimal.Decimal {
	if n, ok := q.AsInt64(); ok {
		return decimal.New(n, 0)
	}
	d := q.AsDec()
	return decimal.NewFromBigInt(d.UnscaledBig(), -int32(d.Scale()))
}

// extended says that a resource is one that a cluster added, and is counted in
// pieces.
func extended(r Resource) bool { return strings.Contains(string(r), "/") }

// template writes down what is reserved, so that equal ones can be told.
func (r *reserved) template() string {
	var b strings.Builder
	write := func(a Amounts) {
		names := make([]string, 0, len(a))
		for name := range a {
			names = append(names, string(name))
		}
		slices.Sort(names)
		for _, name := range names {
			b.WriteString(name)
			b.WriteByte('=')
			b.WriteString(a[Resource(name)].String())
			b.WriteByte(',')
		}
		b.WriteByte(';')
	}
	write(r.requested)
	write(r.limited)
	for _, c := range r.containers {
		b.WriteString(c.Name)
		b.WriteByte(':')
		write(c.Requested)
		write(c.Limited)
	}
	return b.String()
}
