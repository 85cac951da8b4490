package app

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// servicePorts keeps the ports of Services.
type servicePorts struct {
	mu    sync.Mutex
	byRef map[object.Ref][]corev1.ServicePort
}

func (s *servicePorts) extractor(*Session) inventory.Extractor {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byRef = map[object.Ref][]corev1.ServicePort{} // A new read replaces all.
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		if service, ok := o.Body.(*corev1.Service); ok {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.byRef[o.Ref] = service.Spec.Ports
		}
		return nil
	}
}

// ports are those of a Service; none if it was not read.
func (s *servicePorts) ports(r object.Ref) []corev1.ServicePort {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byRef[r]
}
