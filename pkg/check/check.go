// Package check is the engine that checks stacks and operators against published guidelines:
// the operator maturity model and the principles that CoreOS gave for operators. A finding
// names the object, the field and a remedy.
//
// A Rule is a value: its texts, and one function that checks a subject. There are three kinds
// of subject: a Definition (of a custom resource), an Operator (its workloads and their
// permissions) and a Stack (an application). A rule passes each object, reports a finding, or
// reports it as unknown with a reason. An unread object is never a finding.
//
// Rules are pure: they check what was read before, in a ClusterState. The packages below this
// one have the rules; package all has the table of them.
package check

import (
	"cmp"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Severity is how much a violation of a rule matters, on the scale of the graph's problems.
type Severity = graph.Severity

// The severities, the worst first.
const (
	// Error: it harms others, or it does not do its work.
	Error = graph.Error
	// Warning: it works, until something happens.
	Warning = graph.Warning
	// Info: a common habit that helps.
	Info = graph.Info
)

// Severities lists all of them, the worst first.
func Severities() []Severity { return graph.Severities() }

// Finding is one violation of a rule.
type Finding struct {
	// Severity is that of the rule where it is zero; a rule may set another one for a finding.
	Severity Severity `json:"severity"`
	// Object is the one to correct, or the nearest known one.
	Object object.Ref `json:"object"`
	// Field is the path in the object (spec.template.spec.containers[web].resources), and
	// Value its content; either may be empty.
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	// Message is one sentence without a full stop.
	Message string `json:"message"`
	// Remedy is what to do, Patch the same for kubectl patch, as YAML of a merge patch;
	// without either the rule's Fix applies.
	Remedy string `json:"remedy,omitempty"`
	Patch  string `json:"patch,omitempty"`
	// Related are other objects that the finding involves.
	Related []object.Ref `json:"related"`
	// Waived is the waiver that accepts the finding; nil where none does.
	Waived *Waiver `json:"-"`
}

// Unknown is something that a rule could not decide.
type Unknown struct {
	Object object.Ref `json:"object"`
	// Reason is one sentence without a full stop.
	Reason string `json:"reason"`
}

// Result is the outcome of a rule for a subject.
type Result struct {
	Rule *Rule
	// Passed are the checked objects without a finding.
	Passed []object.Ref
	// Findings are the findings, the worst first.
	Findings []Finding
	// Unknowns are what the rule could not decide.
	Unknowns []Unknown
}

// Pass records that an object was checked, and is right.
func (r *Result) Pass(ref object.Ref) { r.Passed = append(r.Passed, ref) }

// AddFinding adds a finding.
func (r *Result) AddFinding(f Finding) {
	if f.Severity == 0 {
		f.Severity = r.Rule.Severity
	}
	r.Findings = append(r.Findings, f)
}

// AddUnknown records that the rule could not decide about an object, and the reason.
func (r *Result) AddUnknown(ref object.Ref, reason string) {
	r.Unknowns = append(r.Unknowns, Unknown{Object: ref, Reason: reason})
}

// AddUnread records that the rule could not decide because the subject could not be read: what
// was not found there is not missing.
func (r *Result) AddUnread(ref object.Ref, subject string) {
	r.AddUnknown(ref, subject+" could not be read")
}

// Applies reports whether the rule had anything to check.
func (r *Result) Applies() bool { return len(r.Passed)+len(r.Findings)+len(r.Unknowns) > 0 }

// order sorts a result for output, without duplicates; an object with a finding does not pass
// as well.
func (r *Result) order() {
	slices.SortFunc(r.Findings, compareFindings)
	if len(r.Findings) > 0 {
		bad := map[object.Ref]bool{}
		for i := range r.Findings {
			bad[r.Findings[i].Object] = true
		}
		r.Passed = slices.DeleteFunc(r.Passed, func(o object.Ref) bool { return bad[o] })
	}
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
