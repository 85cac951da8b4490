package source

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Live is a Source that follows an API server. What is requested for the first time is listed and
// then watched; later Reads return the current state from memory. So a question can be answered
// again, as a whole, after each change, without requests. A watch continues even if nothing reads
// it any longer.
//
// Kinds, Definitions and Read must run one at a time, as those of a Cluster; the others at any
// time.
type Live struct {
	cluster *Cluster
	ctx     context.Context // of all watches, which outlive the Read that starts them
	pause   func(context.Context, time.Duration) error
	now     func() time.Time
	slots   chan struct{} // limits the concurrent lists
	changed chan struct{}
	running sync.WaitGroup

	discoveryGaps []object.Gap // of discovery
	known         definitionsSeen

	mu      sync.Mutex
	feeds   map[scope]*feed
	reached bool // a list succeeded: the server is, or was, reachable
}

// NewLive returns a source that follows a cluster until ctx ends. It sends no request yet.
func NewLive(ctx context.Context, c *Cluster) *Live {
	return &Live{
		cluster: c, ctx: ctx, pause: pause, now: time.Now,
		slots: make(chan struct{}, c.opts.Parallel), changed: make(chan struct{}, 1),
		feeds: map[scope]*feed{},
	}
}

// Cluster returns the followed cluster, for direct requests.
func (l *Live) Cluster() *Cluster { return l.cluster }

// Changed is signalled after a change that a Read would show, and after a watch was lost or
// restored. Signals that were not received are merged.
func (l *Live) Changed() <-chan struct{} { return l.changed }

func (l *Live) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Trouble returns what is not followed at present although it should be, with the reason, in order:
// a Read returns its last known state. What is polled because a watch is forbidden is no trouble
// but a gap of each Read.
func (l *Live) Trouble() []object.Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	down := map[object.Gap]bool{} // several objects of a kind are one gap
	for _, f := range l.feeds {
		if f.trouble != nil {
			down[*f.trouble] = true
		}
	}
	return slices.SortedFunc(maps.Keys(down), compareGaps)
}

// scope is what one feed follows: a kind with its detail, in a namespace or in all, or a selection
// of it.
type scope struct {
	gk         schema.GroupKind
	detail     Detail
	ns, labels string
	name       string
}

// feed returns the feed of a scope, and starts it if there is none.
func (l *Live) feed(s scope, r object.Resource) *feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.feeds[s]; f != nil {
		if f.resource.Version == r.Version {
			return f
		}
		f.stop() // the server has another version now
	}
	ctx, stop := context.WithCancel(l.ctx)
	f := &feed{live: l, scope: s, resource: r, stop: stop, first: make(chan struct{}), next: make(chan struct{})}
	l.feeds[s] = f
	l.running.Go(func() {
		defer stop()
		f.run(ctx)
	})
	return f
}

// prune stops the feeds of kinds that are no longer served, and those that a wider feed includes.
func (l *Live) prune() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s, f := range l.feeds {
		if l.Current().NotServed(s.gk) && s.gk != crdKind || l.widerLocked(s) != nil {
			f.stop()
			delete(l.feeds, s)
		}
	}
}

// wider returns a feed that includes all of the scope and more, or nil.
func (l *Live) wider(s scope) *feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.widerLocked(s)
}

func (l *Live) widerLocked(s scope) *feed {
	if s.labels != "" {
		return nil // a selector cannot be evaluated on the wider feed
	}
	for _, w := range []scope{{gk: s.gk, detail: s.detail}, {gk: s.gk, detail: s.detail, ns: s.ns}} {
		if f := l.feeds[w]; w != s && f != nil && f.objects != nil && f.err == nil {
			return f
		}
	}
	return nil
}
