// Package check is the engine that checks stacks and operators against published guidelines:
// the operator maturity model and the principles that CoreOS gave for operators. A finding
// names the object, the field and a remedy.
//
// A Rule is a value: its words, and one function that checks a subject. There are three
// kinds of subject: a Definition (of a custom resource), an Operator (what runs it, and what
// it may do) and a Stack (an application). A rule says of each object whether it passes, is
// wrong, or is unknown, and why. What was not read is never wrong.
//
// Rules are pure: what they check was read before, and is kept in a ClusterState. The
// packages below this one have the rules, package all the table of them.
package check

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Severity says how much it matters that a rule is not kept, on the scale of the graph's
// problems.
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
	// Severity is that of the rule, where it is zero; a rule may find something less or more
	// severe than it mostly does.
	Severity Severity `json:"severity"`
	// Object is the one to correct, or the nearest that is known.
	Object object.Ref `json:"object"`
	// Field is where it is in the object (spec.template.spec.containers[web].resources), and
	// Value its content; empty where it has none.
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	// Message says what is wrong, in one sentence without a full stop.
	Message string `json:"message"`
	// Remedy is what to do, Patch the same for kubectl patch, as YAML of a merge patch;
	// without either the rule's Fix counts.
	Remedy string `json:"remedy,omitempty"`
	Patch  string `json:"patch,omitempty"`
	// Related are other objects that have to do with it.
	Related []object.Ref `json:"related"`
	// Waived is the waiver that accepts the finding; nil where none does.
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
	// Passed are the objects that were checked and are right.
	Passed []object.Ref
	// Findings are the findings, the worst first.
	Findings []Finding
	// Unknowns are what could not be decided.
	Unknowns []Unknown
}

// Pass says that an object was checked, and is right.
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

// AddUnread says that something could not be decided, because what is named could not be
// read: what was not found there is not missing.
func (r *Result) AddUnread(ref object.Ref, what string) { r.AddUnknown(ref, what+" could not be read") }

// Applies says whether the rule had anything to check.
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
