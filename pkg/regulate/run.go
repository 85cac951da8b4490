package regulate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// defaultParallel is how many targets are written at a time.
const defaultParallel = 16

// Do runs a plan and updates the journal j, which must be loaded under the lock of ctx: when ctx
// ends nothing more is written.
//
// Steps of one wave run concurrently, and within each the operations of one index. The journal
// is written before and after them, once for all that run concurrently, so that a run after a
// kill knows which operations may have been done, and verifies them.
//
// A permanent failure (403, 404, 422) fails the hold: its operations are undone and it is
// closed. Any other failure (the API server is down for longer than half a minute) leaves it
// open and is returned, joined with those of other holds. The next plan resumes it. Later waves
// do not start.
func (r *Runner) Do(ctx context.Context, p *Plan, j *Journal) (*Outcome, error) {
	x := &run{Runner: r, j: j, out: &Outcome{}, recreated: map[*Operation]int{}, scope: scopeOf(r.World, p, j.Namespace)}
	if r.DryRun {
		x.j = j.Clone()
	}
	x.remember(p.Seen)
	if err := x.resolveStarted(ctx); err != nil {
		return x.out, err
	}
	steps := slices.Clone(p.Steps)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Wave, b.Wave) })
	for len(steps) > 0 {
		n := slices.IndexFunc(steps, func(s Step) bool { return s.Wave != steps[0].Wave })
		if n < 0 {
			n = len(steps)
		}
		if err := x.wave(ctx, steps[:n]); err != nil {
			return x.out, err
		}
		steps = steps[n:]
	}
	return x.out, x.save(ctx)
}

// run is one run of a Runner.
type run struct {
	*Runner
	j         *Journal
	out       *Outcome
	dirty     bool               // the journal has unsaved changes
	recreated map[*Operation]int // how often an object was changed concurrently
	scope     scope
	// mu guards the operations while they run concurrently: each writes its own, and reads
	// others.
	mu sync.Mutex
}

// note changes an operation while others run.
func (x *run) note(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
}

// work is a hold that is being done or undone.
type work struct {
	step Step
	hold *Hold
	done bool
	err  error // it cannot continue for now
}

func (x *run) remember(seen map[string]*AppRecord) {
	if seen == nil {
		return
	}
	before, _ := json.Marshal(x.j.AppRecords)
	x.j.Remember(seen)
	after, _ := json.Marshal(x.j.AppRecords)
	x.dirty = string(before) != string(after)
}

// save writes the journal if it has unsaved changes.
func (x *run) save(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return stopped(err)
	}
	if !x.dirty || x.DryRun {
		return nil
	}
	if err := x.Store.Save(ctx, x.j); err != nil {
		return err
	}
	x.dirty = false
	return nil
}

func stopped(err error) error {
	return fmt.Errorf("stopped before the next write: %w; the next run resumes from the journal", err)
}

// wave runs steps concurrently.
func (x *run) wave(ctx context.Context, steps []Step) error {
	var works []*work
	for i := range steps {
		if w := x.begin(&steps[i]); w != nil {
			works = append(works, w)
		}
	}
	for {
		items := x.next(works)
		if len(items) == 0 {
			break
		}
		if err := x.round(ctx, items); err != nil {
			return err
		}
	}
	if err := x.save(ctx); err != nil {
		return err
	}
	var all []error
	for _, w := range works {
		if w.err != nil {
			all = append(all, fmt.Errorf("%s of %s: %w; the next run resumes it", w.hold.Signal, w.hold.App, w.err))
		}
	}
	return errors.Join(all...)
}

