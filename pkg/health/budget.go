package health

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// A judge judges all objects of a run, so what its rules spend is bounded as a whole: what
// somebody writes into many objects makes a rule expensive on each of them, and maxCost for
// each of 100,000 objects is hours. No single rule may leave nothing to the others.
const (
	maxRunCost  = 200 * maxCost
	maxRuleCost = maxRunCost / 4
)

// budget is what expressions may still spend, in CEL's units. It is safe for use by several
// at once; what is under way when it ends is finished.
type budget struct {
	limit uint64
	spent atomic.Uint64
}

// errSpent says that a rule was not asked. Nothing is called Healthy for that: it could be what
// the rule calls Degraded, and somebody else's objects may have spent the budget.
var errSpent = errors.New("not evaluated")

func (b *budget) isSpent() bool { return b.spent.Load() >= b.limit }

// meter evaluates expressions on the budgets of the run and of the rule. The zero value has
// none: it bounds each expression alone.
type meter struct{ run, rule *budget }

// eval evaluates an expression, unless a budget is spent.
func (m meter) eval(program cel.Program, of any) (ref.Val, error) {
	switch {
	case m.run == nil:
		out, _, err := program.Eval(of)
		return out, err
	case m.rule.isSpent():
		return nil, fmt.Errorf("%w: this rule has spent its budget of this run, %d units of CEL", errSpent, m.rule.limit)
	case m.run.isSpent():
		return nil, fmt.Errorf("%w: the health rules have spent the budget of this run, %d units of CEL", errSpent, m.run.limit)
	}
	out, details, err := program.Eval(of)
	cost := costOf(details, err)
	m.run.spent.Add(cost)
	m.rule.spent.Add(cost)
	return out, err
}

// costOf is what an evaluation cost. One that was ended for its cost has spent all it could.
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
