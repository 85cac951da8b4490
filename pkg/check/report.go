package check

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Subject is one definition, operator or stack, and what the rules say of it.
type Subject struct {
	Scope Scope
	// Ref is the definition, the operator's first workload, or what the stack is called;
	// Name what the subject is called in the answer.
	Ref  object.Ref
	Name string
	// Results are those of the rules of its scope that had anything to look at, in the
	// order of Rules.
	Results []*Result
}

// Check asks the rules of a definition.
func (d *Definition) Check(rules []Rule) *Subject {
	s := &Subject{Scope: OfDefinition, Ref: d.Ref, Name: d.CRD.Name}
	s.ask(rules, func(r *Rule, result *Result) {
		if r.Definition != nil {
			r.Definition(d, result)
		}
	})
	return s
}

// Check asks the rules of an operator.
func (o *Operator) Check(rules []Rule) *Subject {
	s := &Subject{Scope: OfOperator, Ref: o.Ref(), Name: o.Name}
	s.ask(rules, func(r *Rule, result *Result) {
		switch {
		case r.Operator != nil:
			r.Operator(o, result)
		case r.Uncheckable != "":
			result.Unknown(o.Ref(), r.Uncheckable)
		}
	})
	return s
}

// Check asks the rules of a stack.
func (s *Stack) Check(rules []Rule) *Subject {
	out := &Subject{Scope: OfStack, Ref: s.Ref, Name: s.Ref.String()}
	out.ask(rules, func(r *Rule, result *Result) {
		if r.Stack != nil {
			r.Stack(s, result)
		}
	})
	return out
}

func (s *Subject) ask(rules []Rule, each func(*Rule, *Result)) {
	for i := range rules {
		result := &Result{Rule: &rules[i]}
		each(result.Rule, result)
		if result.Applies() {
			result.order()
			s.Results = append(s.Results, result)
		}
	}
}
