package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// eventsResource are the Events that a Recorder creates.
var eventsResource = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}

const (
	// maxNote, maxWord and maxObjectName are limits of the API, in bytes.
	maxNote, maxWord, maxObjectName = 1024, 128, 253
	// maxQueued limits the queue; further Events are dropped.
	maxQueued = 2048
	// senders is how many Events are sent concurrently.
	senders = 4
	// eventTimeout limits one Event.
	eventTimeout = 5 * time.Second
)

// RecorderOptions are the options of a Recorder.
type RecorderOptions struct {
	// Controller is the reportingController of the Events and their field manager. Instance
	// identifies this process (Holder).
	Controller, Instance string
	// About is what events without an existing object are recorded about; nil for not at all.
	About *EventObject
	// Warn is called once, with the first error; it may be nil.
	Warn func(string)
}

// Recorder is a receiver of the events of runs: it writes Events of events.k8s.io/v1 about their
// objects, in the namespaces of these (those of cluster-scoped objects in default). It never
// blocks its caller. A failure is no error: it is reported once.
type Recorder struct {
	client  dynamic.NamespaceableResourceInterface
	options RecorderOptions

	queue   chan *eventsv1.Event
	pending sync.WaitGroup
	once    sync.Once // of the warning

	mu     sync.Mutex
	refuse map[string]bool // namespaces in which Events may not be written
	closed bool
}

// NewRecorder returns an event recorder. Flush ends it.
func NewRecorder(config *rest.Config, o RecorderOptions) (*Recorder, error) {
	client, err := dynamic.NewForConfig(Quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach events: %w", err)
	}
	return newRecorder(client, o), nil
}

func newRecorder(client dynamic.Interface, o RecorderOptions) *Recorder {
	o.Instance = Truncate(o.Instance, maxWord)
	t := &Recorder{client: client.Resource(eventsResource), options: o, queue: make(chan *eventsv1.Event, maxQueued), refuse: map[string]bool{}}
	for range senders {
		go t.work()
	}
	return t
}

// flushing is how long the Events of a run may take at its end.
const flushing = 5 * time.Second

// Record returns a receiver that hands events to emit and to a new Recorder, and what ends that at
// the end of the run. A warning of the Recorder is an event too.
func Record(config *rest.Config, o RecorderOptions, emit func(Event)) (receive func(Event), flush func()) {
	var one sync.Mutex // the Recorder warns at any time
	emit = FanOut(emit)
	locked := func(e Event) {
		one.Lock()
		defer one.Unlock()
		emit(e)
	}
	o.Warn = func(reason string) { locked(Event{At: time.Now(), Kind: EventNoted, Message: reason}) }
	t, err := NewRecorder(config, o)
	if err != nil {
		o.Warn(err.Error())
		return emit, func() {}
	}
	return FanOut(locked, t.Receive), func() {
		ctx, stop := context.WithTimeout(context.Background(), flushing)
		defer stop()
		t.Flush(ctx)
	}
}

// Receive queues an Event about an event, unless that is a note. Of steps and signals only the end
// is recorded. It returns at once, and what was done is recorded also if the run was interrupted.
func (t *Recorder) Receive(e Event) {
	about := e.Object
	if about == nil || about.UID == "" {
		about = t.options.About
	}
	single := e.Signal != "" || e.Step != ""
	if about == nil || e.Kind == EventNoted || e.Kind == EventWaiting || e.Kind == EventUndoing || e.Kind == EventStarted && single {
		return
	}
	queued := t.event(*about, e)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.refuse[queued.Namespace] {
		return
	}
	t.pending.Add(1)
	select {
	case t.queue <- queued:
	default:
		t.pending.Done()
		t.failed(fmt.Errorf("more than %d are waiting", maxQueued))
	}
}

// Flush waits until the queue is empty or the context ends, and ends the event recorder.
func (t *Recorder) Flush(ctx context.Context) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	t.mu.Unlock()
	close(t.queue) // Receive holds the lock while it reads closed
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.pending.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		t.failed(fmt.Errorf("they took too long"))
	}
}

func (t *Recorder) work() {
	for e := range t.queue {
		t.send(e)
		t.pending.Done()
	}
}

func (t *Recorder) send(e *eventsv1.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	_, err := t.client.Namespace(e.Namespace).Create(ctx, Unstructured(e), metav1.CreateOptions{FieldManager: t.options.Controller})
	switch {
	case err == nil, apierrors.IsAlreadyExists(err): // the same Event was written before
		return
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return // the namespace does not exist yet, or is being deleted
	case apierrors.IsForbidden(err):
		t.mu.Lock()
		t.refuse[e.Namespace] = true
		t.mu.Unlock()
	}
	t.failed(err)
}

func (t *Recorder) failed(err error) {
	t.once.Do(func() {
		if t.options.Warn != nil {
			t.options.Warn(fmt.Sprintf("some events could not be written: %v", err))
		}
	})
}

// event creates an Event. Its name is derived from its content, so that equal Events are written
// once.
func (t *Recorder) event(about EventObject, from Event) *eventsv1.Event {
	namespace := about.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	reason, action, note := string(from.Kind), from.Action, from.Message
	if from.Signal != "" {
		reason = from.Signal
	}
	if from.Step != "" {
		note = strings.TrimSuffix(from.Step+": "+note, ": ")
	}
	if from.Reason != "" {
		note += ": " + from.Reason
	}
	e := &eventsv1.Event{
		TypeMeta:            metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"},
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace},
		EventTime:           metav1.NewMicroTime(from.At),
		ReportingController: t.options.Controller,
		ReportingInstance:   t.options.Instance,
		Type:                corev1.EventTypeNormal,
		Reason:              Truncate(reason, maxWord),
		Action:              Truncate(action, maxWord),
		Note:                Truncate(note, maxNote),
		Regarding:           corev1.ObjectReference{APIVersion: about.APIVersion, Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, UID: types.UID(about.UID)},
	}
	if from.Kind == EventFailed || from.Kind == EventNotUndone {
		e.Type = corev1.EventTypeWarning
	}
	if e.Action == "" {
		e.Action = e.Reason // required by the API
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{
		about.APIVersion, about.Kind, about.Namespace, about.Name, about.UID, e.Type, e.Reason, e.Action, e.Note, t.options.Instance, e.EventTime.UTC().Format(time.RFC3339Nano),
	}, "\x00")))
	mark := "." + hex.EncodeToString(sum[:8])
	e.Name = strings.TrimRight(strings.ReplaceAll(about.Name, ":", "."), ".")
	if most := maxObjectName - len(mark); len(e.Name) > most {
		e.Name = strings.TrimRight(e.Name[:most], ".-")
	}
	e.Name += mark
	return e
}

// Truncate returns at most n bytes of s, whole runes, and says by three dots that it was cut.
func Truncate(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	const dots = "..."
	end := 0
	for i := range s {
		if i > n-len(dots) {
			break
		}
		end = i
	}
	return s[:end] + dots
}
