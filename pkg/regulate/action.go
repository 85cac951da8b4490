package regulate

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// The default timeouts of actions.
const (
	defaultJobTimeout  = 10 * time.Minute
	defaultHTTPTimeout = 30 * time.Second
	defaultExecTimeout = 5 * time.Minute
)

// operationID identifies an operation for its receiver: SYSTEM/HOLD/INDEX. A receiver that gets
// it twice recognizes a repetition.
func (x *run) operationID(it *item) string {
	s := fmt.Sprintf("%s/%d/%d", x.j.System, it.w.hold.ID, it.op.Index)
	if it.op.OnRecover {
		s += "/recover"
	}
	return s
}

// runAction runs an action that does not write fields: a Job, a request, a command. After a kill
// it may run twice, with the same ID.
func (x *run) runAction(ctx context.Context, it *item, act *system.Action) error {
	var result string
	var err error
	switch {
	case act.Job != nil:
		result, err = x.runJob(ctx, it, act, cmp.Or(act.Timeout, defaultJobTimeout))
	case x.DryRun:
		result = "not done in a dry run"
	case act.HTTP != nil:
		result, err = x.post(ctx, it, act.HTTP, cmp.Or(act.Timeout, defaultHTTPTimeout))
	default:
		result, err = x.command(ctx, it, act.Exec, cmp.Or(act.Timeout, defaultExecTimeout))
	}
	if err != nil {
		return err
	}
	x.end(it, Done, "%s", result)
	return nil
}

// runInverse undoes an operation by running its inverse.
func (x *run) runInverse(ctx context.Context, it *item, inverse *system.Action) error {
	o := it.op
	o.ID = x.operationID(it) + "/inverse"
	if inverse.Job == nil {
		if err := x.runAction(ctx, it, inverse); err != nil {
			return err
		}
		x.end(it, Undone, "its inverse: %s", o.Result)
		return nil
	}
	first := o.Target
	var err error
	if o.Target, err = x.jobTarget(it, inverse); err == nil {
		_, err = x.runJob(ctx, it, inverse, cmp.Or(inverse.Timeout, defaultJobTimeout))
	}
	if err == nil {
		err = x.deleteOne(ctx, o.Target)
	}
	o.Target = first
	if err == nil && first.Name != "" {
		err = x.deleteFirst(ctx, first)
	}
	if err != nil {
		return err
	}
	x.end(it, Undone, "its inverse was run")
	return nil
}

// deleteFirst deletes the Job of the operation before its inverse runs, if it exists and is of
// the System.
func (x *run) deleteFirst(ctx context.Context, t Target) error {
	ours, err := x.ownJob(ctx, t)
	if apierrors.IsNotFound(err) || err == nil && !ours {
		return nil
	}
	if err != nil {
		return err
	}
	return x.deleteOne(ctx, t)
}

// actionContext is the input of an action.
type actionContext struct {
	System    string    `json:"system"`
	Namespace string    `json:"namespace"`
	App       string    `json:"app"`
	Signal    string    `json:"signal"`
	Step      string    `json:"step"` // do, undo, or after
	Hold      int       `json:"hold"`
	Index     int       `json:"index"`
	Once      string    `json:"id"`
	Why       string    `json:"why"`
	Causes    []Cause   `json:"causes"`
	At        time.Time `json:"at"`
}

func (x *run) newActionContext(it *item) actionContext {
	h, o := it.w.hold, it.op
	step, signal := "do", h.Signal
	switch {
	case o.OnRecover:
		step, signal = "after", system.Recover
	case it.back:
		step, signal = "undo", system.Recover
	}
	return actionContext{
		System: x.j.System, Namespace: x.j.Namespace, App: h.App, Signal: signal, Step: step, Hold: h.ID, Index: o.Index,
		Once: o.ID, Why: it.w.step.Why, Causes: h.Causes, At: x.Now().UTC(),
	}
}

func (t actionContext) env() []string {
	return []string{
		"SYSOP_SYSTEM=" + t.System, "SYSOP_NAMESPACE=" + t.Namespace, "SYSOP_APP=" + t.App, "SYSOP_SIGNAL=" + t.Signal,
		"SYSOP_STEP=" + t.Step, "SYSOP_HOLD=" + strconv.Itoa(t.Hold), "SYSOP_ID=" + t.Once,
	}
}
