package source

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Event is a warning about an object, aggregated over its occurrences.
type Event struct {
	// Reason is one word (FailedScheduling), Message is for people.
	Reason, Message string
	// Count is the number of occurrences, at least 1.
	Count int
	// First and Last are the times of occurrence; old reporters give them to the second.
	First, Last time.Time
	// Source is the component that reports it (kubelet); empty if it does not say.
	Source string
	// UID is that of the object, if the reporter knows it: it distinguishes two objects that had
	// the same name one after the other. The kubelet sets it to the name of its node.
	UID string
}

// storedEvent is an event as it is stored, in either API version.
type storedEvent struct {
	Event
	id      [2]string // namespace and name of the event itself
	warning bool
	about   corev1.ObjectReference
}

// coreReport reads the form of v1. New reporters leave its times and count empty, and old ones
// those of events.k8s.io.
func coreReport(e *corev1.Event) storedEvent {
	r := storedEvent{
		Event: Event{Reason: e.Reason, Message: e.Message, Source: cmp.Or(e.Source.Component, e.ReportingController), UID: string(e.InvolvedObject.UID)},
		id:    [2]string{e.Namespace, e.Name}, warning: e.Type == corev1.EventTypeWarning, about: e.InvolvedObject,
	}
	series := eventsv1.EventSeries{}
	if e.Series != nil {
		series = eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	r.came(e.ObjectMeta, e.EventTime, series, e.Count, e.FirstTimestamp, e.LastTimestamp)
	return r
}

// newReport reads the form of events.k8s.io/v1.
func newReport(e *eventsv1.Event) storedEvent {
	r := storedEvent{
		Event: Event{Reason: e.Reason, Message: e.Note, Source: cmp.Or(e.DeprecatedSource.Component, e.ReportingController), UID: string(e.Regarding.UID)},
		id:    [2]string{e.Namespace, e.Name}, warning: e.Type == corev1.EventTypeWarning, about: e.Regarding,
	}
	series := eventsv1.EventSeries{}
	if e.Series != nil {
		series = *e.Series
	}
	r.came(e.ObjectMeta, e.EventTime, series, e.DeprecatedCount, e.DeprecatedFirstTimestamp, e.DeprecatedLastTimestamp)
	return r
}

// came computes the count and the times.
func (r *storedEvent) came(meta metav1.ObjectMeta, at metav1.MicroTime, series eventsv1.EventSeries, count int32, first, last metav1.Time) {
	r.Count = int(max(1, count, series.Count))
	times := []time.Time{first.Time, at.Time, last.Time, series.LastObservedTime.Time}
	times = slices.DeleteFunc(times, time.Time.IsZero)
	if len(times) == 0 {
		times = []time.Time{meta.CreationTimestamp.Time}
	}
	r.First, r.Last = slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
}

// eventFilter collects the warnings about the requested objects. An event that is listed in both
// forms, or on two pages, counts once; events of an object with the same content are merged.
type eventFilter struct {
	wanted map[object.Ref]bool
	byName map[objectName][]object.Ref
	seen   map[[2]string]bool
	events map[object.Ref]map[eventKey]Event
}

// objectName is an object as an event may name it, without a group.
type objectName struct{ kind, namespace, name string }

// eventKey is what two events on an object must share to be merged.
type eventKey struct{ reason, message, source, uid string }

func newPicker(refs []object.Ref) *eventFilter {
	p := &eventFilter{wanted: map[object.Ref]bool{}, byName: map[objectName][]object.Ref{}, seen: map[[2]string]bool{}, events: map[object.Ref]map[eventKey]Event{}}
	for _, ref := range refs {
		if !p.wanted[ref] {
			p.wanted[ref] = true
			n := objectName{ref.Kind, ref.Namespace, ref.Name}
			p.byName[n] = append(p.byName[n], ref)
		}
	}
	return p
}

func (p *eventFilter) take(r storedEvent) {
	ref, ok := p.subject(r.about)
	if !ok || !r.warning || p.seen[r.id] {
		return
	}
	p.seen[r.id] = true
	if p.events[ref] == nil {
		p.events[ref] = map[eventKey]Event{}
	}
	key := eventKey{r.Reason, r.Message, r.Source, r.UID}
	e := r.Event
	if before, ok := p.events[ref][key]; ok {
		e.Count += before.Count
		e.First = slices.MinFunc([]time.Time{e.First, before.First}, time.Time.Compare)
		e.Last = slices.MaxFunc([]time.Time{e.Last, before.Last}, time.Time.Compare)
	}
	p.events[ref][key] = e
}

// subject returns the object of an event. Without a group it is the only requested one of that kind
// and name.
func (p *eventFilter) subject(about corev1.ObjectReference) (object.Ref, bool) {
	gv, err := schema.ParseGroupVersion(about.APIVersion)
	if err != nil {
		return object.Ref{}, false
	}
	ref := object.Ref{Group: gv.Group, Kind: about.Kind, Namespace: about.Namespace, Name: about.Name}
	if about.APIVersion != "" || p.wanted[ref] {
		return ref, p.wanted[ref]
	}
	like := p.byName[objectName{about.Kind, about.Namespace, about.Name}]
	if len(like) != 1 {
		return object.Ref{}, false
	}
	return like[0], true
}

// last returns the newest events of each object, newest first.
func (p *eventFilter) last(each int) map[object.Ref][]Event {
	out := map[object.Ref][]Event{}
	for ref, events := range p.events {
		all := slices.SortedFunc(maps.Values(events), compareEvents)
		if n := min(each, len(all)); n > 0 {
			out[ref] = all[:n]
		}
	}
	return out
}

// eventsOf returns the namespaces that may have events of an object. A server accepts events of a
// cluster-scoped object only in these two.
func eventsOf(ref object.Ref) []string {
	switch {
	case ref.Namespace == "":
		return []string{metav1.NamespaceDefault, metav1.NamespaceSystem}
	case sendable(ref.Namespace):
		return []string{ref.Namespace}
	}
	return nil
}

// namespaces returns those with events of the requested objects, in order.
func (p *eventFilter) namespaces() []string {
	in := map[string]bool{}
	for ref := range p.wanted {
		for _, ns := range eventsOf(ref) {
			in[ns] = true
		}
	}
	return slices.Sorted(maps.Keys(in))
}

// compareEvents orders events, newest first.
func compareEvents(a, b Event) int {
	return cmp.Or(b.Last.Compare(a.Last), b.First.Compare(a.First), cmp.Compare(a.Reason, b.Reason),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Source, b.Source), cmp.Compare(a.UID, b.UID))
}
