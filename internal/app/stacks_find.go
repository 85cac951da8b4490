package app

import (
	"slices"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Applications finds the stacks of the namespace of the request, or of all.
func (s *Session) Applications(g *graph.Graph, opts graph.StackOptions) graph.FoundStacks {
	namespace := s.Namespace
	if s.Input.AllNamespaces {
		namespace = ""
	}
	return g.FindStacks(namespace, opts)
}

// IsClusterSystem reports whether a stack belongs to the cluster itself, as its DNS does: all its
// roots are in namespaces that Kubernetes created. It is false if the request names such a
// namespace.
func (s *Session) IsClusterSystem(g *graph.Graph, f graph.FoundStack) bool {
	return !slices.ContainsFunc(f.TopObjects, func(id graph.ID) bool { return !s.OwnedByCluster(g.Ref(id).Namespace) })
}

// OwnedByCluster reports whether Kubernetes created a namespace for itself.
func (s *Session) OwnedByCluster(namespace string) bool {
	asked := s.Namespace == namespace && !s.Input.AllNamespaces
	return !asked && slices.Contains([]string{"kube-system", "kube-public", "kube-node-lease"}, namespace)
}

// creationTimes keeps the creation times of objects without an owner: the roots of stacks are among
// them.
type creationTimes struct {
	mu    sync.Mutex
	ByRef map[object.Ref]time.Time
	// every keeps those of all objects.
	every bool
}

// NewCreationTimes keeps the creation times of objects without an owner.
func NewCreationTimes() *creationTimes { return &creationTimes{ByRef: map[object.Ref]time.Time{}} }

func (b *creationTimes) Extractor(*Session) inventory.Extractor {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ByRef = map[object.Ref]time.Time{} // A new read replaces all.
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		if at := o.Meta.GetCreationTimestamp().Time; !at.IsZero() && (b.every || len(o.Meta.GetOwnerReferences()) == 0) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ByRef[o.Ref] = at
		}
		return nil
	}
}

// earliest is the earliest creation time of some nodes; zero if unknown.
func (b *creationTimes) earliest(g *graph.Graph, ids []graph.ID) time.Time {
	var first time.Time
	for _, id := range ids {
		if at := b.ByRef[g.Ref(id)]; !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// CreatedAt is the creation time of an object; zero if unknown.
func (b *creationTimes) CreatedAt(r object.Ref) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ByRef[r]
}
