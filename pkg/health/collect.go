package health

import (
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Collector judges objects while they pass, and keeps how they fare and none of them.
// An object that comes a second time replaces what was kept of it. It is safe for use by
// several at once.
type Collector struct {
	evaluator *Evaluator

	mu   sync.Mutex
	seen map[object.Ref]Health
}

// NewCollector returns a collector of what the judge says.
func NewCollector(j *Evaluator) *Collector {
	return &Collector{evaluator: j, seen: map[object.Ref]Health{}}
}

// Add judges an object.
func (c *Collector) Add(o object.Object) {
	h := c.evaluator.Evaluate(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[o.Ref] = h
}

// Health returns how an object fares by itself; false for one that did not pass.
func (c *Collector) Health(r object.Ref) (Health, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.seen[r]
	return h, ok
}
