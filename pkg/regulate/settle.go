package regulate

import "context"

// heldOperation is an operation that wrote, or may have written, to an object, with its hold.
type heldOperation struct {
	hold *Hold
	op   *Operation
}

// objects lists the operations on fields of all open holds, by object. Operations on one object
// never run concurrently, so each may read the others.
func (x *run) objects() map[string][]heldOperation {
	out := map[string][]heldOperation{}
	for _, h := range x.j.Holds {
		for _, o := range h.Operations {
			if o.writesFields() && o.Target.UID != "" {
				key := o.Target.bare().String()
				out[key] = append(out[key], heldOperation{h, o})
			}
		}
	}
	return out
}

// resolveStarted finds and records the results of operations of an earlier run that are unknown.
// It only reads. Later operations on the same objects then know the values before. A result that
// cannot be read stays unknown, and no other operation writes to that object meanwhile.
func (x *run) resolveStarted(ctx context.Context) error {
	all := x.objects()
	var items []*item
	for _, h := range x.j.Holds {
		for _, o := range h.Operations {
			if (o.State == Started || o.State == Undoing) && o.writesFields() && o.Target.UID != "" && x.checkScope(o) == nil {
				w := &work{hold: h, step: Step{Why: whys(h.Causes)}}
				items = append(items, &item{w: w, op: o, sameObject: all[o.Target.bare().String()]})
			}
		}
	}
	for len(items) > 0 {
		// One at a time for an object: a known result helps with the next.
		var now, later []*item
		busy := map[string]bool{}
		for _, it := range items {
			if key := it.op.Target.bare().String(); busy[key] {
				later = append(later, it)
			} else {
				busy[key] = true
				now = append(now, it)
			}
		}
		x.each(ctx, now, x.settleOne)
		if ctx.Err() != nil {
			return stopped(ctx.Err())
		}
		for _, it := range now {
			x.dirty = x.dirty || it.op.State != it.was
			if it.record != nil {
				x.report(*it.record, it)
			}
		}
		items = later
	}
	return nil
}

func (x *run) settleOne(ctx context.Context, it *item) error {
	it.was = it.op.State
	img, err := x.read(ctx, it.op.Target)
	if err != nil {
		return nil // the hold that resumes it reports it
	}
	it.img = img
	if it.op.State == Undoing {
		x.settleBack(it)
		return nil
	}
	o := it.op
	switch seen := x.look(it); {
	case seen == writtenByUs:
		x.adoptLive(it)
		if it.w.hold.Phase == Recovering {
			o.State = Done
			return nil
		}
		if x.awaits(it) {
			return nil // written: the resuming hold waits for its operator
		}
		x.end(it, Done, "%s", o.Text)
	case it.w.hold.Phase == Recovering:
		return nil // there is nothing to continue, and what is undone says why
	case seen == writtenByOther:
		x.end(it, AlreadySet, "it was set by someone else")
	default:
		o.State = Waiting // what was written down of it is written again
	}
	return nil
}

// settleBack says of what may have been undone that it was not, where all of it is as we
// wrote it. Else its owners may not have been told, and it is continued.
func (x *run) settleBack(it *item) {
	o := it.op
	if string(it.img.main.GetUID()) != o.Target.UID {
		return
	}
	stands := false
	for _, c := range unkept(o.Changes) {
		now, was := c.Compare(it.img.fields())
		if !now {
			return
		}
		stands = stands || !was
	}
	if stands {
		o.State = Done
	}
}

// waitsFor returns the hold that another one has to wait for: it may have written to the same
// object, or restored only part of it.
func (it *item) waitsFor() *Hold {
	for _, b := range it.sameObject {
		if b.hold != it.w.hold && (b.op.State == Started || b.op.State == Undoing) {
			return b.hold
		}
	}
	return nil
}
