package regulator

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Watcher plans and applies whenever something changes in the cluster.
type Watcher struct {
	session *Session
	request ApplyRequest
	live    *source.Live
	notices *app.WatchNotices
	Metrics *Metrics
	// Applied is called with each result; it may be nil, and so may be the next two. An error of
	// it ends the turn.
	Applied func(*Result) error
	// Refused is called for what the rules require and what is not done, once while that lasts.
	Refused func(*regulate.Refusal)
	// Drifted is called for changes that others made to held objects, once while they last.
	Drifted func(*regulate.Drift)

	// readOnly applies nothing, and recoverOnly sends no signal.
	readOnly, recoverOnly bool
	refused, drifted      map[string]bool
}

// NewWatcher returns a watcher of the apps of a session.
func (b *Session) NewWatcher(r ApplyRequest) *Watcher {
	return &Watcher{session: b, request: r, notices: &app.WatchNotices{Report: b.In.Report}, Metrics: NewMeter(b.Namespace, b.System.Name)}
}

// Elect runs the watcher while it is the elected one, until ctx ends. It calls waiting with the
// holder while another one is.
func (w *Watcher) Elect(ctx context.Context, waiting func(holder string, since time.Time), elected func()) error {
	b := w.session
	o := b.leaseOptions()
	o.Waiting = waiting
	election, err := regulate.NewElection(b.Config, b.System.Name, b.Namespace, o)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		// A process that loses the election joins it again.
		err := election.Do(ctx, func(ctx context.Context) error {
			elected()
			return w.Run(ctx, nil)
		})
		w.notices.Failure(err)
	}
	return ctx.Err()
}

// Run continues until done returns true for a plan after which nothing was left to do, or ctx ends;
// a nil done never does.
func (w *Watcher) Run(ctx context.Context, done func(*regulate.Plan) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	s := w.session.Session
	cluster := s.Source
	w.live = s.Live(ctx)
	w.notices.Live = w.live
	defer func() { w.session.Session.Source = cluster }()
	for {
		p, err := w.turn(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.notices.Failure(err)
		w.notices.Trouble()
		w.Metrics.Turned(w.session.Journal, p, w.session.State, err)
		if p != nil {
			w.reportRefused(p)
		}
		if err == nil { // else what is held may be unknown
			w.reportDrift(ctx)
			w.notices.Gaps(w.session.Graph.Gaps())
			if done != nil && done(p) {
				return nil
			}
		}
		if err := w.next(ctx, p); err != nil {
			return err
		}
	}
}

// next waits until something has changed, or a rule may have become due.
func (w *Watcher) next(ctx context.Context, p *regulate.Plan) error {
	pause := app.Ripening
	if p != nil && !p.NextCheck.IsZero() {
		pause = min(pause, max(p.NextCheck.Sub(w.session.In.Now()), app.Gathering))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	case <-w.live.Changed():
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(app.Gathering):
		return nil
	}
}

// turn observes, plans and applies once.
func (w *Watcher) turn(ctx context.Context) (*regulate.Plan, error) {
	b := w.session
	if err := b.Observe(ctx); err != nil {
		return nil, err
	}
	p := w.plan()
	if w.readOnly || len(p.Steps) == 0 && reflect.DeepEqual(b.Journal.AppRecords, p.Seen) {
		return p, nil
	}
	d := &Result{}
	err := b.locked(ctx, func(ctx context.Context) error {
		// Another process may have acted since.
		if err := b.readJournal(ctx); err != nil {
			return err
		}
		p = w.plan()
		out, err := b.execute(ctx, p, w.request)
		d.Plan, d.Outcome = p, out
		return err
	})
	if d.Outcome != nil {
		w.Metrics.Observe(d.Outcome)
		if w.Applied != nil {
			if err := w.Applied(d); err != nil {
				return p, err
			}
		}
	}
	return p, err
}

// plan plans what the rules require.
func (w *Watcher) plan() *regulate.Plan {
	b := w.session
	p := regulate.NewPlan(b.State, b.System, b.Journal, b.In.Now())
	if w.recoverOnly {
		p.Steps = slices.DeleteFunc(p.Steps, func(s regulate.Step) bool { return s.Verb == regulate.Send || s.Verb == regulate.AddCause })
	}
	return p
}

func (w *Watcher) reportRefused(p *regulate.Plan) {
	if w.Refused == nil {
		return
	}
	now := map[string]bool{}
	for i := range p.Refused {
		r := &p.Refused[i]
		key := r.Signal + " " + r.App + " " + r.Rule + " " + r.Reason // The message has times in it.
		now[key] = true
		if !w.refused[key] {
			w.Refused(r)
		}
	}
	w.refused = now
}

func (w *Watcher) reportDrift(ctx context.Context) {
	if w.Drifted == nil || w.session.Compare(ctx) != nil || ctx.Err() != nil {
		return
	}
	now := map[string]bool{}
	for i := range w.session.Drifts {
		d := &w.session.Drifts[i]
		key := d.Target.String() + " " + d.App + " " + d.Text()
		if now[key] = true; !w.drifted[key] {
			w.Drifted(d)
		}
	}
	w.drifted = now
}
