package source

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// justNow is the age up to which a list counts as current.
const justNow = time.Second

// Refresh lists what is not watched at present: what is forbidden, polled, or has no open watch. It
// returns, in order, what is still unreachable: a Read returns its last known state. It ends with
// ctx, and includes lists that have not ended until then.
func (l *Live) Refresh(ctx context.Context) []object.Gap {
	stale := map[object.Gap]bool{}
	for f, next := range l.hurry() {
		select {
		case <-next:
		case <-ctx.Done():
			g := gap(f.resource, f.ns, ctx.Err())
			g.Message = "no answer"
			stale[g] = true
		case <-l.ctx.Done():
			return nil
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.feeds {
		if f.trouble != nil && f.err == nil && f.listErr != nil {
			stale[*f.trouble] = true
		}
	}
	return slices.SortedFunc(maps.Keys(stale), compareGaps)
}

// hurry ends the pauses of all feeds that are not current, and returns for each a channel that is
// closed when its next list has ended.
func (l *Live) hurry() map[*feed]chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	behind := map[*feed]chan struct{}{}
	for _, f := range l.feeds {
		if f.current || f.trouble == nil && l.now().Sub(f.listed) < justNow {
			continue
		}
		behind[f], f.hurry = f.next, true
		if f.wake != nil {
			f.wake()
		}
	}
	return behind
}

// ended records the end of a list that shows what was there when it began, and its error.
func (f *feed) ended(begun time.Time, err error) {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	close(f.next)
	f.next, f.hurry, f.listed, f.listErr = make(chan struct{}), false, begun, err
}

// open opens a watch, unless the list is requested now.
func (f *feed) open(ctx context.Context, version string) (w *watching, fail failure, hurry bool) {
	l := f.live
	inner, wake := context.WithCancel(ctx)
	l.mu.Lock()
	if f.hurry {
		l.mu.Unlock()
		wake()
		return nil, failure{}, true
	}
	f.wake = wake
	l.mu.Unlock()
	w, fail = l.cluster.watch(inner, f.resource, f.ns, f.selection(), version, f.detail)
	l.mu.Lock()
	f.wake, hurry = nil, f.hurry
	f.current = fail.err == nil && !hurry
	l.mu.Unlock()
	switch {
	case fail.err != nil:
		wake()
	case hurry:
		w.close()
		wake()
	default:
		stop := w.stop
		w.stop = func() { stop(); wake() }
	}
	return w, fail, hurry
}

// close ends a watch.
func (f *feed) close(w *watching) {
	w.close()
	f.live.mu.Lock()
	defer f.live.mu.Unlock()
	f.current = false
}

// pause waits, and reports whether the list is requested before.
func (f *feed) pause(ctx context.Context, wait time.Duration) (hurry bool) {
	l := f.live
	inner, wake := context.WithCancel(ctx)
	defer wake()
	l.mu.Lock()
	if f.hurry {
		l.mu.Unlock()
		return true
	}
	f.wake = wake
	l.mu.Unlock()
	_ = l.pause(inner, wait) // the caller knows why it ended
	l.mu.Lock()
	defer l.mu.Unlock()
	f.wake = nil
	return f.hurry
}
