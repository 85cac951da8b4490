package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// nodePort is one that a Service requests.
type nodePort struct {
	protocol corev1.Protocol
	number   int32
}

// nodePorts finds node ports that two Services request, of the batch or one of the cluster:
// each of them alone is admitted, the second of them never.
func (f *evaluation) nodePorts() {
	taken := map[nodePort]*corev1.Service{}
	for _, s := range together[corev1.Service](f, check.ServiceKind) {
		for _, p := range s.Spec.Ports {
			if p.NodePort != 0 && !f.inBatch(refOf(check.ServiceKind, s)) {
				taken[nodePort{p.Protocol, p.NodePort}] = s
			}
		}
	}
	items := slices.Clone(f.ofKind(check.ServiceKind))
	slices.SortStableFunc(items, func(a, b *Item) int {
		switch {
		case a.Exists == b.Exists:
			return 0
		case a.Exists: // It has its ports already.
			return -1
		}
		return 1
	})
	for _, it := range items {
		s := typed[corev1.Service](f, it)
		if s == nil || s.Spec.Type != corev1.ServiceTypeNodePort && s.Spec.Type != corev1.ServiceTypeLoadBalancer {
			continue
		}
		for i, p := range s.Spec.Ports {
			// A port that a dry run gave out is not the one that it will get.
			if p.NodePort == 0 || !writtenPort(it, i) {
				continue
			}
			at := nodePort{cmp.Or(p.Protocol, corev1.ProtocolTCP), p.NodePort}
			if other := taken[at]; other != nil {
				f.clash(it, i, at, other)
			}
			taken[at] = s
		}
	}
}

// clash reports a port that another Service has, unless the API server did.
func (f *evaluation) clash(it *Item, i int, at nodePort, other *corev1.Service) {
	has := refOf(check.ServiceKind, other)
	if a := f.dryRuns[it.Ref]; has == it.Ref || a != nil && strings.Contains(a.Message, "already allocated") {
		return
	}
	f.add(Finding{
		Topic: Admitted, Verdict: impossible, Object: it.Ref, Field: fmt.Sprintf("spec.ports[%d].nodePort", i), Value: fmt.Sprint(at.number), Reason: "NodePortTaken",
		Message: fmt.Sprintf("%s also requests node port %d: the API server refuses the second", plain(has), at.number),
		Remedy:  "omit nodePort, or choose another",
	})
}

// writtenPort says that the i-th port of a Service was written with its node port.
func writtenPort(it *Item, i int) bool {
	spec, _ := it.Object.Object["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	if i >= len(ports) {
		return false
	}
	p, _ := ports[i].(map[string]any)
	return p["nodePort"] != nil
}
