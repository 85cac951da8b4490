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

// This loop replaces cache.Reflector and tools/watch.RetryWatcher. The first does not report that a
// watch is forbidden, and lists again and again; the second retries an expired version for ever.
// Both use a clock of their own, and write to stderr.

const (
	// pollEvery is the interval for a list that cannot be watched, or is not found.
	pollEvery = 10 * time.Second
	// refusedFor is when a forbidden list is retried: permissions rarely change.
	refusedFor = time.Minute
	// lively is how long a watch must have lasted for the backoff to reset.
	lively = 10 * time.Second
)

// feed follows one list: it lists, and watches from there on.
type feed struct {
	scope
	live     *Live
	resource object.Resource // in the version that is read
	stop     context.CancelFunc
	again    backoff
	byName   bool      // get is allowed and list is not
	tryAgain time.Time // when to retry a forbidden request that has a substitute

	first chan struct{} // closed when the first list has ended, with or without an error
	next  chan struct{} // closed when the next one has; see Refresh
	wake  func()        // ends the current pause, or the opening of a watch; nil without one
	hurry bool          // list now
	// current is set while a watch is open, so that objects is up to date.
	current bool
	// listed is when the last list began, and listErr its error.
	listed  time.Time
	listErr error

	// The mutex of live guards the fields below.

	objects map[object.Ref]object.Object // nil before the first list
	err     error                        // why objects is incomplete
	// unread are the last known objects of a list that became forbidden, and refusedAt is when it
	// did.
	unread    map[object.Ref]object.Object
	refusedAt time.Time
	// notFound counts consecutive lists that returned NotFound; looked is how many of them
	// discovery was repeated for.
	notFound, looked int
	polled           *object.Gap // why it is polled
	trouble          *object.Gap // why it is not followed at present
}

func (f *feed) run(ctx context.Context) {
	defer func() {
		if f.objects == nil { // stopped before it started
			f.publish(nil, ctx.Err())
		}
	}()
	for ctx.Err() == nil {
		begun := f.live.now()
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
		f.ended(begun, err)
		if watchable {
			wait = f.follow(ctx, version)
		}
		if wait > 0 {
			f.pause(ctx, wait)
		}
	}
}

// list reads the list, limited together with those of other feeds.
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
		f.byName = true // get may be allowed although list is not
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

// watched stores a list, and reports whether it can be watched from its version on.
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

// isDue reports whether to retry a forbidden request: permissions may be granted again.
func (f *feed) isDue() bool { return !f.tryAgain.IsZero() && !f.live.now().Before(f.tryAgain) }

// failed handles a list that could not be read, and returns when to retry. NotFound removes the
// objects, Forbidden makes them unread; if the server is not reachable they stay.
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

// follow watches, with as many watches as needed, and returns when to list again.
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
			if opened { // permissions were revoked, maybe that to list, too
				return 0
			}
			return pollEvery
		case err == nil && fresh:
			continue // a watch ends regularly
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

// drain processes the events of a watch until it ends. It returns their number, and an error unless
// it ended regularly.
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

// isConnectionLost reports whether a watch cannot continue from a version: it is too old, the list
// does not exist, or the server is behind it (it was reinstalled).
func isConnectionLost(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// refused reports whether the server will not serve the request, now or later.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsNotAcceptable(err) || apierrors.IsUnsupportedMediaType(err)
}

// backoff counts consecutive failures.
type backoff int

// next returns how long to wait: 0.25, 0.5, 1, ... 32 seconds, plus or minus a half, so that the
// watches of one connection do not reconnect at once.
func (b *backoff) next() time.Duration {
	wait := 250 * time.Millisecond << min(*b, 7)
	*b++
	return wait/2 + rand.N(wait)
}

// relist returns how long to wait before a new list: not at all the first time.
func (b *backoff) relist() time.Duration {
	if *b == 0 {
		*b++
		return 0
	}
	return b.next()
}
