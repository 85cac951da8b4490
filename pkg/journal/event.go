package journal

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EventKind says what an Event reports.
type EventKind string

// The kinds of events. An event without a Step and without a Signal is about the whole run.
const (
	EventStarted   EventKind = "Started"
	EventDone      EventKind = "Done"
	EventWaiting   EventKind = "Waiting"
	EventUndoing   EventKind = "Undoing"
	EventUndone    EventKind = "Undone"
	EventNotUndone EventKind = "NotUndone"
	EventFailed    EventKind = "Failed"
	EventNoted     EventKind = "Noted"
)

// Event is one message of the stream of a run (docs/schema/event.json). Runners emit it, and
// terminals, documents and Kubernetes Events ([Recorder]) are its receivers.
type Event struct {
	At   time.Time `json:"at"`
	Kind EventKind `json:"kind"`
	// Signal is what is sent to an app of a System (Stop, Recover); empty for an installation.
	Signal string `json:"signal,omitempty"`
	// Action is what a step does, or the run: upgrade, upgrade-release, pause.
	Action string `json:"action,omitempty"`
	// App is the app of a System, or the part of an installation.
	App string `json:"app,omitempty"`
	// Step is the ID of the step of an installation.
	Step string `json:"step,omitempty"`
	// Object is what is changed, where it is one object.
	Object  *EventObject `json:"object,omitempty"`
	Message string       `json:"message,omitempty"`
	// Reason is the cause of a signal.
	Reason string `json:"reason,omitempty"`
}

// EventObject refers to an object. Its UID is empty if it does not exist.
type EventObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// String is KIND.GROUP/NAMESPACE/NAME; a nil object is empty.
func (o *EventObject) String() string {
	if o == nil {
		return ""
	}
	gv, err := schema.ParseGroupVersion(o.APIVersion)
	if err != nil || o.Kind == "" {
		return strings.TrimSpace(o.Kind + " " + o.Name)
	}
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return gv.WithKind(o.Kind).GroupKind().String() + "/" + name
}

// FanOut returns a receiver that hands each event to all receivers, in their order; nil receivers
// are left out.
func FanOut(receivers ...func(Event)) func(Event) {
	return func(e Event) {
		for _, receive := range receivers {
			if receive != nil {
				receive(e)
			}
		}
	}
}

// WaitingForLock returns the event of a run that waits for the lock of an installation or System.
func WaitingForLock(name, holder string, since time.Time) Event {
	message := fmt.Sprintf("for the lock of %s: %s holds it", name, holder)
	if !since.IsZero() {
		message += " since " + since.UTC().Format(time.RFC3339)
	}
	return Event{At: time.Now(), Kind: EventWaiting, Message: message}
}
