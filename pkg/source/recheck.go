package source

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// notServed is the reason of the gap of a kind that discovery has and the server does not find.
const notServed = "NotServed"

// unfound is a sink that holds back such gaps.
type unfound struct {
	Sink
	mu   sync.Mutex
	gaps []object.Gap
}

// Gap holds back a gap, or passes it on.
func (u *unfound) Gap(g object.Gap) {
	if g.Reason != notServed {
		u.Sink.Gap(g)
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.gaps = append(u.gaps, g)
}

// recheck repeats discovery, once in the life of a Cluster, if the server did not find what
// discovery has: its cache is hours old, or a definition was deleted since. A kind that is no
// longer served is no gap, and one that is served in other versions is read in those. What
// discovery still has stays a gap.
func (c *Cluster) recheck(ctx context.Context, gaps []object.Gap, sink Sink) error {
	if len(gaps) == 0 {
		return nil
	}
	before := c.discovered()
	if c.rechecked.CompareAndSwap(false, true) {
		c.opts.Discovery.Invalidate()
		if err := c.discover(ctx, sink); ctx.Err() != nil {
			return err
		}
	}
	now := c.discovered()
	var jobs []job
	for _, g := range gaps {
		was, known := before.kinds.Resource(schema.ParseGroupResource(g.Resource))
		current, named := now.kinds.Kind(was.GroupKind())
		switch {
		case known && now.kinds.NotServed(was.GroupKind()):
		case known && named && !slices.Equal(before.versions[was.GroupKind()], now.versions[was.GroupKind()]):
			jobs = append(jobs, func(ctx context.Context) error { return c.listInto(ctx, current, g.Namespace, sink) })
		default:
			sink.Gap(g)
		}
	}
	return c.run(ctx, jobs)
}
