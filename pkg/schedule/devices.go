package schedule

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// readDevices leaves out extended resources for which a device class may stand: of those,
// nodes need not have any.
func (g *clusterState) readDevices(c *candidate) {
	var names []string
	for name := range c.requests {
		if strings.Contains(name, "/") && !strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case slices.ContainsFunc(g.DeviceClasses, func(d *resourcev1.DeviceClass) bool {
			return d.Spec.ExtendedResourceName != nil && *d.Spec.ExtendedResourceName == name || resourcev1.ResourceDeviceClassPrefix+d.Name == name
		}):
			c.unsure("%s is requested, which a device class provides, and devices were not read", name)
		case g.Unread.Devices && !slices.ContainsFunc(g.nodes, func(n *corev1.Node) bool { _, ok := n.Status.Allocatable[corev1.ResourceName(name)]; return ok }):
			c.unsure("%s is requested, which no node has, and device classes could not be read", name)
		default:
			continue
		}
		delete(c.requests, name)
	}
}
