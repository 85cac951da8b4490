package check

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Subject is one definition, operator or stack, and the results of the rules for it.
type Subject struct {
	Scope Scope
	// Ref is the definition, the operator's first workload, or the stack's reference; Name the
	// subject's name in the answer.
	Ref  object.Ref
	Name string
	// Operator is the name of a definition's operator; empty where it is unknown.
	Operator string
	// Objects are the objects of the subject, in order.
	Objects []object.Ref
	// Rules are the evaluated rules.
	Rules []Rule
	// Results are those of the rules of its scope that had anything to check, in the order of
	// Rules.
	Results []*Result
}

// Check evaluates rules for a definition.
func (d *Definition) Check(rules []Rule) *Subject {
	s := &Subject{Scope: OfDefinition, Ref: d.Ref, Name: d.CRD.Name, Objects: append([]object.Ref{d.Ref}, d.Instances...)}
	if d.Operator != nil {
		s.Operator = d.Operator.Name
	}
	s.ask(rules, func(r *Rule, result *Result) {
		if r.Definition != nil {
			r.Definition(d, result)
		}
	})
	return s
}

// Check evaluates rules for an operator.
func (o *Operator) Check(rules []Rule) *Subject {
	s := &Subject{Scope: OfOperator, Ref: o.Ref(), Name: o.Name, Objects: slices.Clone(o.Definitions)}
	for _, w := range o.Workloads {
		s.Objects = append(s.Objects, w.Ref)
	}
	s.ask(rules, func(r *Rule, result *Result) {
		switch {
		case r.Operator != nil:
			r.Operator(o, result)
		case r.Uncheckable != "":
			result.AddUnknown(o.Ref(), r.Uncheckable)
		}
	})
	return s
}

// Check evaluates rules for a stack.
func (s *Stack) Check(rules []Rule) *Subject {
	out := &Subject{Scope: OfStack, Ref: s.Ref, Name: s.Ref.String(), Objects: slices.Clone(s.Members())}
	out.ask(rules, func(r *Rule, result *Result) {
		if r.Stack != nil {
			r.Stack(s, result)
		}
	})
	return out
}

func (s *Subject) ask(rules []Rule, each func(*Rule, *Result)) {
	s.Rules = rules
	slices.SortFunc(s.Objects, object.Compare)
	result := &Result{}
	var passed [][]object.Ref // of the results so far, each once
	for i := range rules {
		result.Rule = &rules[i]
		each(result.Rule, result)
		if result.Applies() {
			result.order()
			result.Findings = slices.CompactFunc(result.Findings, func(a, b Finding) bool { return compareFindings(a, b) == 0 && a.Remedy == b.Remedy })
			buffer := result.Passed[:0]
			result.Passed, passed = sharedRefs(result.Passed, passed)
			s.Results = append(s.Results, result)
			result = &Result{Passed: buffer}
		}
	}
}

// sharedRefs returns references from a buffer as a list that lasts: most rules pass the same objects
// of a subject.
func sharedRefs(buffer []object.Ref, have [][]object.Ref) (refs []object.Ref, all [][]object.Ref) {
	if len(buffer) == 0 {
		return nil, have
	}
	if i := slices.IndexFunc(have, func(l []object.Ref) bool { return slices.Equal(l, buffer) }); i >= 0 {
		return have[i], have
	}
	refs = slices.Clone(buffer)
	return refs, append(have, refs)
}

// Report is the checked subjects and the results.
type Report struct {
	// Subjects are in the order of their scopes and names. Their findings carry their waivers.
	Subjects []*Subject
	// Rules are all that were evaluated for any subject, in the order of Rules.
	Rules []Rule
	// Unused are the waivers that waived nothing, and Malformed the pieces of annotations that
	// are not valid waivers.
	Unused    []UnusedWaiver
	Malformed []MalformedWaiver
	Gaps      []object.Gap
	// Scores are those over all subjects.
	Scores Scores
}

// NewReport applies waivers to the results for subjects: those of a file, and those of the
// annotations in the world. A waiver has expired if its last day is over at now. The world may
// be nil; then no owners are known. rules are all rules that may be waived, evaluated or not.
func NewReport(subjects []*Subject, rules []Rule, waivers []Waiver, w *ClusterState, now time.Time) *Report {
	r := &Report{Subjects: slices.Clone(subjects)}
	slices.SortStableFunc(r.Subjects, compareSubjects)
	seen := map[string]bool{}
	for _, s := range r.Subjects {
		for i := range s.Rules {
			if !seen[s.Rules[i].ID] {
				seen[s.Rules[i].ID] = true
				r.Rules = append(r.Rules, s.Rules[i])
			}
		}
	}
	if w != nil && w.Graph != nil {
		r.Gaps = w.Graph.Gaps()
	}
	waive(r, rules, waivers, w, now)
	r.Scores = Scored(r.Subjects...)
	return r
}

func compareSubjects(a, b *Subject) int {
	order := []Scope{OfOperator, OfDefinition, OfStack}
	return cmp.Or(cmp.Compare(slices.Index(order, a.Scope), slices.Index(order, b.Scope)), cmp.Compare(a.Name, b.Name), object.Compare(a.Ref, b.Ref))
}

// Worst reports whether there is a finding of a severity, or of a worse one, that is not
// waived.
func (r *Report) Worst(least Severity) bool {
	for severity, n := range r.Scores.Found {
		if n > 0 && severity <= least {
			return true
		}
	}
	return false
}
