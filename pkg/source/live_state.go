package source

import (
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// take processes one event.
func (f *feed) take(e change) {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	old, present := f.objects[e.object.Ref]
	switch e.event {
	case watch.Bookmark:
		return
	case watch.Deleted:
		delete(f.objects, e.object.Ref)
		if !present {
			return
		}
	default:
		f.objects[e.object.Ref] = e.object
		if present && same(old, e.object) {
			return
		}
	}
	l.signal()
}

// publish replaces the objects.
func (f *feed) publish(objects map[object.Ref]object.Object, err error) {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if objects == nil {
		objects = map[object.Ref]object.Object{}
	}
	begun := f.objects != nil
	f.remember(err)
	changed := !maps.EqualFunc(f.objects, objects, same) || (f.err == nil) != (err == nil)
	f.objects, f.err = objects, err
	l.reached = l.reached || err == nil
	switch {
	case !begun:
		close(f.first) // a Read may wait for it
	case changed:
		l.signal()
	}
}

// remember keeps the objects of a list that became forbidden as unread, until it can be read again
// or they are known to be deleted.
func (f *feed) remember(err error) {
	f.notFound++
	if !apierrors.IsNotFound(err) {
		f.notFound, f.looked = 0, 0
	}
	switch {
	case err == nil, apierrors.IsNotFound(err):
		f.unread = nil
	case refused(err) && f.err == nil && f.objects != nil:
		f.unread, f.refusedAt = f.objects, f.live.now()
	}
}

// same reports whether two objects of one name are the same, unchanged.
func same(a, b object.Object) bool {
	return a.Meta.GetUID() == b.Meta.GetUID() && a.Meta.GetResourceVersion() == b.Meta.GetResourceVersion() && a.Meta.GetResourceVersion() != ""
}

// tell records that the feed cannot be followed, or with nil that it can.
func (f *feed) tell(err error) {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	was := f.trouble != nil
	f.trouble = nil
	if err != nil {
		g := gap(f.resource, f.ns, err)
		f.trouble = &g
	}
	if was != (err != nil) {
		l.signal()
	}
}

// poll records that a list is polled.
func (f *feed) poll(cause error) {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	f.polled = &object.Gap{Resource: f.resource.String(), Namespace: f.ns, Reason: "NotWatched", Message: fmt.Sprintf(
		"cannot watch, polling every %s instead: %s", pollEvery, say(cause))}
	if refused(cause) {
		f.tryAgain = l.now().Add(refusedFor)
	}
	l.signal()
}

// unpoll records that a list is watched after all.
func (f *feed) unpoll() {
	l := f.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.polled != nil {
		f.polled, f.tryAgain = nil, time.Time{}
		l.signal()
	}
}

func (f *feed) isPolled() bool {
	f.live.mu.Lock()
	defer f.live.mu.Unlock()
	return f.polled != nil
}

// isComplete reports whether objects has all objects, at least as of the last contact.
func (f *feed) isComplete() bool {
	f.live.mu.Lock()
	defer f.live.mu.Unlock()
	return f.objects != nil && f.err == nil
}

// listSink stores the objects of one list.
type listSink struct{ objects map[object.Ref]object.Object }

func (h *listSink) Add(o object.Object)            { h.objects[o.Ref] = o }
func (h *listSink) Reset(schema.GroupKind, string) { clear(h.objects) }
func (h *listSink) Cover(schema.GroupKind, string) {}
func (h *listSink) Absent(object.Ref)              {}
func (h *listSink) Gap(object.Gap)                 {}
