package regulate

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
)

// Journal is the memory of regulation: what was done to the apps of a system, and what was
// observed of them. Each operation is written into it first as an intent, then with its result,
// so that a run after a kill knows what may have been done.
type Journal struct {
	System    string `json:"system"`
	Namespace string `json:"namespace"`
	// Next numbers the holds.
	Next int `json:"next"`
	// Holds are the signals that were sent and not undone, by number.
	Holds []*Hold `json:"holds,omitempty"`
	// Conflicts are fields that had been changed by others when a hold was undone, with the
	// values before: a hold each, with the operations that were not undone, the newest last. It
	// is cut at MaxConflicts. A forced recovery restores them.
	Conflicts []*Hold `json:"left,omitempty"`
	// Owned are fields that FieldManager owns without a hold, the newest last. It is cut at
	// MaxOwned.
	Owned []Owned `json:"owned,omitempty"`
	// AppRecords is what was observed of each app.
	AppRecords map[string]*AppRecord `json:"apps,omitempty"`
	// History are the closed holds, the newest last. It is cut at MaxHistory.
	History []Record `json:"history,omitempty"`

	journal.Revision `json:"-"`
}

// MaxHistory limits the records of a journal: an object of a cluster has at most 1 MiB.
const MaxHistory = 200

// AppRecord is what was observed of an app over time.
type AppRecord struct {
	// FiringSince is, by rule, since when it fires without a break; Well since when it does not.
	FiringSince map[string]time.Time `json:"trouble,omitempty"`
	ClearSince  map[string]time.Time `json:"well,omitempty"`
	// HealthyFingerprint is the fingerprint at which the app was last Healthy. Another
	// fingerprint is an upgrade, until the app is Healthy with it.
	HealthyFingerprint map[string]string `json:"settled,omitempty"`
	// Needs are the apps that it was last observed to need, by name and in order. They are kept
	// because the path to a missing app, such as from a Service to its pods, cannot be observed.
	Needs []string `json:"needs,omitempty"`
	// Stopped are the times at which rules stopped it in the last hour, Recovered is its latest
	// recovery.
	Stopped   []time.Time `json:"stopped,omitempty"`
	Recovered time.Time   `json:"recovered,omitzero"`
	// Refused is when a signal to it failed permanently: rules then pause for a while.
	Refused time.Time `json:"refused,omitzero"`
	// OverriddenCauses are causes (rule/app) that were overridden by hand: they do not hold this
	// app until they have ended once.
	OverriddenCauses []string `json:"excused,omitempty"`
}

// Phase is the progress of a hold.
type Phase string

// The phases.
const (
	// Stopping: its operations are intended, and some of them may have been done.
	Stopping Phase = "Stopping"
	// Held: all of them were done.
	Held Phase = "Held"
	// Recovering: they are being undone.
	Recovering Phase = "Recovering"
	// Conflicted: they were undone except for fields changed by others (Journal.Conflicts).
	Conflicted Phase = "Left"
)

// Hold is a signal that was sent to an app, until it has been undone.
type Hold struct {
	ID     int    `json:"id"`
	App    string `json:"app"`
	Signal string `json:"signal"`
	// Causes are why it is held; without causes it is undone.
	Causes []Cause   `json:"causes"`
	Phase  Phase     `json:"phase"`
	At     time.Time `json:"at"`
	// Failed is why it could not be done; its operations are undone then.
	Failed string `json:"failed,omitempty"`
	// OfLeft marks conflicts of a closed hold that are restored now: the app itself was
	// recovered earlier.
	OfLeft bool `json:"ofLeft,omitempty"`
	// Suspended reports that the app was Suspended before any hold.
	Suspended  bool         `json:"suspended,omitempty"`
	Operations []*Operation `json:"operations"`
}

// Cause is why an app is held: a rule and an app, a manual request, or a run.
type Cause struct {
	Rule string `json:"rule,omitempty"`
	App  string `json:"app,omitempty"`
	// RequestedBy is the user who requested it, and Run the command that runs meanwhile.
	RequestedBy string `json:"hand,omitempty"`
	Run         string `json:"run,omitempty"`
	// Why is for people: db Degraded for 31 s: StatefulSet/db: 0/1 replicas available.
	Why string    `json:"why"`
	At  time.Time `json:"at"`
	// Until is when the cause of a run ends if the run has not ended it: a killed run holds no app
	// for longer. Zero for a run without such a limit.
	Until time.Time `json:"until,omitzero"`
}

// State is the progress of an operation.
type State string

// The states.
const (
	Waiting       State = "Waiting"   // its turn has not come
	Started       State = "Intended"  // it may have been done
	Done          State = "Done"      // it was done
	AlreadySet    State = "Already"   // it had the value before: undoing leaves it
	Undoing       State = "Undoing"   // it may have been undone
	Undone        State = "Undone"    // it was undone
	HeldElsewhere State = "Kept"      // another hold wants the value, and undoes it
	Conflict      State = "Left"      // changed by someone else since: it was not undone
	TargetGone    State = "Gone"      // the object is gone, or another one has its name
	NotNeeded     State = "NotNeeded" // it was never done, or there is nothing to undo
	Failed        State = "Errored"   // it failed permanently
)

// States lists how far an operation may be.
func States() []State {
	return []State{Waiting, Started, Done, AlreadySet, Undoing, Undone, HeldElsewhere, Conflict, TargetGone, NotNeeded, Failed}
}

// Operation is one action on one object.
type Operation struct {
	// Index is that of the action in the list of the app. Operations of one index run
	// concurrently, before those of the next.
	Index  int    `json:"index"`
	Action string `json:"action"`
	Text   string `json:"text"` // for people: spec.paused = true
	Target Target `json:"target"`
	// Changes are the written values and those before; empty for job, http and exec.
	Changes []patch.Change `json:"changes,omitempty"`
	// Owners are the managers (managedFields) of the fields before, so that undoing also
	// restores ownership.
	Owners []Owner `json:"owners,omitempty"`
	// KeptOwnership are the JSON pointers of fields that FieldManager still owns after the undo.
	KeptOwnership []string `json:"stays,omitempty"`
	// Replicas is the pointer of the scaled field in the object itself, if known.
	Replicas string `json:"replicas,omitempty"`
	// Order numbers the writes over all holds: of two operations on one field, the higher one
	// was written later.
	Order int `json:"order,omitempty"`
	// OnRecover marks an action that runs after a recovery: it is not undone.
	OnRecover bool `json:"after,omitempty"`
	// ID identifies for the receiver what must not be done twice: SYSTEM/HOLD/INDEX.
	ID    string `json:"once,omitempty"`
	State State  `json:"state"`
	// Manager is the field manager of the write.
	Manager string    `json:"manager,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Result is text for people.
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
	// Subresource is the one that is written: scale.
	Subresource string `json:"subresource,omitempty"`
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

// Record is a closed hold, or a message about regulation.
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

// Holding reports whether any signal holds an app.
func (j *Journal) Holding(app string) bool {
	for _, h := range j.Holds {
		if h != nil && h.App == app {
			return true
		}
	}
	return false
}
