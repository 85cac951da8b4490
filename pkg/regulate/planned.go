package regulate

import "time"

// Plan is what is to be done now, and why the rest is not.
type Plan struct {
	// At is the moment it was made for.
	At time.Time
	// Steps are in the order in which they are done. Those of one Wave are done side by
	// side, the next wave after they are.
	Steps []Step
	// Pending are what will be done if things stay so, and when at the earliest.
	Pending []Wait
	// Refused is what a rule asks for and is not done, and why.
	Refused []Refusal
	// Apps says of each app what regulation makes of it.
	Apps []AppPlan
	// Seen is what the journal is to remember of the apps, whether or not steps are done.
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
	// Resume continues a hold that was started and not ended: with stopping where its Phase
	// is Stopping, else, and where it Failed, with taking it back.
	Resume Verb = "Resume"
	// RecoverApp lets an app go.
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
	// Actions are what the app does: on the signal for Send, on Recover for RecoverApp and for
	// Resume of what is being undone, after that has been done. Resume of what is being
	// stopped has none: the journal has its operations.
	Actions []Resolved
	// Managers are suspended first.
	Managers []Manager
}

// Wait is something that is not yet so for long enough.
type Wait struct {
	App, Signal string
	Verb        Verb
	Rule        string
	Why         string
	Until       time.Time
}

// Refusal is a signal that is not sent.
type Refusal struct {
	App, Signal, Rule string
	Reason            string // one of Because...
	Message           string
	Until             time.Time // zero where time does not help
}

// Why a signal is not sent.
const (
	BecauseGitOps    = "GitOps"    // somebody else keeps a target as it is
	BecauseBudget    = "Budget"    // as many apps are held as may be
	BecauseHoldOff   = "HoldOff"   // it was recovered a moment ago
	BecauseDamped    = "Damped"    // it was stopped too often in the last hour
	BecauseNoAction  = "NoAction"  // it does nothing on the signal, or cannot do what it says
	BecauseAllowStop = "AllowStop" // the manifest does not allow it
	ReasonOverridden = "Excused"   // somebody let it go by hand though the cause is there
	BecauseFailed    = "Failed"    // the last try failed a moment ago
	ReasonUnread     = "NotRead"   // it is not known how it is
	ReasonMissing    = "Absent"    // it is not there
	BecauseBusy      = "Busy"      // it is being recovered right now
	BecauseCause     = "Cause"     // a rule wants it held: it is not let go by hand without force
	BecauseNotHeld   = "NotHeld"   // there is nothing of ours to undo
	ReasonConflict   = "Left"      // somebody had changed it: it is not put back without force
)

// AppPlan is what regulation makes of an app.
type AppPlan struct {
	App string
	// State is Free, Held, Cause, or Unknown where it was stopped too often.
	State AppStatus
	Why   string
}

// AppStatus is what an app is to regulation.
type AppStatus string

// What an app is.
const (
	NotHeld  AppStatus = "Free"
	IsHeld   AppStatus = "Held"
	IsCause  AppStatus = "Cause"
	Flapping AppStatus = "Unknown" // it flaps: rules leave it alone
)
