package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// refreshLimit is how long the end of a wait may take to find out what is there by then.
const refreshLimit = 10 * time.Second

var (
	errTooLong = errors.New("timed out")
	errSilent  = errors.New("no answer from the API server: the last known state may be outdated")
)

// opening is the time in which a wait has to find out what there is.
func (o *healthOptions) opening(ctx context.Context, q *app.HealthRequest) (context.Context, context.CancelFunc) {
	if q.Want == "" {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.timeout, errTooLong)
}

// late says of what failed in the opening whether it did because the time was up.
func (o *healthOptions) late(opening context.Context, q *app.HealthRequest, err error) error {
	if !errors.Is(context.Cause(opening), errTooLong) {
		return err
	}
	return fmt.Errorf("wait for %s: no state after %s: the API server has not answered", q.Want, o.timeout)
}

// wait ends when every stack has the wanted status. Changes until then are shown on a
// terminal.
func (f *healthFollower) wait(ctx context.Context) error {
	f.trouble.Said = f.Graph.Gaps()
	limited, stop := context.WithTimeoutCause(ctx, f.o.timeout, errTooLong)
	defer stop()
	f.Changes()
	for {
		if f.Reached() == nil && f.refresh(limited) == nil && f.Reached() == nil {
			return f.o.show(ctx, f.HealthResult)
		}
		if !f.next(limited) {
			break
		}
		for _, c := range f.Changes() {
			if f.o.env.Talk {
				fmt.Fprintln(f.o.env.ErrOut, safe(c.Line(f.Home)))
			}
		}
	}
	if !errors.Is(context.Cause(limited), errTooLong) {
		return ctx.Err()
	}
	return f.timedOut(ctx)
}

// timedOut shows how the stacks are when the time is up, which need not be how they were
// when something was last seen to change.
func (f *healthFollower) timedOut(ctx context.Context) error {
	const wayOut = "kubectl sysop health --watch shows the changes; --timeout waits longer"
	if err := f.refresh(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return hint.With(fmt.Errorf("wait for %s: not reached after %s; now: %w", f.Request.Want, f.o.timeout, err), wayOut)
	}
	if err := f.o.show(ctx, f.HealthResult); err != nil {
		return err
	}
	if err := f.Reached(); err != nil {
		return hint.With(fmt.Errorf("%w: not reached after %s", err, f.o.timeout), wayOut)
	}
	return nil
}

// refresh evaluates the current objects, also those without a watch. The error names what cannot be
// read.
func (f *healthFollower) refresh(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, refreshLimit)
	defer stop()
	stale := f.Live.Refresh(ctx)
	if len(stale) > 0 {
		return errors.New(app.Unwatched(stale))
	}
	// An open watch does not show whether the API server still answers.
	if _, err := f.Live.Cluster().Get(ctx, "/version", nil); err != nil && !answered(err) {
		return errSilent
	}
	return f.Evaluate(ctx)
}

// answered says that an error is the answer of the API server.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