// begin returns the work of a step; nil if only the journal changes.
func (x *run) begin(s *Step) *work {
	h, ok := x.j.Hold(s.Hold)
	if !ok && s.Verb == RecoverApp {
		h, ok = x.j.Reopen(s.Hold)
	}
	switch {
	case s.Verb == AddCause:
		x.dirty = x.j.AddCauses(*s) || x.dirty
		return nil
	case s.Verb == RemoveCause:
		x.dirty = x.j.RemoveCauses(*s) || x.dirty
		return nil
	case s.Verb == Send:
		ops, err := x.operations(s, s.Signal, false)
		if err != nil {
			x.j.Refuse(s.App, x.Now())
			x.dirty = true
			bad := Record{At: x.Now(), App: s.App, Signal: s.Signal, Why: s.Why, Result: "not sent: " + err.Error(), Error: true}
			x.j.AppendHistory(bad)
			x.report(bad, nil)
			return nil
		}
		suspended := x.suspended(s.App)
		h = x.j.Open(*s, ops, x.Now())
		h.Suspended = suspended
	case !ok:
		return nil // closed already by another run
	case s.Verb == RecoverApp:
		x.j.MarkRecovering(h)
	}
	x.dirty = true
	w := &work{step: *s, hold: h}
	if h.Phase == Recovering && h.Failed == "" && !h.OfLeft {
		x.afterwards(w)
	}
	return w
}

// suspended says whether an app is Suspended, and not by what holds it.
func (x *run) suspended(app string) bool {
	for _, h := range x.j.Holds {
		if h.App == app {
			return h.Suspended
		}
	}
	if x.World == nil {
		return false
	}
	state, ok := x.World.App(app)
	return ok && state.Health == health.Suspended
}

// afterwards adds what the app does when it has been recovered.
func (x *run) afterwards(w *work) {
	if slices.ContainsFunc(w.hold.Operations, func(o *Operation) bool { return o.OnRecover }) {
		return
	}
	step := w.step
	step.Managers = nil
	ops, err := x.operations(&step, "Recover", true)
	if err != nil {
		x.report(Record{At: x.Now(), Hold: w.hold.ID, App: w.hold.App, Signal: "Recover", Result: "the actions of on.Recover are skipped: " + err.Error(), Error: true}, nil)
		return
	}
	w.hold.Operations = append(w.hold.Operations, ops...)
}

// item is an operation that comes next.
type item struct {
	w  *work
	op *Operation
	// img is the object as it was read, want what is to be made of it.
	img  *liveObject
	want map[string]any
	// resumed reports that another run started the operation; unsure that a failed write of this
	// run may have arrived.
	resumed, unsure bool
	// partly: the API server dropped some fields of the write. written: the write is complete,
	// and the reaction of its operator is pending.
	partly, written bool
	// back: it is being undone.
	back bool
	// there: an earlier run wrote it, and the reaction of its operator is pending.
	there bool
	// sameObject are the operations on the same object, its own too.
	sameObject []heldOperation
	was        State // before it was read
	err        error
	record     *Record
}

// next returns the operations that come next: of each work those of one index, and of one
// object one at a time.
func (x *run) next(works []*work) []*item {
	var out []*item
	var off []*item // another hold has a started operation on the same object
	busy, all := map[string]bool{}, x.objects()
	for _, w := range works {
		if w.done || w.err != nil {
			continue
		}
		ops := w.turn()
		if len(ops) == 0 {
			x.finish(w)
			continue
		}
		for _, o := range ops {
			key := o.Target.bare().String()
			if o.Target.Name != "" && busy[key] {
				continue
			}
			it := &item{w: w, op: o, resumed: o.State == Started || o.State == Undoing, back: w.hold.Phase == Recovering && !o.OnRecover, sameObject: all[key]}
			if !it.resumed && it.waitsFor() != nil {
				off = append(off, it)
				continue
			}
			busy[key] = true
			out = append(out, it)
		}
	}
	if len(out) == 0 {
		for _, it := range off {
			h := it.waitsFor()
			it.w.err = fmt.Errorf("how far %s of %s is on %s is unknown, and that comes first", h.Signal, h.App, it.op.Target)
		}
	}
	return out
}

