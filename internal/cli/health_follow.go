package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// healthFollower writes how the health of what is asked about changes.
type healthFollower struct {
	*app.HealthWatch
	o       *healthOptions
	trouble *app.WatchNotices
}

// follow evaluates again what changes, until it is interrupted or has what it waits for. The
// first state is read within opening.
func (o *healthOptions) follow(ctx, opening context.Context, h *app.HealthResult) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	live := h.Session.Live(ctx)
	f := &healthFollower{&app.HealthWatch{HealthResult: h, Live: live}, o, &app.WatchNotices{Report: o.Common, Live: live}}
	if err := f.Evaluate(opening); err != nil {
		return o.late(opening, h.Request, err)
	}
	if o.watch {
		return f.watch(ctx)
	}
	return f.wait(ctx)
}

// watch shows how all is, and then every change.
func (f *healthFollower) watch(ctx context.Context) error {
	if f.o.ForPeople() {
		if err := f.o.show(ctx, f.HealthResult); err != nil {
			return err
		}
	} else {
		f.Session.ReportGaps(f.Graph)
		if err := f.write(f.Changes()); err != nil {
			return err
		}
	}
	f.trouble.Said = f.Graph.Gaps()
	f.Changes()
	for f.next(ctx) {
		if err := f.write(f.Changes()); err != nil {
			return err
		}
	}
	return nil
}

// write writes changes: each on a line, or in YAML as a document of its own.
func (f *healthFollower) write(changes []view.HealthChange) error {
	for _, c := range changes {
		a := view.Change(c, f.Home)
		var err error
		switch f.o.Output {
		case "json":
			err = render.JSONLine(f.o.Env.Out, a.Document)
		case "yaml":
			if _, err = fmt.Fprintln(f.o.Env.Out, "---"); err == nil {
				err = f.o.Write(a)
			}
		default:
			err = f.o.WriteUnder(a, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next evaluates again after a change, or after ripening. It is false when ctx has ended. Failures
// are reported and retried.
func (f *healthFollower) next(ctx context.Context) bool {
	for f.trouble.Await(ctx) {
		err := f.Evaluate(ctx)
		if ctx.Err() != nil {
			return false
		}
		f.trouble.Failure(err)
		f.trouble.Trouble()
		if err == nil {
			f.trouble.Gaps(f.Graph.Gaps())
			return true
		}
	}
	return false
}
