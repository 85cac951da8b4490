package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

var errTooLong = errors.New("timed out")

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
		if f.Reached() == nil && f.Refresh(limited) == nil && f.Reached() == nil {
			return f.o.show(ctx, f.HealthResult)
		}
		if !f.next(limited) {
			break
		}
		for _, c := range f.Changes() {
			if f.o.Env.Talk {
				fmt.Fprintln(f.o.Env.ErrOut, command.Safe(c.Line(f.Home)))
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
	if err := f.Refresh(ctx); err != nil {
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