// turn returns the operations of a hold that come next: on the way down by index, on the way
// back in reverse, and then what is done after it.
func (w *work) turn() []*Operation {
	var open []*Operation
	for _, o := range w.hold.Operations {
		if w.hold.Phase != Recovering && !o.OnRecover && (o.State == Waiting || o.State == Started) ||
			w.hold.Phase == Recovering && !o.OnRecover && o.undoable() {
			open = append(open, o)
		}
	}
	recovering := w.hold.Phase == Recovering
	if recovering && len(open) == 0 {
		recovering = false
		for _, o := range w.hold.Operations {
			if o.OnRecover && (o.State == Waiting || o.State == Started) {
				open = append(open, o)
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	byIndex := func(a, b *Operation) int { return cmp.Compare(a.Index, b.Index) }
	at := slices.MinFunc(open, byIndex).Index
	if recovering {
		at = slices.MaxFunc(open, byIndex).Index
	}
	return slices.DeleteFunc(open, func(o *Operation) bool { return o.Index != at })
}

// undoable says that there is something left to undo, or to find out.
func (o *Operation) undoable() bool {
	return o.State == Waiting || o.State == Started || o.State == Done || o.State == Undoing
}

// finish ends a hold whose operations are all done, or all undone.
func (x *run) finish(w *work) {
	w.done, x.dirty = true, true
	h, now := w.hold, x.Now()
	sum := Record{At: now, Hold: h.ID, App: h.App, Signal: h.Signal, Why: w.step.Why}
	if h.Phase != Recovering {
		x.j.MarkHeld(h)
		sum.Result = "held: " + summary(h.Operations, false)
		x.j.AppendHistory(sum)
		return
	}
	x.out.Restored = append(x.out.Restored, h.restored()...)
	sum.Signal, sum.Result = "Recover", "recovered: "+summary(h.Operations, false)
	if after := summary(h.Operations, true); after != "nothing" {
		sum.Result += "; then " + after
	}
	if h.Failed != "" {
		sum.Signal, sum.Error, sum.Result = h.Signal, true, fmt.Sprintf("failed: %s; %s", h.Failed, summary(h.Operations, false))
	}
	records := []Record{}
	for _, o := range h.Operations {
		if o.State == Conflict || o.State == TargetGone || o.State == Failed {
			records = append(records, x.record(w, o))
		}
	}
	x.j.CloseHold(h, now, append(records, sum)...)
}

// summary counts states: 3 Done, 1 Already.
func summary(ops []*Operation, after bool) string {
	n := map[State]int{}
	for _, o := range ops {
		if o.OnRecover == after {
			n[o.State]++
		}
	}
	var out []string
	for _, s := range []State{Done, AlreadySet, Undone, NotNeeded, HeldElsewhere, TargetGone, Conflict, Failed} {
		if n[s] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

func (x *run) record(w *work, o *Operation) Record {
	signal := w.hold.Signal
	if o.OnRecover || w.hold.Phase == Recovering && w.hold.Failed == "" {
		signal = "Recover"
	}
	r := Record{At: o.At, Hold: w.hold.ID, App: w.hold.App, Signal: signal, Why: w.step.Why, Action: o.Action, Result: o.Result}
	if o.Target.Name != "" {
		r.Target = o.Target.String()
	}
	r.Error = o.State == Failed || o.State == Conflict
	return r
}

// report adds a record to the outcome and emits its event; it is nil where no operation ran.
func (x *run) report(r Record, it *item) {
	kind := journal.EventDone
	switch undoing := it != nil && (it.back || it.op.State == Undone); {
	case r.Error:
		x.out.Failed = append(x.out.Failed, r)
		if kind = journal.EventFailed; undoing {
			kind = journal.EventNotUndone
		}
	default:
		x.out.Done = append(x.out.Done, r)
		if undoing {
			kind = journal.EventUndone
		}
	}
	x.emit(kind, r, it)
}

// emit sends the event of an operation, or of an app.
func (x *run) emit(kind journal.EventKind, r Record, it *item) {
	if x.Events == nil {
		return
	}
	e := journal.Event{At: r.At, Kind: kind, Signal: r.Signal, Action: r.Action, App: r.App, Message: r.Result, Reason: r.Why}
	if it != nil && it.op.Target.Name != "" {
		e.Object = it.op.Target.eventObject()
		if it.op.State == TargetGone {
			e.Object.UID = ""
		}
	}
	x.Events(e)
}
