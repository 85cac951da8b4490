package regulate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The default timeout for the reaction of an operator to a signal.
const defaultReactTimeout = 2 * time.Minute

// reaction is what a run waits for after it wrote a signal. An operator older than the release
// that first reads the signal ignores it, and the object is not really held.
type reaction struct {
	signal  signals.Signal
	is      *health.Predicate
	timeout time.Duration
}

// reactionTo returns what the run waits for after a write by an action; nil for nothing: the
// action is no preset, the catalogue knows of no status that says it, the write is a dry run,
// or it is done when the app has been recovered.
func (x *run) reactionTo(o *Operation, act *system.Action) (*reaction, error) {
	if act == nil || act.Preset == "" || o.OnRecover || x.DryRun {
		return nil, nil
	}
	s, err := x.signalOf(o.Target, act.Preset)
	if err != nil {
		return nil, permanent("%w", err)
	}
	if s.Reacted == "" {
		return nil, nil
	}
	predicate, err := health.NewPredicate(signals.ReactedField, s.Reacted)
	if err != nil {
		return nil, permanent("the signal %s of %s: %w", s.Preset, s.Kind, err)
	}
	return &reaction{s, predicate, cmp.Or(act.Timeout, defaultReactTimeout)}, nil
}

// awaits says that a write of an operation is done only when the operator has reacted.
func (x *run) awaits(it *item) bool {
	act, err := x.actionOf(it)
	if err != nil {
		return false // the hold that resumes it reports it
	}
	r, err := x.reactionTo(it.op, act)
	return r != nil || err != nil
}

// await waits until the status of the object shows that its operator reacted. It returns a note
// for the result, empty where it does not wait.
func (x *run) await(ctx context.Context, it *item, act *system.Action) (string, error) {
	r, err := x.reactionTo(it.op, act)
	if r == nil || err != nil {
		return "", err
	}
	it.written = true
	t := it.op.Target.bare()
	done, err := x.poll(ctx, t, r.timeout, func(o *unstructured.Unstructured) (bool, error) {
		if string(o.GetUID()) != t.UID {
			return false, permanent("%s was replaced by another object", t)
		}
		// An expression that fails counts as false: the status is written piece by piece.
		holds, err := r.is.Holds(object.Object{Ref: t.Ref(), Version: t.gvk().Version, Meta: o, Body: o})
		return holds && err == nil, nil
	})
	switch {
	case apierrors.IsNotFound(err):
		return "", permanent("%s was deleted before its operator reacted", t)
	case err != nil:
		return "", fmt.Errorf("wait until the operator of %s reacts: %w", t, err)
	case !done:
		return "", r.failure(t)
	}
	return "; its operator reacted", nil
}

// failure reports that the operator did not react, with the likely reason.
func (r *reaction) failure(t Target) error {
	reason := "it does not run, or is overloaded"
	if r.signal.Since != "" {
		reason = "it is likely older than " + r.signal.Since + ", the release that first reads this, or it does not run"
	}
	return permanent("its operator did not react to %s of %s within %s: %s", r.signal.Preset, t, r.timeout, reason)
}
