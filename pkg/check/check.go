// Package check holds stacks and operators against the guidelines of the field: the
// operator maturity model and the principles that CoreOS gave for operators. It says what
// it found, on which object and field, and a way out.
//
// A Rule is a value: its words, and one function that looks at a subject. There are three
// kinds of subject: a Definition (of a custom resource), an Operator (what runs it, and
// what it may do) and a Stack (an application). A rule says of each thing that it looked
// at whether it is right, wrong, or could not be decided, and why. What was not read is
// never wrong.
//
// Rules are pure: what they look at was read before, and is kept in a World.
package check

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Severity says how much it matters that a rule is not kept, in the words in which the
// graph's problems are told.
type Severity = graph.Severity

// The severities, the worst first.
const (
	// Error: others are harmed, or it does not do its work.
	Error = graph.Error
	// Warning: it works, until something happens.
	Warning = graph.Warning
	// Info: a habit that others have, and that helps.
	Info = graph.Info
)

// Severities lists all of them, the worst first.
func Severities() []Severity { return graph.Severities() }

// Finding is one thing that is not as a rule wants it.
type Finding struct {
	// Severity is that of the rule, where it is zero; a rule may find something milder or
	// graver than what it mostly finds.
	Severity Severity `json:"severity"`
	// Object is the one to mend, or the nearest that is known.
	Object object.Ref `json:"object"`
	// Field is the path in the object (spec.template.spec.containers[web].resources), and Value
	// what it holds; empty for nothing.
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	// Message says what is wrong, in one sentence without a full stop.
	Message string `json:"message"`
	// Remedy is what to do, Patch the same for kubectl patch, as YAML of a merge patch; of
	// either there may be none, then the rule's Fix stands.
	Remedy string `json:"remedy,omitempty"`
	Patch  string `json:"patch,omitempty"`
	// Related are other objects that have to do with it.
	Related []object.Ref `json:"related"`
	// Waived is set where somebody said that it is to be so.
	Waived *Waiver `json:"-"`
}

// Unknown is something that a rule could not decide.
type Unknown struct {
	Object object.Ref `json:"object"`
	// Reason says what is unknown, in one sentence without a full stop.
	Reason string `json:"reason"`
}

// Result is what a rule says of a subject.
type Result struct {
	Rule *Rule
	// Passed are the objects that were looked at and are as they should be.
	Passed []object.Ref
	// Findings are the findings, the worst first.
	Findings []Finding
	// Unknowns are what could not be decided.
	Unknowns []Unknown
}

// Pass says that an object was looked at, and is right.
func (r *Result) Pass(ref object.Ref) { r.Passed = append(r.Passed, ref) }

// AddFinding says that something is wrong.
func (r *Result) AddFinding(f Finding) {
	if f.Severity == 0 {
		f.Severity = r.Rule.Severity
	}
	r.Findings = append(r.Findings, f)
}

// AddUnknown says that something could not be decided, and why.
func (r *Result) AddUnknown(ref object.Ref, why string) {
	r.Unknowns = append(r.Unknowns, Unknown{Object: ref, Reason: why})
}

// Applies says whether the rule had anything to look at.
func (r *Result) Applies() bool { return len(r.Passed)+len(r.Findings)+len(r.Unknowns) > 0 }

// order puts a result in the order in which it is shown, each thing once: an object that
// is wrong is not right as well.
func (r *Result) order() {
	slices.SortFunc(r.Findings, compareFindings)
	bad := map[object.Ref]bool{}
	for i := range r.Findings {
		bad[r.Findings[i].Object] = true
	}
	r.Passed = slices.DeleteFunc(r.Passed, func(o object.Ref) bool { return bad[o] })
	slices.SortFunc(r.Passed, object.Compare)
	r.Passed = slices.Compact(r.Passed)
	slices.SortFunc(r.Unknowns, func(a, b Unknown) int {
		return cmp.Or(object.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	r.Unknowns = slices.Compact(r.Unknowns)
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Severity, b.Severity), object.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field),
		cmp.Compare(a.Value, b.Value), cmp.Compare(a.Message, b.Message),
	)
}
