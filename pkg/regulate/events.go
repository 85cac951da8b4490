package regulate

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

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

var eventsResource = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}

// Controller is the reportingController of Events.
const Controller = "sysop.dev/regulate"

const (
	// maxNote, maxWord and maxObjectName are limits of the API, in bytes.
	maxNote, maxWord, maxObjectName = 1024, 128, 253
	// maxQueued limits the queue; further Events are dropped.
	maxQueued = 2048
	// tellers is how many Events are sent concurrently.
	tellers = 4
	// eventTimeout limits one Event.
	eventTimeout = 5 * time.Second
)

// APIEventRecorder writes Events of events.k8s.io/v1 about targets, in their namespaces (those
// of cluster-scoped targets in default). It never blocks its caller. A failure is no error: it
// is reported once.
type APIEventRecorder struct {
	client   dynamic.NamespaceableResourceInterface
	instance string
	warn     func(string)
	// Now tells the time; it is time.Now unless set before the first Tell.
	Now func() time.Time

	queue   chan *eventsv1.Event
	pending sync.WaitGroup
	once    sync.Once // of the warning

	mu     sync.Mutex
	refuse map[string]bool // namespaces in which Events may not be written
	closed bool
}

// NewEventRecorder returns an event recorder. instance identifies this process (Holder); warn is
// called once, with the first error. Flush ends it.
func NewEventRecorder(config *rest.Config, instance string, warn func(string)) (*APIEventRecorder, error) {
	client, err := dynamic.NewForConfig(journal.Quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach events: %w", err)
	}
	return newEventRecorder(client, instance, warn), nil
}

func newEventRecorder(client dynamic.Interface, instance string, warn func(string)) *APIEventRecorder {
	t := &APIEventRecorder{
		client: client.Resource(eventsResource), instance: truncated(instance, maxWord), warn: warn, Now: time.Now,
		queue: make(chan *eventsv1.Event, maxQueued), refuse: map[string]bool{},
	}
	for range tellers {
		go t.work()
	}
	return t
}

// Record queues an Event about a target: its reason (Stopped, Recovered), the action, and a note
// for people. It does not wait for the context: what was done is recorded also when the run was
// interrupted.
func (t *APIEventRecorder) Record(_ context.Context, about Target, warning bool, reason, action, note string) {
	e := t.event(about, warning, reason, action, note)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.refuse[e.Namespace] {
		return
	}
	t.pending.Add(1)
	select {
	case t.queue <- e:
	default:
		t.pending.Done()
		t.failed(fmt.Errorf("more than %d are waiting", maxQueued))
	}
}

// Flush waits until the queue is empty or the context ends, and ends the event recorder.
func (t *APIEventRecorder) Flush(ctx context.Context) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	t.mu.Unlock()
	close(t.queue) // Record holds the lock while it reads closed
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

func (t *APIEventRecorder) work() {
	for e := range t.queue {
		t.send(e)
		t.pending.Done()
	}
}

func (t *APIEventRecorder) send(e *eventsv1.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	_, err := t.client.Namespace(e.Namespace).Create(ctx, journal.Unstructured(e), metav1.CreateOptions{FieldManager: FieldManager})
	switch {
	case err == nil, apierrors.IsAlreadyExists(err): // the same Event was written before
		return
	case apierrors.IsForbidden(err):
		t.mu.Lock()
		t.refuse[e.Namespace] = true
		t.mu.Unlock()
	}
	t.failed(err)
}

func (t *APIEventRecorder) failed(err error) {
	t.once.Do(func() {
		if t.warn != nil {
			t.warn(fmt.Sprintf("some events could not be written: %v", err))
		}
	})
}

// event creates an Event. Its name is derived from its content, so that equal Events are written
// once.
func (t *APIEventRecorder) event(about Target, warning bool, reason, action, note string) *eventsv1.Event {
	namespace := about.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	e := &eventsv1.Event{
		TypeMeta:            metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"},
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace},
		EventTime:           metav1.NewMicroTime(t.Now()),
		ReportingController: Controller,
		ReportingInstance:   t.instance,
		Type:                corev1.EventTypeNormal,
		Reason:              truncated(reason, maxWord),
		Action:              truncated(action, maxWord),
		Note:                truncated(note, maxNote),
		Regarding:           corev1.ObjectReference{APIVersion: about.APIVersion, Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, UID: types.UID(about.UID)},
	}
	if warning {
		e.Type = corev1.EventTypeWarning
	}
	if e.Action == "" {
		e.Action = e.Reason // required by the API
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{
		about.APIVersion, about.Kind, about.Namespace, about.Name, about.UID, e.Type, e.Reason, e.Action, e.Note, t.instance, e.EventTime.UTC().Format(time.RFC3339Nano),
	}, "\x00")))
	mark := "." + hex.EncodeToString(sum[:8])
	e.Name = strings.TrimRight(strings.ReplaceAll(about.Name, ":", "."), ".")
	if most := maxObjectName - len(mark); len(e.Name) > most {
		e.Name = strings.TrimRight(e.Name[:most], ".-")
	}
	e.Name += mark
	return e
}
