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
	// beyond are the requests that those of the containers, and the overhead, do not add up to.
	beyond     Amounts
	containers []Container // without what they use
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
		limited:   unlimited(pod, amountsOf(resourcehelper.PodLimits(pod, options))),
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; sidecar(c) {
			r.containers = append(r.containers, containerOf(pod, c))
		}
	}
	for i := range pod.Spec.Containers {
		r.containers = append(r.containers, containerOf(pod, &pod.Spec.Containers[i]))
	}
	sum := amountsOf(pod.Spec.Overhead)
	for i := range r.containers {
		for name, n := range r.containers[i].Requested.All() {
			sum.Add(name, n)
		}
	}
	for name, n := range r.requested.All() {
		if !n.Equal(sum.Value(name)) {
			r.beyond.Set(name, n)
		}
	}
	return r
}

// sidecar says that an init container runs as long as the pod does.
func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// containerOf returns what one container reserves, by the rules of its pod.
func containerOf(pod *corev1.Pod, c *corev1.Container) Container {
	single := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{*c}}, Status: pod.Status}
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	return Container{
		Name:      c.Name,
		Requested: requestsOf(resourcehelper.PodRequests(single, options)),
		Limited:   amountsOf(resourcehelper.PodLimits(single, options)),
	}
}

// unlimited takes out of the limits of a pod what one of its containers may use
// without a limit: the sum of the others limits nothing.
func unlimited(pod *corev1.Pod, limits Amounts) Amounts {
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
			limits = limits.Without(Resource(name))
		}
	}
	return limits
}

// requestsOf is amountsOf for requests. Who requests no CPU or memory reserves none:
// that is known, and no reason to leave it out.
func requestsOf(list corev1.ResourceList) Amounts {
	return amountsOf(list).with(Amounts{{Resource: CPU}, {Resource: Memory}})
}

// amountsOf turns quantities into decimals, exactly. It omits the numbers of pods and attached
// volumes of a node: they have no price.
func amountsOf(list corev1.ResourceList) Amounts {
	var out Amounts
	for name, q := range list {
		if name == corev1.ResourcePods || strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix) {
			continue
		}
		out.Set(Resource(name), exactly(q))
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

// templateOf writes down all of a pod that says what it reserves, so that this is
// computed once for pods of one template.
func templateOf(pod *corev1.Pod) []byte {
	b := make([]byte, 0, 512)
	// A space is in no name: without it the init container sx and the sidecar x are one.
	part := func(kind, name string, lists ...corev1.ResourceList) {
		b = append(append(append(append(b, kind...), ' '), name...), ' ')
		for _, list := range lists {
			b = appendList(b, list)
		}
	}
	for i := range pod.Spec.InitContainers {
		c, kind := &pod.Spec.InitContainers[i], "i"
		if sidecar(c) {
			kind = "s"
		}
		part(kind, c.Name, c.Resources.Requests, c.Resources.Limits)
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		part("c", c.Name, c.Resources.Requests, c.Resources.Limits)
	}
	part("o", "", pod.Spec.Overhead)
	if r := pod.Spec.Resources; r != nil {
		part("p", "", r.Requests, r.Limits)
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			s := &statuses[i]
			if part("a", s.Name, s.AllocatedResources); s.Resources != nil {
				part("r", "", s.Resources.Requests, s.Resources.Limits)
			}
		}
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodResizePending {
			part("w", c.Reason)
		}
	}
	return b
}

// appendList tells an empty list from an absent one: only in the place of an absent one the spec counts.
func appendList(b []byte, list corev1.ResourceList) []byte {
	var buffer [8]corev1.ResourceName
	names := buffer[:0]
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	var digits [32]byte
	if list != nil {
		b = append(b, '+')
	}
	for _, name := range names {
		q := list[name]
		number, suffix := q.CanonicalizeBytes(digits[:0])
		b = append(append(b, name...), '=')
		b = append(append(append(b, number...), suffix...), ',')
	}
	return append(b, ';')
}
