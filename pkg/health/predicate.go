package health

import (
	"errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Predicate is an expression in the language of the rules that is true or false of an object,
// for who wants to know one thing of it. It is safe for use by several at once.
type Predicate struct{ is expression }

// NewPredicate compiles an expression; field names it in errors, which are *ExpressionError.
func NewPredicate(field, text string) (*Predicate, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	is, refused := newExpression(env, field, text)
	if refused != nil {
		return nil, refused
	}
	return &Predicate{is}, nil
}

// Holds says whether it is true of an object. Where the object has no status it is so only if
// it is true whatever the status will be, as of rules. The error is that it cannot be
// evaluated on the object.
func (p *Predicate) Holds(o object.Object) (bool, error) {
	of := (&subject{Object: o}).variables()
	if of == nil {
		return false, errors.New("the object was not read in full")
	}
	return p.is.holds(of, meter{})
}
