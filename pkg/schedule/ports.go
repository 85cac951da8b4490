package schedule

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hostPort is a port of the node that a pod takes.
type hostPort struct {
	ip, protocol string
	port         int32
}

const anyAddress = "0.0.0.0"

// hostPorts lists the ports of the node that a pod takes: those of its containers, and of
// the side-cars among its init containers.
func hostPorts(pod *corev1.Pod) []hostPort {
	var out []hostPort
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			h := hostPort{ip: p.HostIP, protocol: string(p.Protocol), port: p.HostPort}
			if h.ip == "" {
				h.ip = anyAddress
			}
			if h.protocol == "" {
				h.protocol = string(corev1.ProtocolTCP)
			}
			out = append(out, h)
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return out
}

func (h hostPort) clashes(o hostPort) bool {
	return h.port == o.port && h.protocol == o.protocol && (h.ip == o.ip || h.ip == anyAddress || o.ip == anyAddress)
}

func (h hostPort) String() string {
	if h.ip == anyAddress {
		return fmt.Sprintf("%d/%s", h.port, h.protocol)
	}
	return fmt.Sprintf("%s:%d/%s", h.ip, h.port, h.protocol)
}

func portsClash(a, b []hostPort) bool {
	return slices.ContainsFunc(a, func(x hostPort) bool { return slices.ContainsFunc(b, x.clashes) })
}
