package health

import (
	"fmt"
	"time"

	"github.com/google/cel-go/cel"
)

// History tells which of the objects that an owner keeps as a history is the last one. Both these
// objects and the owner have it.
type History struct {
	// Owners are the kinds of owners that keep the object so, Kind.group; * for all but its own
	// kind. It is empty for an owner.
	Owners []string
	// Revision is the owner's current one, or the one that the object was made for; empty if
	// unknown.
	Revision string
	// Made is when the object was created.
	Made time.Time
}

// history returns the result of the rule's history expressions; nil without one.
func (j *Evaluator) history(s *subject) *History {
	e := j.entryOf(s)
	if e == nil || len(e.rule.History) == 0 && e.rule.Revision == "" {
		return nil
	}
	h := &History{Owners: e.rule.History, Made: s.createdAt()}
	c, err := e.compiled()
	if err != nil || c.revision == nil {
		return h
	}
	if vars := s.variables(); vars != nil {
		h.Revision, err = say(c.revision, vars, j.meter(e))
		s.fails(e, revisionField, err)
	}
	return h
}

// observed evaluates, by the rule of its kind, whether the status is current.
func (j *Evaluator) observed(s *subject) (Health, bool) {
	e := j.entryOf(s)
	if e == nil || e.rule.Observed == "" {
		return Health{}, false
	}
	c, err := e.compiled()
	if err != nil {
		return Health{}, false // the rule is evaluated again, and reports the error then
	}
	vars := s.variables()
	if vars == nil {
		return Health{}, false
	}
	h, behind, err := behind(c.observed, vars, s.Meta.GetGeneration(), j.meter(e))
	s.fails(e, observedField, err)
	return h, behind
}

// behind reports whether the status is of an older generation than the object.
func behind(observed cel.Program, vars map[string]any, want int64, budget meter) (Health, bool, error) {
	out, err := budget.eval(observed, vars)
	if err != nil {
		return Health{}, false, err
	}
	switch seen := out.Value().(type) {
	case int64:
		if seen < want {
			return stale(seen, want, time.Time{}), true, nil
		}
	case bool:
		if !seen {
			return newHealth(Progressing, time.Time{}, ReasonNotObserved, "its status is not of the current object"), true, nil
		}
	default:
		return Health{}, false, fmt.Errorf("it gives a %s: expected an int or a bool", out.Type().TypeName())
	}
	return Health{}, false, nil
}
