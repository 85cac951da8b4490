package health

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Evaluator evaluates the health of objects. It is safe for concurrent use.
type Evaluator struct {
	now       time.Time
	entries   map[schema.GroupKind][]*entry
	assessors []Assessor
	budget    budget
}

// NewEvaluator returns an evaluator with rules in addition to the built-in ones. now is the time of
// the evaluation: for a cluster the present, for a snapshot when it was taken. Of two rules for a
// version of a kind the first one wins.
func NewEvaluator(now time.Time, rules ...Rule) *Evaluator {
	j := &Evaluator{now: now, entries: map[schema.GroupKind][]*entry{}, budget: budget{limit: maxRunCost}}
	for i := range rules {
		gk := schema.ParseGroupKind(rules[i].Kind)
		j.entries[gk] = append(j.entries[gk], &entry{rule: &rules[i], budget: budget{limit: maxRuleCost}})
	}
	return j
}

// Assessor is a rule that is not made of CEL expressions, such as a script. It must be safe for
// concurrent use.
type Assessor interface {
	// Assess returns the health of an object, and false if it has none. The Message of a result
	// with false is a note on why, and empty if the assessor does not concern the object.
	Assess(o object.Object) (Health, bool)
}

// meter returns the budgets for a rule in this run.
func (j *Evaluator) meter(e *entry) meter { return meter{&j.budget, &e.budget} }

// Consult adds assessors that are called before the rules, in their order: the first with a health
// decides. It returns the evaluator.
func (j *Evaluator) Consult(assessors ...Assessor) *Evaluator {
	j.assessors = append(j.assessors, assessors...)
	return j
}

// customization evaluates the assessors.
func (j *Evaluator) customization(s *subject) (Health, bool) {
	for _, a := range j.assessors {
		h, ok := a.Assess(s.Object)
		if ok {
			return h, true
		}
		if h.Message != "" {
			s.notes = append(s.notes, h.Message)
		}
	}
	return Health{}, false
}

// stage is one way of evaluating an object. If it returns false, the next one follows.
type stage struct {
	name     string
	evaluate func(*Evaluator, *subject) (Health, bool)
}

// customization names the stage of the assessors.
const customization = "customization"

// stages returns the stages in their order.
func stages() [8]stage {
	return [8]stage{
		{"deletion", (*Evaluator).deletion},
		{"generation", (*Evaluator).generation},
		{customization, (*Evaluator).customization},
		{"entry", (*Evaluator).entry},
		{"kind", (*Evaluator).kind},
		{"conditions", (*Evaluator).conditions},
		{"words", (*Evaluator).words},
		{"suspension", (*Evaluator).suspension},
	}
}

// Evaluate returns the health of an object itself. A whole object has a type of k8s.io/api for a
// built-in kind, and maps for a custom resource; metadata alone says little.
func (j *Evaluator) Evaluate(o object.Object) Health {
	s := newSubject(o, j.now)
	h := j.ask(s)
	h.History = j.history(s)
	h.RuleError = s.failed
	return h
}

// ask runs the stages in order.
func (j *Evaluator) ask(s *subject) Health {
	for _, stage := range stages() {
		if h, ok := stage.evaluate(j, s); ok {
			h.Stage = stage.name
			return s.noted(s.overdue(j.settle(s, s.withheld(h))))
		}
	}
	return s.noted(s.unknown())
}

// settle returns Suspended for a custom resource with a request to pause and is otherwise Healthy or
// Progressing. A rule with its own suspended expression, and an assessor, take precedence.
func (j *Evaluator) settle(s *subject, h Health) Health {
	if !h.yields() || h.Stage == "deletion" || h.Stage == "suspension" || h.Stage == customization {
		return h
	}
	if e := j.entryOf(s); h.Stage == "entry" && e != nil && e.rule.Suspended != "" {
		return h
	}
	if stop, ok := j.suspension(s); ok {
		stop.Stage = "suspension"
		return stop
	}
	return h
}
