package regulate

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// Journal is what was done to the apps of a system, and what was seen of them: the memory
// of regulation. What is about to be done is written into it first (an intent), what became
// of it afterwards: whoever reads it after a kill knows what may have been done.
type Journal struct {
	System    string `json:"system"`
	Namespace string `json:"namespace"`
	// Next numbers the holds.
	Next int `json:"next"`
	// Holds are the signals that were sent and not undone, in the order of their numbers.
	Holds []*Hold `json:"holds,omitempty"`
	// Conflicts is what somebody had changed when it was to be undone, and what was there
	// before: a hold each, with the operations and the fields that were left as they are, the
	// newest last. It is cut at MaxConflicts. Somebody can have it put back by force.
	Conflicts []*Hold `json:"left,omitempty"`
	// Owned are fields that are FieldManager's although nothing holds them, the newest last.
	// It is cut at MaxOwned.
	Owned []Owned `json:"owned,omitempty"`
	// AppRecords is what was seen of each app.
	AppRecords map[string]*AppRecord `json:"apps,omitempty"`
	// History is what is over, the newest last. It is cut at MaxHistory.
	History []Record `json:"history,omitempty"`

	journal.Revision `json:"-"`
}

// MaxHistory is how many records a journal keeps: an object of a cluster has 1 MiB.
const MaxHistory = 200

// AppRecord is what was seen of an app over time.
type AppRecord struct {
	// FiringSince is, by rule, since when it fires without a break; Well since when it has not.
	FiringSince map[string]time.Time `json:"trouble,omitempty"`
	ClearSince  map[string]time.Time `json:"well,omitempty"`
	// HealthyFingerprint is the fingerprint at which the app was last seen well. Another one is an
	// upgrade, until it is well with it.
	HealthyFingerprint map[string]string `json:"settled,omitempty"`
	// Needs are the apps that it was last seen to need, by name and in order. What leads to
	// an app that is gone, such as the Service in front of its pods, leads nowhere then.
	Needs []string `json:"needs,omitempty"`
	// Stopped is when it was stopped by rules in the last hour, Recovered when it was last
	// let go.
	Stopped   []time.Time `json:"stopped,omitempty"`
	Recovered time.Time   `json:"recovered,omitzero"`
	// Refused is when a signal to it failed for good: it is left alone for a while.
	Refused time.Time `json:"refused,omitzero"`
	// OverriddenCauses are causes (rule/app) that somebody overruled by hand: they do not hold this
	// app until they have been gone once.
	OverriddenCauses []string `json:"excused,omitempty"`
}

// Phase is how far a hold is.
type Phase string

// The phases.
const (
	// Stopping: its operations are intended, and some of them may have been done.
	Stopping Phase = "Stopping"
	// Held: all of them are done.
	Held Phase = "Held"
	// Recovering: they are being undone.
	Recovering Phase = "Recovering"
	// Conflicted: they have been undone but for what somebody had changed (Journal.Left).
	Conflicted Phase = "Left"
)

// Hold is a signal that was sent to an app, until it has been undone.
type Hold struct {
	ID     int    `json:"id"`
	App    string `json:"app"`
	Signal string `json:"signal"`
	// Causes are why; when there are none left it is undone.
	Causes []Cause   `json:"causes"`
	Phase  Phase     `json:"phase"`
	At     time.Time `json:"at"`
	// Failed says that it could not be done, so that what was done of it is undone.
	Failed string `json:"failed,omitempty"`
	// OfLeft says that it is what was left of a hold, which is restored now: the app was let
	// go then.
	OfLeft bool `json:"ofLeft,omitempty"`
	// Suspended says that the app was Suspended before it was held by anything.
	Suspended  bool         `json:"suspended,omitempty"`
	Operations []*Operation `json:"operations"`
}

