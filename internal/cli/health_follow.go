package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

const (
	// gathering is how long changes of a cluster are let come before it is judged again:
	// one change seldom comes alone.
	gathering = 300 * time.Millisecond
	// ripening is how often it is judged again although nothing has changed: a pod that
	// cannot be scheduled is in trouble only after a while.
	ripening = 15 * time.Second
)

// healthFollower writes how the health of what is asked about changes.
type healthFollower struct {
	*healthWatch
	o       *healthOptions
	trouble *watchNotices
}

// follow evaluates again what changes, until it is interrupted or has what it waits for. The
// first state is read within opening.
func (o *healthOptions) follow(ctx, opening context.Context, h *healthResult) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	live := h.session.live(ctx)
	f := &healthFollower{&healthWatch{healthResult: h, live: live}, o, &watchNotices{c: o.common, live: live}}
	if err := f.evaluate(opening); err != nil {
		return o.late(opening, h.q, err)
	}
	if o.watch {
		return f.watch(ctx)
	}
	return f.wait(ctx)
}

// watch shows how all is, and then every change.
func (f *healthFollower) watch(ctx context.Context) error {
	if f.o.human() {
		if err := f.o.show(ctx, f.healthResult); err != nil {
			return err
		}
	} else {
		f.session.tell(f.graph)
		if err := f.write(f.changes()); err != nil {
			return err
		}
	}
	f.trouble.said = f.graph.Gaps()
	f.changes()
	for f.next(ctx) {
		if err := f.write(f.changes()); err != nil {
			return err
		}
	}
	return nil
}

// write writes changes: each on a line, or in YAML as a document of its own.
func (f *healthFollower) write(changes []view.HealthChange) error {
	for _, c := range changes {
		a := view.Change(c, f.home)
		var err error
		switch f.o.output {
		case "json":
			err = render.JSONLine(f.o.env.Out, a.Document)
		case "yaml":
			if _, err = fmt.Fprintln(f.o.env.Out, "---"); err == nil {
				err = f.o.write(a)
			}
		default:
			err = f.o.writeUnder(a, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next judges again when something has changed, or may look otherwise by now. It is false
// when ctx has ended. What fails is told, and tried again.
func (f *healthFollower) next(ctx context.Context) bool {
	for f.trouble.await(ctx) {
		err := f.evaluate(ctx)
		if ctx.Err() != nil {
			return false
		}
		f.trouble.failure(err)
		f.trouble.reportTrouble()
		if err == nil {
			f.trouble.gaps(f.graph.Gaps())
			return true
		}
	}
	return false
}
