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

// Event is a warning about an object, as often as it came.
type Event struct {
	// Reason is one word (FailedScheduling), Message is for people.
	Reason, Message string
	// Count is how often it came, at least 1.
	Count int
	// First and Last are when it came; to the second where the reporter is an old one.
	First, Last time.Time
	// Source is the component that reports it (kubelet); empty where it does not say.
	Source string
	// UID is that of the object that it is about, as far as the reporter knows it: of
	// two objects that had the name one after the other it tells which is meant. The
	// kubelet gives the name of its node instead.
	UID string
}

// storedEvent is an event as it is stored, in either of its two shapes.
type storedEvent struct {
	Event
	id      [2]string // namespace and name of the event itself
	warning bool
	about   corev1.ObjectReference
}

// coreReport reads the shape of v1. Who reports in the newer way leaves the times and
// the count of the older one empty, and the other way round.
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

// newReport reads the shape of events.k8s.io/v1.
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

// came works out how often and when.
func (r *storedEvent) came(meta metav1.ObjectMeta, at metav1.MicroTime, series eventsv1.EventSeries, count int32, first, last metav1.Time) {
	r.Count = int(max(1, count, series.Count))
	times := []time.Time{first.Time, at.Time, last.Time, series.LastObservedTime.Time}
	times = slices.DeleteFunc(times, time.Time.IsZero)
	if len(times) == 0 {
		times = []time.Time{meta.CreationTimestamp.Time}
	}
	r.First, r.Last = slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
}

// eventFilter keeps the warnings about what is wanted. A report that is there in both
// shapes, or on two pages, counts once; reports that say the same of an object are one
// event.
type eventFilter struct {
	wanted map[object.Ref]bool
	byName map[objectName][]object.Ref
	seen   map[[2]string]bool
	events map[object.Ref]map[eventKey]Event
}

// objectName is an object as a report may name it, without a group.
type objectName struct{ kind, namespace, name string }

// eventKey is what makes two reports on an object one event.
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

// subject finds what a report is about. One that does not say the group means the only
// one of that kind and name that is wanted.
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

// last returns the newest of each object, the newest first.
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

// eventsOf returns the namespaces in which events of an object are. A server takes an
// event of a cluster-scoped object in these two and no other.
func eventsOf(ref object.Ref) []string {
	switch {
	case ref.Namespace == "":
		return []string{metav1.NamespaceDefault, metav1.NamespaceSystem}
	case sendable(ref.Namespace):
		return []string{ref.Namespace}
	}
	return nil
}

// namespaces returns those that hold the events of what is wanted, in order.
func (p *eventFilter) namespaces() []string {
	in := map[string]bool{}
	for ref := range p.wanted {
		for _, ns := range eventsOf(ref) {
			in[ns] = true
		}
	}
	return slices.Sorted(maps.Keys(in))
}

// compareEvents orders events, the newest first.
func compareEvents(a, b Event) int {
	return cmp.Or(b.Last.Compare(a.Last), b.First.Compare(a.First), cmp.Compare(a.Reason, b.Reason),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Source, b.Source), cmp.Compare(a.UID, b.UID))
}
