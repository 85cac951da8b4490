package check

// Category is a section of the report.
type Category string

// The categories, in the order in which they are shown: four of the maturity model, and
// the principles of CoreOS.
const (
	Consumability Category = "consumability"
	Security      Category = "security"
	Robustness    Category = "robustness"
	Portability   Category = "portability"
	CoreOS        Category = "coreos"
)

// Categories lists all of them.
func Categories() []Category {
	return []Category{Consumability, Security, Robustness, Portability, CoreOS}
}

// Rule is one guideline as a machine can check it. Exactly one of Definition, Operator,
// Stack and Uncheckable is set.
type Rule struct {
	// ID is its name in reports and waivers: crd-schema.
	ID       string
	Category Category
	Severity Severity
	// Guidelines are its sources.
	Guidelines []Guideline
	// Title states the rule, Why the consequence of a violation, and Fix the correction;
	// sentences for people.
	Title, Why, Fix string

	Definition func(*Definition, *Result)
	Operator   func(*Operator, *Result)
	Stack      func(*Stack, *Result)
	// Uncheckable is the reason why the rule cannot be checked in a cluster.
	Uncheckable string
}

// Scope is the kind of subject that a rule checks.
type Scope string

// The scopes.
const (
	OfDefinition Scope = "definition"
	OfOperator   Scope = "operator"
	OfStack      Scope = "stack"
)

// Scope returns the kind of subject that the rule checks; an uncheckable rule belongs to
// operators.
func (r *Rule) Scope() Scope {
	switch {
	case r.Definition != nil:
		return OfDefinition
	case r.Stack != nil:
		return OfStack
	}
	return OfOperator
}
