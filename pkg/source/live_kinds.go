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

// definitionsSeen is the list of definitions for which the discovery was asked.
type definitionsSeen struct {
	asked   bool
	version string          // of all of them
	names   map[string]bool // that ever were there; true for those that are
	tries   int             // to have the discovery know what has come, and what is gone
	due     atomic.Bool     // it is time for the next
}

// Kinds asks discovery once. The kinds that come and go later are seen by Definitions.
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

// discover asks discovery, and keeps what gaps there are for all who come later.
func (l *Live) discover(ctx context.Context) error {
	var gaps gapList
	err := l.cluster.discover(ctx, &gaps)
	if err == nil {
		l.discoveryGaps = gaps.gaps
	}
	return err
}

// Current returns the kinds as they are known now.
func (l *Live) Current() *object.Kinds { return l.cluster.Current() }

// Definitions returns the metadata of the CustomResourceDefinitions, which are followed
// like everything else: when they have changed, discovery is asked again, so that
// Current has kinds that came, and not those that went. See Cluster.Definitions for the
// error.
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

// definitions returns what a feed has of the definitions, and the version of them all.
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

// stale says whether discovery has to be asked again. At first it may be a cached one.
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

// note remembers for which definitions the discovery was asked.
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

// maxLooks bounds how often discovery is asked again about one change.
const maxLooks = 5

// lookAgain asks whoever follows to come back, where the discovery does not know yet
// what has come or is gone: a server takes a second or two. Some it never serves, those
// whose names are taken; so it is done a few times only.
func (l *Live) lookAgain() {
	settled := true
	for name, there := range l.known.names {
		settled = settled && l.cluster.knows(name) == there
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

// recheck asks discovery again, where the server does not find a list of a kind that
// discovery names: what is not served any more is no gap. It is asked once for each time
// that a list was not found, and a few times in all.
func (r *liveRead) recheck(ctx context.Context) error {
	if !r.lookedFor() {
		return nil
	}
	r.cluster.opts.Discovery.Invalidate()
	if err := r.discover(ctx); err != nil {
		return ctx.Err() // The kinds stay as they are known, and the gaps.
	}
	r.shares = slices.DeleteFunc(r.shares, func(s share) bool {
		is, served := r.Current().Kind(s.asked.gk)
		if served && is.Version != s.served.Version {
			r.signal() // The next Read reads it in the version that there is.
			return true
		}
		return r.Current().NotServed(s.asked.gk)
	})
	return nil
}

// lookedFor says whether a list was not found since discovery was last asked about it.
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

// gapList keeps gaps, and nothing else.
type gapList struct {
	listSink
	gaps []object.Gap
}

// Gap keeps a gap.
func (l *gapList) Gap(g object.Gap) { l.gaps = append(l.gaps, g) }
