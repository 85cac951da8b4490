package health

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// An Evaluator evaluates all objects of a run, so the cost of its rules is limited as a whole:
// hostile content in many objects can make a rule expensive on each of them, and maxCost for each
// of 100,000 objects is hours. No single rule may use up the budget of the others.
const (
	maxRunCost  = 200 * maxCost
	maxRuleCost = maxRunCost / 4
)

// budget is the remaining cost of expressions, in CEL's units. It is safe for concurrent use; an
// evaluation that runs when it is used up completes.
type budget struct {
	limit uint64
	spent atomic.Uint64
}

// errSpent reports that a rule was not evaluated. The object must not become Healthy by that: the
// rule might call it Degraded, and other objects may have used up the budget.
var errSpent = errors.New("not evaluated")

func (b *budget) isSpent() bool { return b.spent.Load() >= b.limit }

// meter evaluates expressions on the budgets of the run and of the rule. The zero value limits each
// expression alone.
type meter struct{ run, rule *budget }

// eval evaluates an expression, unless a budget is used up.
func (m meter) eval(program cel.Program, vars any) (ref.Val, error) {
	switch {
	case m.run == nil:
		out, _, err := program.Eval(vars)
		return out, err
	case m.rule.isSpent():
		return nil, fmt.Errorf("%w: this rule has spent its budget of this run, %d units of CEL", errSpent, m.rule.limit)
	case m.run.isSpent():
		return nil, fmt.Errorf("%w: the health rules have spent the budget of this run, %d units of CEL", errSpent, m.run.limit)
	}
	out, details, err := program.Eval(vars)
	cost := costOf(details, err)
	m.run.spent.Add(cost)
	m.rule.spent.Add(cost)
	return out, err
}

// costOf returns the cost of an evaluation; maxCost for one that was aborted.
func costOf(details *cel.EvalDetails, err error) uint64 {
	if _, ended := errors.AsType[interpreter.EvalCancelledError](err); ended {
		return maxCost
	}
	if details == nil {
		return 0
	}
	if cost := details.ActualCost(); cost != nil {
		return *cost
	}
	return 0
}
