package health

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Evaluator judges objects. It is safe for use by several at once.
type Evaluator struct {
	now       time.Time
	entries   map[schema.GroupKind][]*entry
	assessors []Assessor
	budget    budget
}

// NewEvaluator returns a judge that knows the rules of entries besides its own. now is
// the moment that is judged: of a cluster the present one, of a snapshot that in
// which it was taken. Of two rules for a version of a kind the first one counts.
func NewEvaluator(now time.Time, rules ...Rule) *Evaluator {
	j := &Evaluator{now: now, entries: map[schema.GroupKind][]*entry{}, budget: budget{limit: maxRunCost}}
	for i := range rules {
		gk := schema.ParseGroupKind(rules[i].Kind)
		j.entries[gk] = append(j.entries[gk], &entry{rule: &rules[i], budget: budget{limit: maxRuleCost}})
	}
	return j
}

// Assessor is a rule that is not made of expressions of CEL, such as a script. It is safe
// for use by several at once.
type Assessor interface {
	// Assess returns the health of an object, and false where it has none to give. The
	// Message of what it returns with false is a note on why, and empty for an object that
	// is none of its business.
	Assess(o object.Object) (Health, bool)
}

// meter is on what a rule spends in this run.
func (j *Evaluator) meter(e *entry) meter { return meter{&j.budget, &e.budget} }

// Consult has the judge ask assessors before the rules of entries, in their order: the
// first that gives a health decides. It returns the judge.
func (j *Evaluator) Consult(assessors ...Assessor) *Evaluator {
	j.assessors = append(j.assessors, assessors...)
	return j
}

// customization judges by what assessors say of the object.
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

// stage is one way of judging. It says false where it has nothing to say, and the next
// one is asked.
type stage struct {
	name     string
	evaluate func(*Evaluator, *subject) (Health, bool)
}

// customization names the stage of the assessors.
const customization = "customization"

// stages are asked in this order.
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

// Evaluate judges an object by itself. What is there in full is a type of k8s.io/api for a
// built-in kind, and maps for a custom resource; of an object that was read as
// metadata only, little can be said.
func (j *Evaluator) Evaluate(o object.Object) Health {
	s := newSubject(o, j.now)
	h := j.ask(s)
	h.History = j.history(s)
	h.RuleError = s.failed
	return h
}

// ask asks the stages in turn.
func (j *Evaluator) ask(s *subject) Health {
	for _, stage := range stages() {
		if h, ok := stage.evaluate(j, s); ok {
			h.Stage = stage.name
			return s.noted(s.overdue(j.settle(s, s.withheld(h))))
		}
	}
	return s.noted(s.unknown())
}

// settle says Suspended of a custom resource that was told to pause and is otherwise
// said to be well, or on its way. A rule that tells suspension itself knows better, and so
// does whoever wrote an assessor.
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
