package health

import (
	"errors"
	"sync"

	"github.com/google/cel-go/cel"
)

// Rule is what an entry of the catalog, or a user's file, says of the health of a
// kind: expressions of CEL that are true of an object in that state. They are tried in
// the order of the fields, and the first that is true decides. Where none is true the
// general stages are asked; but what an entry with a Healthy does not call healthy is
// not called healthy by them either. docs/health-rules.md has the grammar.
type Rule struct {
	// Kind is written Kind.group.
	Kind string `json:"kind" read:"-"`
	// Source says where the operator's API documents this: an address, or a path below the
	// source of the entry.
	Source string `json:"source,omitempty"`
	// Versions are the API versions of the objects that the rule is for; none means every one.
	Versions []string `json:"versions,omitempty" read:"versions"`

	Degraded    string `json:"degraded,omitempty" read:"expression"`
	Progressing string `json:"progressing,omitempty" read:"expression"`
	Suspended   string `json:"suspended,omitempty" read:"expression"`
	// Derived is true of an object that what it owns says more of than its own status, such
	// as one that copies the conditions of its Deployment and not their generation.
	Derived string `json:"derived,omitempty" read:"expression"`
	Healthy string `json:"healthy,omitempty" read:"expression"`
	// Message is an expression that gives a text for people; empty for what the object's
	// conditions say.
	Message string `json:"message,omitempty" read:"expression"`
	// Observed is an expression that gives the generation that the status is of, as a whole
	// number, or says whether the status is of the object as it is; for operators that write
	// no observedGeneration.
	Observed string `json:"observed,omitempty" read:"expression"`
	// History names kinds of owners, Kind.group or *, that keep objects of this kind as the
	// history of what they did: of these only the last one says how the owner's stack is.
	History []string `json:"history,omitempty" read:"owner"`
	// Revision is an expression that gives a text: of an owner the revision that it is at,
	// of what it keeps as history the revision that it was made for.
	Revision string `json:"revision,omitempty" read:"expression"`
	// Origin says whose rule it is: catalog cert-manager, file x.yaml.
	Origin string `json:"-"`
}

// states are the expressions of a rule for the health states, in the order in which they
// are evaluated.
func (r *Rule) states() [5]ruleState {
	return [5]ruleState{
		{"degraded", Degraded, r.Degraded},
		{"progressing", Progressing, r.Progressing},
		{"suspended", Suspended, r.Suspended},
		{"derived", "", r.Derived},
		{"healthy", Healthy, r.Healthy},
	}
}

// textExpressions are the expressions of a rule that say something else of an object.
func (r *Rule) textExpressions() [3]ruleState {
	return [3]ruleState{
		{field: messageField, text: r.Message},
		{field: observedField, text: r.Observed},
		{field: revisionField, text: r.Revision},
	}
}

// ruleState is one expression of a rule, and what it means where it is true.
type ruleState struct {
	field  string
	status Status
	text   string
}

// Check compiles every expression of the rule. The error is an *ExpressionError for
// the first that does not compile.
func (r Rule) Check() error {
	env, err := environment()
	if err != nil {
		return err
	}
	_, err = compile(env, &r)
	return err
}

// entry is a rule, compiled when the first object of its kind comes.
type entry struct {
	rule   *Rule
	once   sync.Once
	is     compiled
	err    error
	budget budget
}

// compiled is a rule that can be asked. Programs are nil where the rule has no such
// expression.
type compiled struct {
	states                      []expression
	message, observed, revision cel.Program
}

// compile compiles the expressions that the rule has.
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

// compiled compiles the rule of an entry, once. It is safe for use by several at once.
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

// entry evaluates the rule of the catalog, or of a user's file, for the kind. A rule that
// cannot be evaluated on the object leaves it to the general stages: it says neither
// that the object is well nor that it is not.
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
	of := s.variables()
	if of == nil {
		return Health{}, false
	}
	for i := range c.states {
		x := &c.states[i]
		is, err := x.holds(of, j.meter(e))
		switch {
		case err != nil:
			s.fails(e, x.field, err)
			s.unasked = errors.Is(err, errSpent)
			return Health{}, false
		case is && x.status == "":
			return Health{Status: Unknown, Reason: NoVerdict, Message: "its status reports no health, its parts do", Unreported: true}, true
		case is && e.rule.constant():
			return s.exists(), true
		case is:
			h, err := verdict(x, of, c.message, j.meter(e))
			s.fails(e, messageField, err)
			return h, true
		}
	}
	s.notYet = e.rule.Healthy != ""
	return Health{}, false
}

// constant says that the rule calls every object Healthy: the kind has no state.
func (r *Rule) constant() bool {
	return r.Healthy == "true" && r.Degraded+r.Progressing+r.Suspended+r.Derived == ""
}

// fails notes that an expression of the rule could not be evaluated; the first one is reported.
func (s *subject) fails(e *entry, field string, err error) {
	if err != nil && s.failed == nil {
		s.failed = &RuleError{Origin: e.rule.Origin, Kind: e.rule.Kind, Field: field, Message: oneLine(err.Error())}
	}
}

// withheld is the health that a general stage gave, where the entry of the kind says
// when it is Healthy and did not say so: then it is not Healthy yet. Where the entry was not
// asked, what it would have said is not known.
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
