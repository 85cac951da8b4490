package regulate

import "time"

// Plan is what to do now, and why not the rest.
type Plan struct {
	// At is the moment it was made for.
	At time.Time
	// Steps are in the order in which they are done. Those of one Wave are done side by
	// side, the next wave after they are.
	Steps []Step
	// Pending are the steps planned for later, each with its earliest time.
	Pending []Wait
	// Refused are the signals of rules that are not sent, and why.
	Refused []Refusal
	// Apps has the status of each app.
	Apps []AppPlan
	// Seen are the observations for the journal, whether or not steps are done.
	Seen map[string]*AppRecord
	// NextCheck is when to look again although nothing changes; zero for never.
	NextCheck time.Time
}

// Verb is what a step does.
type Verb string

// The verbs.
const (
	// Send stops an app: a new hold.
	Send Verb = "Send"
	// AddCause adds causes to a hold, and Leave takes some away: nothing is written to the app.
	AddCause    Verb = "Join"
	RemoveCause Verb = "Leave"
	// Resume continues a started hold: with its signal if its Phase is Stopping, else, and where
	// it Failed, with the undo.
	Resume Verb = "Resume"
	// RecoverApp undoes the hold of an app.
	RecoverApp Verb = "Recover"
)

// Step is one thing that is done to one app.
type Step struct {
	Wave   int
	Verb   Verb
	App    string
	Signal string
	Hold   int // of the journal; 0 for a new one
	// Causes are those of a new hold, or that join or leave.
	Causes []Cause
	Why    string
	// Actions are those of the app: on the signal for Send, and those on Recover, which run
	// after the undo, for RecoverApp and Resume. Resume of a hold that is Stopping has none: its
	// operations are in the journal.
	Actions []Resolved
	// Managers are suspended first.
	Managers []Manager
}

// Wait is a step that needs a condition to last longer.
type Wait struct {
	App    string    `json:"app"`
	Signal string    `json:"signal"`
	Verb   Verb      `json:"verb"`
	Rule   string    `json:"rule,omitempty"`
	Why    string    `json:"reason"`
	Until  time.Time `json:"until"`
}

// Refusal is a signal that is not sent.
type Refusal struct {
	App     string    `json:"app"`
	Signal  string    `json:"signal"`
	Rule    string    `json:"rule,omitempty"`
	Reason  string    `json:"reason"` // one of Because...
	Message string    `json:"message"`
	Until   time.Time `json:"until,omitzero"` // zero where time does not help
}

// Why a signal is not sent.
const (
	BecauseGitOps    = "GitOps"    // a manager reverts changes of a target
	BecauseBudget    = "Budget"    // the maximum of apps is held
	BecauseHoldOff   = "HoldOff"   // it was recovered a moment ago
	BecauseDamped    = "Damped"    // it was stopped too often in the last hour
	BecauseNoAction  = "NoAction"  // it has no action for the signal, or the action is impossible
	BecauseAllowStop = "AllowStop" // the manifest does not allow it
	ReasonOverridden = "Excused"   // recovered by hand although the cause lasts
	BecauseFailed    = "Failed"    // the last try failed a moment ago
	ReasonUnread     = "NotRead"   // its state is unknown
	ReasonMissing    = "Absent"    // it is missing
	BecauseBusy      = "Busy"      // it is being recovered right now
	BecauseCause     = "Cause"     // a rule has a cause: recovering by hand needs force
	BecauseNotHeld   = "NotHeld"   // nothing of ours to undo
	ReasonConflict   = "Left"      // changed by someone else: not restored without force
)

// AppPlan is the status of an app.
type AppPlan struct {
	App string
	// State is Free, Held, Cause, or Unknown where it was stopped too often.
	State AppStatus
	Why   string
}

// AppStatus is the status of an app for regulation.
type AppStatus string

// The statuses.
const (
	NotHeld  AppStatus = "Free"
	IsHeld   AppStatus = "Held"
	IsCause  AppStatus = "Cause"
	Flapping AppStatus = "Unknown" // it flaps: rules ignore it
)
