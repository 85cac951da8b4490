package source

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The loop is ours and not that of cache.Reflector or tools/watch.RetryWatcher. The
// first cannot tell that a watch is refused, and lists again and again; the second
// asks for ever for a version that is gone. Both wait by a clock of their own, and
// write what they think to stderr.

const (
	// pollEvery is how often a list is read that may not be watched, or is not there.
	pollEvery = 10 * time.Second
	// refusedFor is when what may not be listed is tried again: rights change seldom.
	refusedFor = time.Minute
	// lively is how long a watch must have lasted to be as good as new when it ends.
	lively = 10 * time.Second
)

// feed follows one list: it is read, and watched from there on.
type feed struct {
	scope
	live     *Live
	resource object.Resource // in the version that is read
	stop     context.CancelFunc
	again    backoff
	byName   bool      // an object that may be got, and not listed
	tryAgain time.Time // when what was refused and is done in another way is tried again

	first chan struct{} // closed when the first list has ended, well or not
	next  chan struct{} // closed when the next one has; see Refresh
	wake  func()        // ends the present pause, or the opening of a watch; nil where there is none
	hurry bool          // the list is wanted now
	// current says that a watch is open, so that what is here is what is there.
	current bool
	// listed is when the last list ended, and listErr how.
	listed  time.Time
	listErr error

	// What follows is guarded by the mutex of live.

	objects map[object.Ref]object.Object // nil before the first list
	err     error                        // why there are not all objects here
	// unread are the objects that were here until they were refused, and refusedAt is when
	// that was.
	unread    map[object.Ref]object.Object
	refusedAt time.Time
	// notFound counts the lists in a row that the server did not find, and looked is how many
	// of them the discovery was asked about.
	notFound, looked int
	polled           *object.Gap // why it is not watched
	trouble          *object.Gap // why it is not followed right now
}

func (f *feed) run(ctx context.Context) {
	defer func() {
		if f.objects == nil { // It ended before it began.
			f.publish(nil, ctx.Err())
		}
	}()
	for ctx.Err() == nil {
		objects, version, err := f.list(ctx)
		if ctx.Err() != nil {
			return
		}
		wait, watchable := pollEvery, false
		if err != nil {
			wait = f.failed(objects, err)
		} else {
			watchable = f.watched(objects, version)
		}
		f.ended(err)
		if watchable {
			wait = f.follow(ctx, version)
		}
		if wait > 0 {
			f.pause(ctx, wait)
		}
	}
}

// list reads the list, in turn with those of other feeds.
func (f *feed) list(ctx context.Context) (map[object.Ref]object.Object, string, error) {
	select {
	case f.live.slots <- struct{}{}:
		defer func() { <-f.live.slots }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	c, version := f.live.cluster, ""
	found := &listSink{objects: map[object.Ref]object.Object{}}
	if !f.byName || f.isDue() {
		part := f.selection()
		part.version = func(v string) { version = v }
		err := c.listSelected(ctx, f.resource, f.ns, part, f.detail, found)
		if f.name == "" || !refused(err) {
			f.byName = false
			return found.objects, version, err
		}
		f.byName = true // Who may not list an object may still get it.
		f.poll(err)
	}
	ref := object.Ref{Group: f.gk.Group, Kind: f.gk.Kind, Namespace: f.ns, Name: f.name}
	o, err := c.get(ctx, f.resource, ref, f.detail)
	switch {
	case absent(err, f.name):
		err = nil
	case err == nil:
		found.Add(o)
	}
	return found.objects, "", err
}

func (f *feed) selection() selection {
	s := selection{labels: f.labels}
	if f.name != "" {
		s.fields = "metadata.name=" + f.name
	}
	return s
}

// watched takes a list over, and says whether it can be watched from its version on.
func (f *feed) watched(objects map[object.Ref]object.Object, version string) bool {
	f.publish(objects, nil)
	unversioned := version == "" || version == "0"
	if unversioned && !f.isPolled() {
		f.poll(errors.New("its list has no resourceVersion to continue from"))
	}
	if f.isPolled() && (unversioned || !f.isDue()) {
		f.tell(nil)
		return false
	}
	return true
}

// isDue says that what was refused may be tried again: rights come back.
func (f *feed) isDue() bool { return !f.tryAgain.IsZero() && !f.live.now().Before(f.tryAgain) }

// failed takes notice of a list that could not be read, and says when to read it
// again. What is gone is not there any more, and what is refused is unread from now on; of
// what cannot be reached the last that was seen stays.
func (f *feed) failed(objects map[object.Ref]object.Object, err error) time.Duration {
	switch {
	case refused(err):
		f.tell(nil)
		f.publish(nil, err)
		return refusedFor
	case apierrors.IsNotFound(err):
		f.tell(nil)
		f.publish(nil, err)
		return pollEvery
	}
	if !f.isComplete() {
		f.publish(objects, err)
	}
	f.tell(err)
	return f.again.next()
}

// follow watches, through as many watches as it takes, and says when to read the list
// again.
func (f *feed) follow(ctx context.Context, version string) time.Duration {
	for opened := false; ; {
		begun := f.live.now()
		w, fail, hurry := f.open(ctx, version)
		if hurry {
			return 0
		}
		events := 0
		if fail.err == nil {
			f.tell(nil)
			f.unpoll()
			opened, fail.connected = true, true
			events, fail.err = f.drain(w, &version)
		}
		fresh := events > 0 || f.live.now().Sub(begun) >= lively
		if fresh {
			f.again = 0
		}
		err := fail.err
		switch {
		case ctx.Err() != nil:
			return 0
		case isConnectionLost(err):
			return f.again.relist()
		case refused(err), errors.Is(err, errNoEvents):
			f.poll(err)
			if opened { // Rights were taken away: maybe that to list, too.
				return 0
			}
			return pollEvery
		case err == nil && fresh:
			continue // It ended as watches do.
		case err == nil:
			fail.err = errShort
		}
		f.tell(f.live.cluster.final(fail))
		if f.pause(ctx, max(fail.after, f.again.next())) {
			return 0
		}
	}
}

var errShort = errors.New("the server ends the watch as soon as it starts")

// drain takes in the events of a watch until it ends, and returns how many there were,
// and why it ended where that is not as it should be.
func (f *feed) drain(w *watching, version *string) (int, error) {
	defer f.close(w)
	for n := 0; ; n++ {
		e, err := w.next()
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		f.take(e)
		if e.version != "" {
			*version = e.version
		}
	}
}

// isConnectionLost says that there is no going on from a version: it is too old, or the list is not
// there, or the server has not come so far (it was set up anew).
func isConnectionLost(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// refused says that the server will not do what it is asked, now or later.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsNotAcceptable(err) || apierrors.IsUnsupportedMediaType(err)
}

// backoff counts what failed in a row.
type backoff int

// next is how long to wait: 0.25, 0.5, 1, ... 32 seconds, give or take a half, so that
// the watches of one connection do not come back as one.
func (b *backoff) next() time.Duration {
	wait := 250 * time.Millisecond << min(*b, 7)
	*b++
	return wait/2 + rand.N(wait)
}

// relist is how long to wait where a list has to be read again: not at all at first.
func (b *backoff) relist() time.Duration {
	if *b == 0 {
		*b++
		return 0
	}
	return b.next()
}
