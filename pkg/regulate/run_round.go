package regulate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// round runs operations concurrently: it reads their objects, writes the intents into the
// journal, performs them, and writes the results.
func (x *run) round(ctx context.Context, items []*item) error {
	x.each(ctx, items, x.prepare)
	if ctx.Err() != nil {
		return stopped(ctx.Err())
	}
	for _, it := range items {
		x.intend(it)
	}
	x.settleErrors(items)
	if err := x.save(ctx); err != nil {
		return err
	}
	var todo []*item
	for _, it := range items {
		// A failed hold starts no more operations.
		if it.w.err == nil && it.record == nil && (it.back || it.op.OnRecover || it.w.hold.Failed == "") && (it.op.State == Started || it.op.State == Undoing) {
			todo = append(todo, it)
		}
	}
	for _, it := range todo {
		kind, started := journal.EventStarted, x.record(it.w, it.op)
		if it.back {
			kind, started.At = journal.EventUndoing, x.Now() // the operation has the time of its hold
		}
		started.Result = ""
		x.emit(kind, started, it)
	}
	x.each(ctx, todo, x.execute)
	if ctx.Err() != nil {
		return stopped(ctx.Err())
	}
	x.settleErrors(todo)
	for _, it := range items {
		if it.record != nil {
			x.report(*it.record, it)
		}
	}
	if len(todo) > 0 {
		x.dirty = true
	}
	return x.save(ctx)
}

// each calls a function for all items, with limited concurrency.
func (x *run) each(ctx context.Context, items []*item, do func(context.Context, *item) error) {
	most := x.Parallel
	if most <= 0 {
		most = defaultParallel
	}
	slots := make(chan struct{}, most)
	var all sync.WaitGroup
	for _, it := range items {
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			it.err = do(ctx, it)
		})
	}
	all.Wait()
}

// intend writes the intents into the journal.
func (x *run) intend(it *item) {
	x.dirty = true
	o := it.op
	switch {
	case it.err != nil || it.record != nil || it.there:
	case !it.back:
		o.At, o.Manager, o.State, o.Order = x.Now(), FieldManager, Started, x.order()
		if o.Target.UID != "" && len(o.Changes) == 0 {
			x.end(it, AlreadySet, "it was set already")
		}
	case o.State == Waiting:
		x.end(it, NotNeeded, "it had not started")
	case o.State == Done, o.State == Started:
		o.State = Undoing
		if it.handOver() {
			x.end(it, HeldElsewhere, "another hold needs it, and restores it")
		}
	}
}

// order returns a number higher than that of all operations so far.
func (x *run) order() int {
	most := 0
	for _, h := range x.j.Holds {
		for _, o := range h.Operations {
			most = max(most, o.Order)
		}
	}
	return most + 1
}

// end notes what became of an operation.
func (x *run) end(it *item, s State, format string, args ...any) {
	o := it.op
	x.note(func() { o.State, o.Result, o.At = s, fmt.Sprintf(format, args...), x.Now() })
	r := x.record(it.w, o)
	it.record = &r
}

// maxStale limits consecutive conflicts on one object.
const maxStale = 8

// settleErrors applies the errors to the holds.
func (x *run) settleErrors(items []*item) {
	for _, it := range items {
		err := it.err
		it.err = nil
		switch {
		case err == nil:
		case errors.Is(err, errRecreated):
			// The intent is outdated: the object is read again.
			it.op.State = Waiting
			if x.recreated[it.op]++; x.recreated[it.op] > maxStale {
				it.w.err = fmt.Errorf("write %s: %w, %d times in a row", it.op.Target, err, maxStale)
			}
		case !isPermanent(err):
			it.w.err = err
			it.op.Result = "unknown: " + err.Error()
		case it.back:
			x.cannotTakeBack(it, err)
		case it.op.OnRecover:
			x.end(it, Failed, "%v", err)
		default:
			x.fail(it, err)
		}
	}
}

// cannotTakeBack handles an undo that the API server refuses. If a permission is missing the
// hold stays open, since it can be granted. Any other refusal is permanent.
func (x *run) cannotTakeBack(it *item, err error) {
	if apierrors.IsForbidden(err) || errors.As(err, new(*journal.PermanentError)) {
		it.w.err = err
		it.op.Result = "not undone: " + err.Error()
		bad := x.record(it.w, it.op)
		bad.Error = true
		it.record = &bad
		return
	}
	x.end(it, Conflict, "the API server rejects what was there before: %v", err)
}

// fail starts the undo of the hold.
func (x *run) fail(it *item, err error) {
	if it.unsure || it.partly || it.written {
		prefix := "it may have been done: "
		switch {
		case it.written:
			prefix = "written without effect: "
		case it.partly:
			prefix = "done in part: "
		}
		it.op.Result = prefix + err.Error()
		bad := x.record(it.w, it.op)
		bad.Error = true
		it.record = &bad
	} else {
		x.end(it, Failed, "%v", err)
	}
	if h := it.w.hold; h.Failed == "" {
		x.j.Fail(h, fmt.Sprintf("%s of %s: %v", it.op.Action, it.description(), err), x.Now())
	}
}

func (it *item) description() string {
	if it.op.Target.Name == "" {
		return it.w.hold.App
	}
	return it.op.Target.String()
}
