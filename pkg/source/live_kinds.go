package source

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// definitionsSeen is the list of definitions that discovery was read for.
type definitionsSeen struct {
	asked   bool
	version string          // of the list
	names   map[string]bool // all that ever existed; true for those that exist
	tries   int             // attempts to get added and removed kinds from discovery
	due     atomic.Bool     // it is time for the next attempt
}

// Kinds reads discovery once. Definitions detects later changes.
func (l *Live) Kinds(ctx context.Context, sink Sink) (*object.Kinds, error) {
	if l.Current() == nil {
		if err := l.discover(ctx); err != nil {
			return nil, err
		}
	}
	for _, g := range l.discoveryGaps {
		sink.Gap(g)
	}
	return l.Current(), nil
}

// discover reads discovery, and stores its gaps for later calls of Kinds.
func (l *Live) discover(ctx context.Context) error {
	var gaps gapList
	err := l.cluster.discover(ctx, &gaps)
	if err == nil {
		l.discoveryGaps = gaps.gaps
	}
	return err
}

// Current returns the current kinds.
func (l *Live) Current() *object.Kinds { return l.cluster.Current() }

// Definitions returns the metadata of the CustomResourceDefinitions, which are followed as well.
// After a change discovery is repeated, so that Current has the new kinds and not the removed ones.
// See Cluster.Definitions for the error.
func (l *Live) Definitions(ctx context.Context, sink Sink) ([]metav1.Object, error) {
	if l.Current() == nil {
		if _, err := l.Kinds(ctx, sink); err != nil {
			return nil, err
		}
	}
	r := &liveRead{Live: l}
	f := l.feed(scope{gk: crdKind}, crdResource)
	r.shares = []share{{feed: f}}
	if err := r.await(ctx); err != nil {
		return nil, err
	}
	out, version, err := l.definitions(f)
	if err := l.cluster.settleDefinitions(ctx, err, sink); err != nil {
		return nil, err
	}
	if l.stale(out, version, err) {
		l.cluster.opts.Discovery.Invalidate()
		if err := l.discover(ctx); err != nil {
			return nil, err
		}
	}
	l.note(out, version)
	if err == nil {
		l.lookAgain()
	}
	return out, nil
}

// definitions returns the definitions in a feed, and the version of the list.
func (l *Live) definitions(f *feed) (out []metav1.Object, version string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all strings.Builder
	for _, o := range (share{feed: f}).choose(f.objects) {
		out = append(out, o.Meta)
		all.WriteString(o.Name + "@" + o.Meta.GetResourceVersion() + " ")
	}
	return out, all.String(), f.err
}

// stale reports whether discovery must be repeated. The first one may be cached.
func (l *Live) stale(out []metav1.Object, version string, err error) bool {
	if !l.known.asked {
		return l.cluster.stale(out, err) && !l.cluster.opts.Discovery.Fresh()
	}
	if version != l.known.version {
		l.known.tries = 0
		return true
	}
	return l.known.due.Load()
}

// note records the definitions that discovery was read for.
func (l *Live) note(out []metav1.Object, version string) {
	l.known.asked, l.known.version = true, version
	if l.known.names == nil {
		l.known.names = map[string]bool{}
	}
	for name := range l.known.names {
		l.known.names[name] = false
	}
	for _, crd := range out {
		l.known.names[crd.GetName()] = true
	}
}

// maxLooks limits how often discovery is repeated for one change.
const maxLooks = 5

// lookAgain signals another Read if discovery does not show a change yet: a server takes a second
// or two. It never serves definitions whose names are taken, so the attempts are limited.
func (l *Live) lookAgain() {
	settled := true
	for name, exists := range l.known.names {
		settled = settled && l.cluster.knows(name) == exists
	}
	waiting := l.known.tries > 0 && !l.known.due.Swap(false)
	if waiting || settled || l.known.tries == maxLooks {
		return
	}
	wait := time.Second << l.known.tries
	l.known.tries++
	l.running.Go(func() {
		if l.pause(l.ctx, wait) == nil {
			l.known.due.Store(true)
			l.signal()
		}
	})
}

// recheck repeats discovery if the server does not find a list of a kind that discovery has: a kind
// that is no longer served is no gap. It does so once for each NotFound, up to a limit.
func (r *liveRead) recheck(ctx context.Context) error {
	if !r.lookedFor() {
		return nil
	}
	r.cluster.opts.Discovery.Invalidate()
	if err := r.discover(ctx); err != nil {
		return ctx.Err() // the kinds and the gaps stay
	}
	r.shares = slices.DeleteFunc(r.shares, func(s share) bool {
		current, served := r.Current().Kind(s.asked.gk)
		if served && current.Version != s.served.Version {
			r.signal() // the next Read uses the new version
			return true
		}
		return r.Current().NotServed(s.asked.gk)
	})
	return nil
}

// lookedFor reports whether a list returned NotFound since discovery was last repeated for it.
func (r *liveRead) lookedFor() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := false
	for _, s := range r.shares {
		if f := s.feed; f.gk != crdKind && f.looked < min(f.notFound, maxLooks) {
			f.looked, found = f.notFound, true
		}
	}
	return found
}

// gapList is a sink that stores gaps only.
type gapList struct {
	listSink
	gaps []object.Gap
}

// Gap stores a gap.
func (l *gapList) Gap(g object.Gap) { l.gaps = append(l.gaps, g) }
