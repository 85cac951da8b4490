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

// Live is a Source that follows an API server. What is asked for the first time is
// listed and then watched; from then on every Read of it is answered from memory, as
// the cluster is now. So a question is asked again, as a whole, after each change, and
// costs the server nothing. What is not asked for any more is still followed.
//
// Kinds, Definitions and Read are called one after the other, as those of a Cluster;
// the rest at any time.
type Live struct {
	cluster *Cluster
	ctx     context.Context // of all watches, which outlive the Read that begins them
	pause   func(context.Context, time.Duration) error
	now     func() time.Time
	slots   chan struct{} // bounds the lists that are being read
	changed chan struct{}
	running sync.WaitGroup

	discoveryGaps []object.Gap // of the discovery
	known         definitionsSeen

	mu      sync.Mutex
	feeds   map[scope]*feed
	reached bool // a list has been read: there is, or was, a way to the server
}

// NewLive returns a source that follows a cluster. It sends no request yet, and ends
// with ctx.
func NewLive(ctx context.Context, c *Cluster) *Live {
	return &Live{
		cluster: c, ctx: ctx, pause: pause, now: time.Now,
		slots: make(chan struct{}, c.opts.Parallel), changed: make(chan struct{}, 1),
		feeds: map[scope]*feed{},
	}
}

// Cluster returns the cluster that is followed, for what is asked of it directly.
func (l *Live) Cluster() *Cluster { return l.cluster }

// Changed is signalled after something has changed that a Read would show, and after a
// watch was cut or went on. Signals that nobody waits for become one.
func (l *Live) Changed() <-chan struct{} { return l.changed }

func (l *Live) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Trouble returns what is not followed right now, though it should be, and why, in
// order: of that a Read shows what was last seen. It is empty when all is well. What
// is polled because it may not be watched is no trouble but a gap of each Read.
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

// scope is what one feed follows: a kind as it is read, in a namespace or everywhere,
// or what a selector or a name chooses of it.
type scope struct {
	gk         schema.GroupKind
	detail     Detail
	ns, labels string
	name       string
}

// feed returns the feed of a scope, which begins with it where there is none yet.
func (l *Live) feed(s scope, r object.Resource) *feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.feeds[s]; f != nil {
		if f.resource.Version == r.Version {
			return f
		}
		f.stop() // The server has another version now.
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

// prune ends the feeds of kinds that are not served any more, and those of which a
// wider one shows everything.
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

// wider returns a feed that shows all of the scope and more; nil where none does.
func (l *Live) wider(s scope) *feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.widerLocked(s)
}

func (l *Live) widerLocked(s scope) *feed {
	if s.labels != "" {
		return nil // What a selector leaves out would have to be told from the rest.
	}
	for _, w := range []scope{{gk: s.gk, detail: s.detail}, {gk: s.gk, detail: s.detail, ns: s.ns}} {
		if f := l.feeds[w]; w != s && f != nil && f.objects != nil && f.err == nil {
			return f
		}
	}
	return nil
}
