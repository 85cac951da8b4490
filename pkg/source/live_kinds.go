package source

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// definitionsSeen is the list of definitions for which the discovery was asked.
type definitionsSeen struct {
	asked   bool
	version string      // of all of them
	tries   int         // for one that the discovery does not know yet
	due     atomic.Bool // it is time for the next
}

// Kinds asks discovery once. The kinds that come and go later are seen by Definitions.
func (l *Live) Kinds(ctx context.Context, sink Sink) (*object.Kinds, error) {
	if l.cluster.kinds == nil {
		if err := l.discover(ctx); err != nil {
			return nil, err
		}
	}
	for _, g := range l.told {
		sink.Gap(g)
	}
	return l.cluster.kinds, nil
}

// discover asks discovery, and keeps what gaps there are for all who come later.
func (l *Live) discover(ctx context.Context) error {
	var gaps gapList
	err := l.cluster.discover(ctx, &gaps)
	if err == nil {
		l.told = gaps.gaps
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
	if l.cluster.kinds == nil {
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
	l.known.asked, l.known.version = true, version
	l.lookAgain(out)
	return out, nil
}

// definitions returns what a feed has of the definitions, and the version of them all.
func (l *Live) definitions(f *feed) (out []metav1.Object, version string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all strings.Builder
	for _, o := range (share{feed: f}).objects() {
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

// lookAgain asks whoever follows to come back, for a definition that the discovery does
// not know yet: a server takes a second or two to serve a new kind. Some it never
// serves, those whose names are taken; so it is done a few times only.
func (l *Live) lookAgain(out []metav1.Object) {
	const most = 5
	waiting := l.known.tries > 0 && !l.known.due.Swap(false)
	if waiting || !l.cluster.stale(out, nil) || l.known.tries == most {
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

// gapList keeps gaps, and nothing else.
type gapList struct {
	heap
	gaps []object.Gap
}

// Gap keeps a gap.
func (l *gapList) Gap(g object.Gap) { l.gaps = append(l.gaps, g) }
