package graph

import (
	"cmp"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Severity says how much a problem matters.
type Severity uint8

// The severities, the worst first.
const (
	// Error: something does not work, or soon will not.
	Error Severity = iota + 1
	// Warning: it works, and somebody should look.
	Warning
	// Info: it may well be meant so.
	Info
)

// Severities lists all of them, the worst first.
func Severities() []Severity { return []Severity{Error, Warning, Info} }

func (s Severity) String() string {
	return [...]string{Error: "error", Warning: "warning", Info: "info"}[s]
}

// MarshalText writes the word in documents.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is something about an object that is wrong or odd, as far as the graph
// can tell: an owner that is not there, a reference to nothing, a Service that
// selects no pod. What was not read is never a problem.
type Problem struct {
	// Object is the one that has it.
	Object object.Ref
	// Reason is one word, of Reasons.
	Reason   string
	Severity Severity
	// Message says what is wrong, what follows from it where that is known, and a
	// way out.
	Message string
	// Related is the other object, if there is one.
	Related object.Ref
	// Field is where the object says it, if it does.
	Field string
}

// Reasons of a Problem.
const (
	OwnerAbsent              = "OwnerAbsent"
	OwnerReplaced            = "OwnerReplaced"
	OwnerMismatch            = "OwnerMismatch"
	OwnerForeignNamespace    = "OwnerForeignNamespace"
	OwnerNamespaced          = "OwnerNamespaced"
	OwnerNotServed           = "OwnerNotServed"
	OwnerCycle               = "OwnerCycle"
	NotGranted               = "NotGranted"
	NotAllowedByListeners    = "NotAllowedByListeners"
	TwoControllers           = "TwoControllers"
	ReferenceMissing         = "ReferenceMissing"
	ReferenceMissingOptional = "ReferenceMissingOptional"
	ServiceSelectsNothing    = "ServiceSelectsNothing"
	ServiceSelectsEnded      = "ServiceSelectsEnded"
	SelectorMatchesNothing   = "SelectorMatchesNothing"
	ClaimUnmounted           = "ClaimUnmounted"
	SelectorOwnerDisagree    = "SelectorOwnerDisagree"
)

// Reasons lists all of them.
func Reasons() []string {
	return []string{
		OwnerAbsent, OwnerReplaced, OwnerMismatch, OwnerForeignNamespace, OwnerNamespaced, OwnerNotServed, OwnerCycle, NotGranted, NotAllowedByListeners, TwoControllers,
		ReferenceMissing, ReferenceMissingOptional, ServiceSelectsNothing, ServiceSelectsEnded, SelectorMatchesNothing, ClaimUnmounted, SelectorOwnerDisagree,
	}
}

// Problems returns what owner references say that cannot be so, and what is not
// granted, by severity and object. The rest is found by Stack.Diagnose.
func (g *Graph) Problems() []Problem { return g.problems }

func compareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(a.Severity, b.Severity), object.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason),
		object.Compare(a.Related, b.Related), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Field, b.Field),
	)
}
