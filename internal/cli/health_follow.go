package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/render"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

const (
	// gathering is how long changes of a cluster are let come before it is judged again:
	// one change seldom comes alone.
	gathering = 300 * time.Millisecond
	// ripening is how often it is judged again although nothing has changed: a pod that
	// cannot be scheduled is in trouble only after a while.
	ripening = 15 * time.Second
)

// following judges again and again what is asked about, from watches.
type following struct {
	*judged
	live    *source.Live
	trouble *watching
	// was is how each stack and each part fared the last time.
	was     map[object.Ref]health.Health
	stacked map[object.Ref]health.Status
}

// follow judges what changes, until it is interrupted or as it is waited for.
func (o *healthOptions) follow(ctx context.Context, h *judged) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	live := h.session.live(ctx)
	f := &following{judged: h, live: live, trouble: &watching{c: o.common, live: live}}
	if err := h.judge(ctx); err != nil {
		return err
	}
	if o.watch {
		return f.watch(ctx)
	}
	return f.wait(ctx)
}

// watch shows how all is, and then every change.
func (f *following) watch(ctx context.Context) error {
	if f.o.human() {
		if err := f.show(ctx); err != nil {
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
func (f *following) write(changes []view.HealthChange) error {
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

// wait ends when every stack is as it is waited for. What is on the way is told on a
// terminal.
func (f *following) wait(ctx context.Context) error {
	f.trouble.said = f.graph.Gaps()
	patience, stop := context.WithTimeoutCause(ctx, f.o.timeout, errTooLong)
	defer stop()
	f.changes()
	for f.reached() != nil {
		if f.next(patience) {
			for _, c := range f.changes() {
				if f.o.env.Talk {
					fmt.Fprintln(f.o.env.ErrOut, safe(c.Line(f.home)))
				}
			}
			continue
		}
		if !errors.Is(context.Cause(patience), errTooLong) {
			return ctx.Err()
		}
		if err := f.show(ctx); err != nil {
			return err
		}
		return withHint(fmt.Errorf("%w: not so after %s", f.reached(), f.o.timeout), "kubectl sysop health --watch shows what goes on; --timeout waits longer")
	}
	return f.show(ctx)
}

var errTooLong = errors.New("the time is up")

// next judges again when something has changed, or may look otherwise by now. It is false
// when ctx has ended. What fails is told, and tried again.
func (f *following) next(ctx context.Context) bool {
	for f.trouble.await(ctx) {
		f.session = f.session.again()
		err := f.judge(ctx)
		if ctx.Err() != nil {
			return false
		}
		f.trouble.failure(err)
		f.trouble.sight()
		if err == nil {
			f.trouble.gaps(f.graph.Gaps())
			return true
		}
	}
	return false
}

// changes returns what is otherwise than the last time: parts first, in order, then
// stacks. That something is well that was not there before is no news, nor that something
// that was well is gone.
func (f *following) changes() []view.HealthChange {
	now := f.session.moment()
	is, stacked := map[object.Ref]health.Health{}, map[object.Ref]health.Status{}
	var out []view.HealthChange
	for _, id := range f.looked() {
		if h := f.assessment.Own(id); h.Status != "" {
			is[f.graph.Ref(id)] = h
		}
	}
	for _, s := range f.stacks {
		stacked[s.Name] = s.Health.Status
	}
	for ref, h := range is {
		was, known := f.was[ref]
		if h.Status == was.Status && (h.Reason == was.Reason || h.Status == health.Healthy) || !known && h.Status == health.Healthy {
			continue
		}
		out = append(out, view.HealthChange{Time: now, Object: ref, From: was.Status, To: h.Status, Reason: h.Reason, Message: h.Message})
	}
	for ref, was := range f.was {
		if _, there := is[ref]; !there && was.Status != health.Healthy {
			out = append(out, view.HealthChange{Time: now, Object: ref, From: was.Status})
		}
	}
	slices.SortFunc(out, func(a, b view.HealthChange) int { return object.Compare(a.Object, b.Object) })
	out = append(out, f.stackChanges(now, stacked)...)
	f.was, f.stacked = is, stacked
	return out
}

// looked are the objects of which changes are told: what counts for the stacks, or all.
func (f *following) looked() []graph.ID {
	ids := slices.Clone(f.objects)
	for _, s := range f.stacks {
		for _, p := range s.Health.Parts {
			if p.Counts {
				ids = append(ids, p.ID)
			}
		}
	}
	return ids
}

func (f *following) stackChanges(now time.Time, stacked map[object.Ref]health.Status) []view.HealthChange {
	var out []view.HealthChange
	for _, s := range f.stacks {
		if was := f.stacked[s.Name]; was != s.Health.Status {
			out = append(out, view.HealthChange{Time: now, Stack: view.StackName(s.Name), Object: s.Name, From: was, To: s.Health.Status, Message: f.cause(s)})
		}
	}
	for name, was := range f.stacked {
		if _, there := stacked[name]; !there {
			out = append(out, view.HealthChange{Time: now, Stack: view.StackName(name), Object: name, From: was})
		}
	}
	slices.SortStableFunc(out, func(a, b view.HealthChange) int { return object.Compare(a.Object, b.Object) })
	return out
}
