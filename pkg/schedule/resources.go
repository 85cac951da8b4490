package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// dimension is something of which a node has an amount: pods, millicores, bytes, devices,
// volumes that it can attach, local volumes.
type dimension struct {
	name   string
	reason string
}

// The names of dimensions that are no resource.
const (
	dimPods   = "pods"
	dimAttach = "\x00attach/"
	dimLocal  = "\x00local/"
)

// requestsOf returns what a pod requests: millicores of cpu, units of all else. Of a pod
// that runs, what was granted counts too.
func requestsOf(pod *corev1.Pod, runs bool) map[string]int64 {
	if out, ok := plainRequests(pod); ok {
		return out
	}
	list := resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{UseStatusResources: runs, InPlacePodLevelResourcesVerticalScalingEnabled: runs})
	out := make(map[string]int64, len(list)+1)
	for name, q := range list {
		if name == corev1.ResourcePods || !counted(name) {
			continue
		}
		if v := amount(name, q); v > 0 {
			out[string(name)] = v
		}
	}
	out[dimPods] = 1
	return out
}

// plainRequests adds up the containers of a pod that has nothing but containers, as most
// have: there are many of them.
func plainRequests(pod *corev1.Pod) (map[string]int64, bool) {
	if len(pod.Spec.InitContainers) > 0 || pod.Spec.Resources != nil || len(pod.Spec.Overhead) > 0 || pod.Status.Resources != nil || len(pod.Status.AllocatedResources) > 0 {
		return nil, false
	}
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; len(s.AllocatedResources) > 0 || s.Resources != nil {
			return nil, false
		}
	}
	out := make(map[string]int64, 3)
	for i := range pod.Spec.Containers {
		for name, q := range pod.Spec.Containers[i].Resources.Requests {
			if name == corev1.ResourcePods || !counted(name) {
				continue
			}
			v := amount(name, q)
			if !whole(name, q, v) {
				return nil, false // rounding each is not rounding the sum
			}
			if v > 0 {
				out[string(name)] += v
			}
		}
	}
	out[dimPods] = 1
	return out, true
}

// whole says that an amount is all of a quantity, and nothing was rounded.
func whole(name corev1.ResourceName, q resource.Quantity, v int64) bool {
	if name == corev1.ResourceCPU {
		return resource.NewMilliQuantity(v, q.Format).Cmp(q) == 0
	}
	return resource.NewQuantity(v, q.Format).Cmp(q) == 0
}

func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// counted reports whether the scheduler counts a resource. It ignores native resources that it does
// not know (storage).
func counted(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		return true
	}
	s := string(name)
	return strings.Contains(s, "/") || strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceAttachableVolumesPrefix)
}

// measure lays out what candidates want, what nodes have, and what pods on nodes use.
func (g *clusterState) measure() {
	names := []string{dimPods}
	for _, c := range g.candidates {
		for name := range c.requests {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	for _, name := range names {
		if _, ok := g.dimOf[name]; !ok {
			g.dimOf[name] = len(g.dims)
			g.dims = append(g.dims, dimension{name: name, reason: dimensionReason(name)})
		}
	}
	vector := func(amounts map[string]int64) []int64 {
		out := make([]int64, len(g.dims))
		for name, v := range amounts {
			if k, ok := g.dimOf[name]; ok {
				out[k] = v
			}
		}
		return out
	}
	for _, c := range g.candidates {
		c.want = vector(c.requests)
	}
	for i := range g.bound {
		g.bound[i].uses = vector(requestsOf(g.bound[i].pod, true))
	}
	for _, n := range g.nodes {
		for _, d := range g.dims {
			if strings.HasPrefix(d.name, "\x00") {
				g.alloc = append(g.alloc, g.volumes.allocatable(d.name, n))
				continue
			}
			g.alloc = append(g.alloc, amount(corev1.ResourceName(d.name), n.Status.Allocatable[corev1.ResourceName(d.name)]))
		}
	}
}

func dimensionReason(name string) string {
	switch name {
	case dimPods:
		return "TooManyPods"
	case string(corev1.ResourceCPU):
		return "InsufficientCPU"
	case string(corev1.ResourceMemory):
		return "InsufficientMemory"
	case string(corev1.ResourceEphemeralStorage):
		return "InsufficientEphemeralStorage"
	}
	switch {
	case strings.HasPrefix(name, dimAttach):
		return "VolumeLimit"
	case strings.HasPrefix(name, dimLocal):
		return "NoVolume"
	}
	return "InsufficientResource"
}

// words names a dimension for people.
func (d dimension) words() string {
	switch {
	case strings.HasPrefix(d.name, dimAttach):
		return "volumes of " + strings.TrimPrefix(d.name, dimAttach)
	case strings.HasPrefix(d.name, dimLocal):
		return "local volumes of class " + d.name[strings.LastIndexByte(d.name, '/')+1:]
	}
	return d.name
}

// show writes an amount of a dimension: 0.5 for 500 millicores, 3.5Gi for bytes.
func (d dimension) show(v int64) string {
	switch {
	case d.name == string(corev1.ResourceCPU):
		return strconv.FormatFloat(float64(v)/1000, 'f', -1, 64)
	case d.name == string(corev1.ResourceMemory), d.name == string(corev1.ResourceEphemeralStorage), strings.HasPrefix(d.name, corev1.ResourceHugePagesPrefix):
		return resource.NewQuantity(v, resource.BinarySI).String()
	}
	return strconv.FormatInt(v, 10)
}

// pair writes two amounts of a dimension, rounded if they stay different by it.
func (d dimension) pair(a, b int64) (string, string) {
	x, y := d.round(a), d.round(b)
	if x != y || a == b {
		return x, y
	}
	return d.show(a), d.show(b)
}

func (d dimension) round(v int64) string {
	exact := d.show(v)
	if len(exact) <= 6 || d.name == string(corev1.ResourceCPU) || v < 1<<10 {
		return exact
	}
	for i, unit := range []string{"Pi", "Ti", "Gi", "Mi", "Ki"} {
		if size := int64(1) << (50 - 10*i); v >= size {
			return fmt.Sprintf("%.1f%s", float64(v)/float64(size), unit)
		}
	}
	return exact
}
