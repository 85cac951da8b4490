// Package health evaluates the health of objects: of each by itself, and of stacks as a whole.
//
// Its terms:
//
//   - Status: Healthy, Suspended, Unknown, Progressing, Missing or Degraded, as in Argo CD. An
//     object without any evidence of health is Unknown, never Healthy.
//   - Own: the health that an object reports, or that follows from its own fields.
//   - Below: the worst of what it owns and needs, at any depth.
//   - Derived: the health of a custom resource that reports none comes from what it owns.
//   - Cause: an object in trouble without another one below it.
//
// An Evaluator evaluates one object at a time, by its fields alone; an Assessment combines the
// results along a graph. The package does no I/O.
//
// # Use
//
//	evaluator := health.NewEvaluator(now, rules...)
//	one := evaluator.Evaluate(o)                          // an object by itself
//	assessment := health.Assess(g, own)                   // all of a graph; own returns the results
//	whole := assessment.Stack(g.Stack(roots, graph.StackOptions{}))
//	cause, ok := whole.Cause()
//
// Rules are CEL expressions, of the caller or of the catalog; [ParseRules] refuses invalid ones
// with their position. What was not read is not evaluated, and an object that cannot be understood
// is Unknown, with the reason in its Message: evaluation never fails. The time is an argument, so
// the same objects always have the same health.
package health

import (
	"slices"
	"time"
)

// Status is the health of an object, in one word.
type Status string

// The statuses, best first. Certain trouble is worse than Unknown: a stack with a broken part and
// an unknown one is broken.
const (
	// Healthy: it does what it is for.
	Healthy Status = "Healthy"
	// Suspended: it was stopped, or its operator was told to ignore it.
	Suspended Status = "Suspended"
	// Unknown: its health could not be found out.
	Unknown Status = "Unknown"
	// Progressing: it is about to become Healthy, or to be deleted.
	Progressing Status = "Progressing"
	// Missing: it is needed, and does not exist.
	Missing Status = "Missing"
	// Degraded: it does not do what it is for, and will not without intervention.
	Degraded Status = "Degraded"
)

// Statuses lists all of them, best first.
func Statuses() []Status {
	return []Status{Healthy, Suspended, Unknown, Progressing, Missing, Degraded}
}

// Worse reports whether s is worse than t. The empty status is best: nothing was evaluated.
func (s Status) Worse(t Status) bool { return s.rank() > t.rank() }

func (s Status) rank() int { return slices.Index(Statuses(), s) }

// Worst returns the worst status, or "" for none.
func Worst(statuses ...Status) Status {
	var worst Status
	for _, s := range statuses {
		if s.Worse(worst) {
			worst = s
		}
	}
	return worst
}

// Health is the health of one object, with the reason.
type Health struct {
	Status Status
	// Reason is one word in CamelCase: the object's own (CrashLoopBackOff), else one of the
	// constants below.
	Reason string
	// Message is for people: the text of the object or its operator, or an observation.
	Message string
	// Since is when the status began; zero if unknown.
	Since time.Time
	// Stage is the stage that decided.
	Stage string
	// Ended is set if it has run to its end and will not run again (a pod, a Job): its owner
	// reports the result.
	Ended bool
	// Unreported is set if the object reports no health: that of a custom resource is then derived
	// from what it owns.
	Unreported bool
	// RuleError is set if the rule of the kind could not be evaluated, and so did not decide.
	RuleError *RuleError
	// History is set for objects that an owner keeps as a history, and for such owners, by the rule
	// of the kind.
	History *History
}

// Reasons of this package. Others come from objects.
const (
	// Deleting: it is being deleted.
	Deleting = "Deleting"
	// ReasonNotObserved: its operator has not observed the newest generation yet.
	ReasonNotObserved = "GenerationNotObserved"
	// NoStatus: a custom resource without a status.
	NoStatus = "NoStatus"
	// NoVerdict: nothing in the status expresses a health.
	NoVerdict = "NoVerdict"
	// NotUnderstood: conditions or words with an unknown meaning.
	NotUnderstood = "NotUnderstood"
	// Exists: the kind has no state, so that existence is enough.
	Exists = "Exists"
	// Derived: it reports no health, and has that of what it owns.
	Derived = "Derived"
	// NotYet: it seems well, but the healthy expression of its rule is not true.
	NotYet = "NotYet"
	// ReasonNotFound: it is needed and does not exist.
	ReasonNotFound = "NotFound"
	// ReasonUnread: it could not be read.
	ReasonUnread = "NotRead"
)
