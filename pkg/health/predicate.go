package health

import (
	"errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Predicate is a boolean expression in the language of the rules, for other questions about an
// object. It is safe for concurrent use.
type Predicate struct{ is expression }

// NewPredicate compiles an expression; field names it in errors, which are *ExpressionError.
func NewPredicate(field, text string) (*Predicate, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	compiled, refused := newExpression(env, field, text)
	if refused != nil {
		return nil, refused
	}
	return &Predicate{compiled}, nil
}

// Holds reports whether it is true of an object. For an object without a status it must be true for
// every status, as in rules. The error is that it cannot be evaluated on the object.
func (p *Predicate) Holds(o object.Object) (bool, error) {
	vars := (&subject{Object: o}).variables()
	if vars == nil {
		return false, errors.New("the object was not read in full")
	}
	return p.is.holds(vars, meter{})
}
