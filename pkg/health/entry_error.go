package health

import "fmt"

// RuleError is an expression of a rule that could not be evaluated on an object. The general stages
// evaluated the object instead.
type RuleError struct {
	// Origin is the source of the rule: catalog keda, file x.yaml.
	Origin string `json:"origin"`
	// Kind is that of the rule: Kind.group.
	Kind string `json:"-"`
	// Field is the expression: degraded, message; empty if the rule does not compile.
	Field string `json:"field,omitempty"`
	// Message is CEL's message.
	Message string `json:"message"`
}

func (e *RuleError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("the rule of %s (%s) cannot be used: %s", e.Kind, e.Origin, e.Message)
	}
	return fmt.Sprintf("the expression %s of %s (%s) fails on it: %s", e.Field, e.Kind, e.Origin, e.Message)
}
