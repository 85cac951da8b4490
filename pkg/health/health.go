// Package health says how objects fare: each by itself, and stacks of them as a
// whole.
//
// Its words:
//
//   - Status: Healthy, Suspended, Unknown, Progressing, Missing or Degraded, as
//     Argo CD's users know them. What nothing is known to be right of is Unknown,
//     never Healthy.
//   - Own: what an object says of itself, or what follows from its own fields.
//   - Below: the worst of what it owns and needs, at any depth.
//   - Derived: the health of a custom resource that says nothing of itself is that
//     of what it owns.
//   - Cause: an object in trouble below which nothing is.
//
// A Judge judges one object at a time, by its fields alone; an Assessment puts that
// together along a graph. Nothing here reads a cluster.
//
// # Use
//
//	judge := health.NewEvaluator(now, rules...)
//	one := judge.Of(o)                               // an object by itself
//	fares := health.Assess(g, own)                   // all of a graph; own returns what was judged
//	whole := fares.Stack(g.Stack(roots, graph.StackOptions{}))
//	cause, ok := whole.Cause()
//
// Rules are expressions of CEL, of the caller or of the catalogue; [ParseRules] refuses those
// that are wrong, with their place. What was not read is not judged, and an object that
// cannot be understood is Unknown, with why in its Message: judging never fails. The time
// is given, and so the same objects have the same health.
package health

import (
	"slices"
	"time"
)

// Status is how an object fares, in one word.
type Status string

// The statuses, the best first. Known trouble is worse than what is not known: a
// stack with a broken part and one that cannot be judged is broken.
const (
	// Healthy: it does what it is there for.
	Healthy Status = "Healthy"
	// Suspended: somebody stopped it, or told its operator to leave it alone.
	Suspended Status = "Suspended"
	// Unknown: it cannot be judged.
	Unknown Status = "Unknown"
	// Progressing: it is on its way to be Healthy, or to be gone.
	Progressing Status = "Progressing"
	// Missing: it is needed, and not there.
	Missing Status = "Missing"
	// Degraded: it does not do what it is there for, and will not without help.
	Degraded Status = "Degraded"
)

// Statuses lists all of them, the best first.
func Statuses() []Status {
	return []Status{Healthy, Suspended, Unknown, Progressing, Missing, Degraded}
}

// Worse says whether s is worse than t. The empty status is better than all: nothing
// was judged.
func (s Status) Worse(t Status) bool { return s.rank() > t.rank() }

func (s Status) rank() int { return slices.Index(Statuses(), s) }

// Worst returns the worst of some; empty for none.
func Worst(statuses ...Status) Status {
	var worst Status
	for _, s := range statuses {
		if s.Worse(worst) {
			worst = s
		}
	}
	return worst
}

// Health is how one object fares, and why.
type Health struct {
	Status Status
	// Reason is one word in CamelCase: that of the object where it has one
	// (CrashLoopBackOff), else ours (NoStatus).
	Reason string
	// Message is for people: what the object or its operator says, or what was seen.
	Message string
	// Since is when it became so; zero where nothing tells.
	Since time.Time
	// Stage names the stage that judged, of Stages.
	Stage string
	// Ended says that it has run to its end and will not run again (a pod, a Job): what
	// came of it is for its owner to say.
	Ended bool
	// Unreported says that the object told nothing of its health: that of a custom
	// resource is to be derived from what it owns.
	Unreported bool
	// RuleError is set where the rule of the kind could not be evaluated, and said nothing
	// of the health for that; nil otherwise.
	RuleError *RuleError
	// History is set for what an owner keeps as the history of what it did, and for such
	// owners, where the rule of the kind says so; nil otherwise.
	History *History
}

// Reasons of our own. Others are what objects say.
const (
	// Deleting: it is being deleted.
	Deleting = "Deleting"
	// Stale: its operator has not looked at its newest generation yet.
	ReasonNotObserved = "GenerationNotObserved"
	// NoStatus: a custom resource without a status.
	NoStatus = "NoStatus"
	// NoVerdict: a status in which nothing is known to tell of health.
	NoVerdict = "NoVerdict"
	// NotUnderstood: conditions or words that are not known to be good or bad.
	NotUnderstood = "NotUnderstood"
	// Exists: of a kind that has no state of its own, so that to be there is all.
	Exists = "Exists"
	// Derived: it says nothing of itself, and has the health of what it owns.
	Derived = "Derived"
	// NotYet: it seems well, but its entry says when it is Healthy, and does not say so.
	NotYet = "NotYet"
	// ReasonNotFound: it is needed and does not exist.
	ReasonNotFound = "NotFound"
	// Unread: it could not be read.
	ReasonUnread = "NotRead"
)
