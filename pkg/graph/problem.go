package graph

import (
	"cmp"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Severity is the severity of a problem.
type Severity uint8

// The severities, worst first.
const (
	// Error: something does not work, or soon will not.
	Error Severity = iota + 1
	// Warning: it works, and needs attention.
	Warning
	// Info: it may be intended.
	Info
)

// Severities lists all of them, worst first.
func Severities() []Severity { return []Severity{Error, Warning, Info} }

func (s Severity) String() string {
	return [...]string{Error: "error", Warning: "warning", Info: "info"}[s]
}

// MarshalText writes the word in documents.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is an error in an object that the graph shows: a missing owner, a dangling reference, a
// Service that selects no pod. What was not read is never a problem.
type Problem struct {
	// Object is the object with the problem.
	Object   object.Ref `json:"object"`
	Severity Severity   `json:"severity"`
	// Reason is one of Reasons.
	Reason string `json:"reason"`
	// Message says what is wrong, its effect if known, and what to do.
	Message string `json:"message"`
	// Related is the other object, if there is one.
	Related object.Ref `json:"related,omitzero"`
	// Field is the field of the object, if there is one.
	Field string `json:"field,omitempty"`
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

// Problems returns invalid owner references and references without a grant, by severity and object.
// Stack.Diagnose finds the rest.
func (g *Graph) Problems() []Problem { return g.problems }

func compareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(a.Severity, b.Severity), object.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason),
		object.Compare(a.Related, b.Related), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Field, b.Field),
	)
}
