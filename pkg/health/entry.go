package health

import (
	"errors"
	"sync"

	"github.com/google/cel-go/cel"
)

// Rule has the health rules of a kind, from an entry of the catalog or a user's file: CEL
// expressions that are true of an object in that state. They are evaluated in the order of the
// fields, and the first true one decides. If none is true the general stages decide; but if the
// rule has Healthy, they cannot make the object Healthy. docs/health-rules.md has the grammar.
type Rule struct {
	// Kind is written Kind.group.
	Kind string `json:"kind" read:"-"`
	// Source is the documentation of the operator's API: an address, or a path below the source of
	// the entry.
	Source string `json:"source,omitempty"`
	// Versions are the API versions of the objects; none means every one.
	Versions []string `json:"versions,omitempty" read:"versions"`

	Degraded    string `json:"degraded,omitempty" read:"expression"`
	Progressing string `json:"progressing,omitempty" read:"expression"`
	Suspended   string `json:"suspended,omitempty" read:"expression"`
	// Derived is true of an object whose health should come from what it owns, such as one that
	// copies the conditions of its Deployment without their generation.
	Derived string `json:"derived,omitempty" read:"expression"`
	Healthy string `json:"healthy,omitempty" read:"expression"`
	// Message returns a text for people; if empty, the object's conditions give it.
	Message string `json:"message,omitempty" read:"expression"`
	// Observed returns the generation of the status, as a whole number, or whether the status is
	// current; for operators that write no observedGeneration.
	Observed string `json:"observed,omitempty" read:"expression"`
	// History names kinds of owners, Kind.group or *, that keep objects of this kind as a history:
	// only the last one counts for the owner's stack.
	History []string `json:"history,omitempty" read:"owner"`
	// Revision returns a text: for an owner its current revision, for an object of its history the
	// revision that it was made for.
	Revision string `json:"revision,omitempty" read:"expression"`
	// Origin is the source of the rule: catalog cert-manager, file x.yaml.
	Origin string `json:"-"`
}

// states returns the expressions of a rule that give a health, in the order of evaluation.
func (r *Rule) states() [5]ruleState {
	return [5]ruleState{
		{"degraded", Degraded, r.Degraded},
		{"progressing", Progressing, r.Progressing},
		{"suspended", Suspended, r.Suspended},
		{"derived", "", r.Derived},
		{"healthy", Healthy, r.Healthy},
	}
}

// textExpressions returns the other expressions of a rule.
func (r *Rule) textExpressions() [3]ruleState {
	return [3]ruleState{
		{field: messageField, text: r.Message},
		{field: observedField, text: r.Observed},
		{field: revisionField, text: r.Revision},
	}
}

// ruleState is one expression of a rule, with the status if it is true.
type ruleState struct {
	field  string
	status Status
	text   string
}

// Check compiles every expression of the rule. The error is an *ExpressionError for the first that
// does not compile.
func (r Rule) Check() error {
	env, err := environment()
	if err != nil {
		return err
	}
	_, err = compile(env, &r)
	return err
}

// entry is a rule that is compiled for the first object of its kind.
type entry struct {
	rule   *Rule
	once   sync.Once
	is     compiled
	err    error
	budget budget
}

// compiled is a compiled rule. Programs are nil if the rule has no such expression.
type compiled struct {
	states                      []expression
	message, observed, revision cel.Program
}

// compile compiles the expressions of the rule.
func compile(env *cel.Env, r *Rule) (compiled, error) {
	var c compiled
	for _, s := range r.states() {
		if s.text == "" {
			continue
		}
		e, err := newExpression(env, s.field, s.text)
		if err != nil {
			err.Kind = r.Kind
			return compiled{}, err
		}
		e.status = s.status
		c.states = append(c.states, e)
	}
	for i, x := range r.textExpressions() {
		if x.text == "" {
			continue
		}
		e, err := newExpression(env, x.field, x.text)
		if err != nil {
			err.Kind = r.Kind
			return compiled{}, err
		}
		*[...]*cel.Program{&c.message, &c.observed, &c.revision}[i] = e.program
	}
	return c, nil
}

// compiled compiles the rule of an entry, once. It is safe for concurrent use.
func (e *entry) compiled() (*compiled, error) {
	e.once.Do(func() {
		env, err := environment()
		if err == nil {
			e.is, err = compile(env, e.rule)
		}
		e.err = err
	})
	return &e.is, e.err
}

// entry evaluates the rule of the kind from the catalog or a user's file. If the evaluation fails,
// the general stages decide: a failure says nothing about the object.
func (j *Evaluator) entry(s *subject) (Health, bool) {
	e := j.entryOf(s)
	if e == nil {
		return Health{}, false
	}
	c, err := e.compiled()
	if err != nil {
		s.fails(e, "", err)
		return Health{}, false
	}
	vars := s.variables()
	if vars == nil {
		return Health{}, false
	}
	for i := range c.states {
		x := &c.states[i]
		matches, err := x.holds(vars, j.meter(e))
		switch {
		case err != nil:
			s.fails(e, x.field, err)
			s.unasked = errors.Is(err, errSpent)
			return Health{}, false
		case matches && x.status == "":
			return Health{Status: Unknown, Reason: NoVerdict, Message: "its status reports no health, its parts do", Unreported: true}, true
		case matches && e.rule.constant():
			return s.exists(), true
		case matches:
			h, err := verdict(x, vars, c.message, j.meter(e))
			s.fails(e, messageField, err)
			return h, true
		}
	}
	s.notYet = e.rule.Healthy != ""
	return Health{}, false
}

// constant reports whether the rule calls every object Healthy: the kind has no state.
func (r *Rule) constant() bool {
	return r.Healthy == "true" && r.Degraded+r.Progressing+r.Suspended+r.Derived == ""
}

// fails records the first expression of the rule that could not be evaluated.
func (s *subject) fails(e *entry, field string, err error) {
	if err != nil && s.failed == nil {
		s.failed = &RuleError{Origin: e.rule.Origin, Kind: e.rule.Kind, Field: field, Message: oneLine(err.Error())}
	}
}

// withheld adjusts the health of a general stage if the rule has Healthy and it was not true: the
// object is not Healthy yet. If the rule was not evaluated, its result is unknown.
func (s *subject) withheld(h Health) Health {
	if s.unasked && h.Status == Healthy {
		return Health{Status: Unknown, Reason: NoVerdict, Message: "its health rule was not evaluated: " + s.failed.Message}
	}
	if s.notYet && h.Status == Healthy {
		h.Status, h.Reason = Progressing, NotYet
		if h.Message == "" {
			h.Message = "it does not meet its operator's health rule yet"
		}
	}
	return h
}