// Cause is why an app is held: a rule and an app, or somebody by hand, or a run.
type Cause struct {
	Rule string `json:"rule,omitempty"`
	App  string `json:"app,omitempty"`
	// RequestedBy is who asked for it, and Run which command is run meanwhile.
	RequestedBy string `json:"hand,omitempty"`
	Run         string `json:"run,omitempty"`
	// Why is for people: db Degraded for 31 s: StatefulSet/db: 0/1 replicas available.
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// State is how far an operation is.
type State string

// The states.
const (
	Waiting       State = "Waiting"   // its turn has not come
	Started       State = "Intended"  // it may have been done
	Done          State = "Done"      // it was done
	AlreadySet    State = "Already"   // it was so before, by somebody else: it is not ours to undo
	Undoing       State = "Undoing"   // it may have been undone
	Undone        State = "Undone"    // it was undone
	HeldElsewhere State = "Kept"      // another hold wants it so: that one undoes it
	Conflict      State = "Left"      // somebody changed it since: it was left as it is
	TargetGone    State = "Gone"      // the object is gone, or is another one of its name
	NotNeeded     State = "NotNeeded" // it was never done, or there is nothing to undo
	Failed        State = "Errored"   // it failed for good
)

// Operation is one action on one object.
type Operation struct {
	// Index is that of the action in the app's list; operations of one index are done side
	// by side, those of the next one after them.
	Index  int    `json:"index"`
	Action string `json:"action"`
	Text   string `json:"text"` // for people: spec.paused = true
	Target Target `json:"target"`
	// Changes are what is written, and what was there before: none of job, http and exec.
	Changes []Change `json:"changes,omitempty"`
	// Owners are the managers (managedFields) of the fields before, so that ownership is
	// given back as well.
	Owners []Owner `json:"owners,omitempty"`
	// KeptOwnership are the JSON pointers of fields that stay owned by FieldManager when it has been
	// undone.
	KeptOwnership []string `json:"stays,omitempty"`
	// Replicas is the pointer of what is scaled in the object itself, where that is known.
	Replicas string `json:"replicas,omitempty"`
	// Order numbers what is written to objects, over all holds: of two operations on one
	// field the higher one was written on top of the other.
	Order int `json:"order,omitempty"`
	// OnRecover says that it belongs to what an app does when it has been recovered: it is not taken
	// back.
	OnRecover bool `json:"after,omitempty"`
	// ID names what must not be done twice, for its receiver: SYSTEM/HOLD/INDEX.
	ID    string `json:"once,omitempty"`
	State State  `json:"state"`
	// Manager is the field manager that it was written with.
	Manager string    `json:"manager,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Result is what came of it, for people.
	Result string `json:"result,omitempty"`
}

// Target is the object of an operation.
type Target struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource"` // plural
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	// Subresource is what is written through: scale.
	Subresource string `json:"subresource,omitempty"`
}

// Change is one field: what was there, and what is written.
type Change struct {
	// Path is a JSON pointer (RFC 6901).
	Path string `json:"path"`
	// ExistedBefore and Has say whether there is a field before and after; Was and Now what is in it.
	ExistedBefore bool `json:"had"`
	Before        any  `json:"was,omitempty"`
	ExistsAfter   bool `json:"has"`
	After         any  `json:"now,omitempty"`
	// CreatedParents is how many of the mappings above were made for it.
	CreatedParents int `json:"made,omitempty"`
	// Items are the names of the list items that the path goes through, by their pointers:
	// items are found again by name.
	Items map[string]string `json:"items,omitempty"`
	// Kept says that another hold wants the field as well, and undoes it.
	Kept bool `json:"kept,omitempty"`
}

// Owner is an entry of managedFields that owned a field.
type Owner struct {
	// Path is written as FieldsV1 writes its elements, each escaped as in a JSON pointer:
	// /f:spec/f:containers/k:{"name":"web"}/f:image.
	Path        string    `json:"path"`
	Manager     string    `json:"manager"`
	Operation   string    `json:"operation"`
	APIVersion  string    `json:"apiVersion"`
	Subresource string    `json:"subresource,omitempty"`
	Time        time.Time `json:"time,omitzero"`
}

// Record is something that is over: a hold, or a word about regulation.
type Record struct {
	At     time.Time `json:"at"`
	Hold   int       `json:"hold,omitempty"`
	App    string    `json:"app"`
	Signal string    `json:"signal"` // Stop, Recover, drain, ...
	Why    string    `json:"why"`
	Target string    `json:"target,omitempty"`
	Action string    `json:"action,omitempty"`
	Result string    `json:"result"`
	Error  bool      `json:"error,omitempty"`
}

// HoldOf returns the open hold of an app by a signal.
func (j *Journal) HoldOf(app, signal string) (*Hold, bool) {
	for _, h := range j.Holds {
		if h != nil && h.App == app && h.Signal == signal {
			return h, true
		}
	}
	return nil, false
}

// Holding says whether an app is held by any signal.
func (j *Journal) Holding(app string) bool {
	for _, h := range j.Holds {
		if h != nil && h.App == app {
			return true
		}
	}
	return false
}
