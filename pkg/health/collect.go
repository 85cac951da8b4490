package health

import (
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Collector evaluates objects as they stream by, and stores their health but not the objects. An
// object that comes again replaces its earlier health. It is safe for concurrent use.
type Collector struct {
	evaluator *Evaluator

	mu   sync.Mutex
	seen map[object.Ref]stored
	// healthy has what healthy objects have in common, which is all but the time.
	healthy map[Health]*Health
}

// stored is a health, without its time, and the time.
type stored struct {
	health *Health
	since  time.Time
}

// NewCollector returns a collector of an evaluator's results.
func NewCollector(j *Evaluator) *Collector {
	return &Collector{evaluator: j, seen: map[object.Ref]stored{}, healthy: map[Health]*Health{}}
}

// Add evaluates an object.
func (c *Collector) Add(o object.Object) {
	h := c.evaluator.Evaluate(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	since := h.Since
	h.Since = time.Time{}
	if h.Status != Healthy || h.History != nil || h.RuleError != nil {
		c.seen[o.Ref] = stored{&h, since}
		return
	}
	same := c.healthy[h]
	if same == nil {
		same = &h
		c.healthy[h] = same
	}
	c.seen[o.Ref] = stored{same, since}
}

// Health returns the health of an object itself; false if it was not added.
func (c *Collector) Health(r object.Ref) (Health, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.seen[r]
	if !ok {
		return Health{}, false
	}
	h := *s.health
	h.Since = s.since
	return h, true
}
