package health

import (
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Collector evaluates objects as they stream by, and stores their health but not the objects. An
// object that comes again replaces its earlier health. It is safe for concurrent use.
type Collector struct {
	evaluator *Evaluator

	mu   sync.Mutex
	seen map[object.Ref]Health
}

// NewCollector returns a collector of an evaluator's results.
func NewCollector(j *Evaluator) *Collector {
	return &Collector{evaluator: j, seen: map[object.Ref]Health{}}
}

// Add evaluates an object.
func (c *Collector) Add(o object.Object) {
	h := c.evaluator.Evaluate(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[o.Ref] = h
}

// Health returns the health of an object itself; false if it was not added.
func (c *Collector) Health(r object.Ref) (Health, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.seen[r]
	return h, ok
}
