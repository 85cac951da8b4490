package source

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// justNow is how old a list may be that need not be read again to tell what is there now.
const justNow = time.Second

// Refresh lists now what is not watched right now: what is refused, what is polled, and of
// what the watch has ended or is still to be opened. It returns, in order, what could not be reached nevertheless: of
// that a Read shows what was last seen. It ends with ctx, and what was not answered until
// then is among that.
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

// hurry ends the pauses of all feeds that are behind, and returns for each what tells of its
// next list.
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

// ended notes that a list has ended, and how.
func (f *feed) ended(err error) {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	close(f.next)
	f.next, f.hurry, f.listed, f.listErr = make(chan struct{}), false, l.now(), err
}

// open opens a watch, unless the list is wanted now.
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

// pause waits, and says whether the list is wanted sooner.
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
	_ = l.pause(inner, wait) // Who ends, or wakes it, has said so.
	l.mu.Lock()
	defer l.mu.Unlock()
	f.wake = nil
	return f.hurry
}
