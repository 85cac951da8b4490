package app

import (
	"slices"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Applications finds the stacks of the namespace that is asked about, or of all.
func (s *Session) Applications(g *graph.Graph, opts graph.StackOptions) graph.FoundStacks {
	namespace := s.Namespace
	if s.Input.AllNamespaces {
		namespace = ""
	}
	return g.FindStacks(namespace, opts)
}

// IsClusterSystem says whether a stack is one of the cluster itself, as its DNS is: all that it
// was found by is in namespaces that Kubernetes made. Who asks for such a namespace
// means it.
func (s *Session) IsClusterSystem(g *graph.Graph, f graph.FoundStack) bool {
	return !slices.ContainsFunc(f.TopObjects, func(id graph.ID) bool { return !s.OwnedByCluster(g.Ref(id).Namespace) })
}

// OwnedByCluster tells the namespaces that Kubernetes made for itself.
func (s *Session) OwnedByCluster(namespace string) bool {
	asked := s.Namespace == namespace && !s.Input.AllNamespaces
	return !asked && slices.Contains([]string{"kube-system", "kube-public", "kube-node-lease"}, namespace)
}

// creationTimes keeps when objects that nobody owns were created: those on top of stacks are
// among them.
type creationTimes struct {
	mu    sync.Mutex
	ByRef map[object.Ref]time.Time
	// every keeps those of all objects.
	every bool
}

func NewCreationTimes() *creationTimes { return &creationTimes{ByRef: map[object.Ref]time.Time{}} }

func (b *creationTimes) Extractor(*Session) inventory.Extractor {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ByRef = map[object.Ref]time.Time{} // Who reads again reads all.
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		if at := o.Meta.GetCreationTimestamp().Time; !at.IsZero() && (b.every || len(o.Meta.GetOwnerReferences()) == 0) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ByRef[o.Ref] = at
		}
		return nil
	}
}

// earliest is when the first of some nodes was created; zero where it is not known.
func (b *creationTimes) earliest(g *graph.Graph, ids []graph.ID) time.Time {
	var first time.Time
	for _, id := range ids {
		if at := b.ByRef[g.Ref(id)]; !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// CreatedAt is when an object was created; zero where that is not known.
func (b *creationTimes) CreatedAt(r object.Ref) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ByRef[r]
}
