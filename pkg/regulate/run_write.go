package regulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errRecreated reports that the object changed since the intent was written, so the intent is
// wrong.
var errRecreated = errors.New("it was changed meanwhile")

// prepare reads the object of an operation, and stores the intent in the operation. It writes
// nothing.
func (x *run) prepare(ctx context.Context, it *item) error {
	o := it.op
	if err := x.checkScope(o); err != nil {
		return err
	}
	act, err := x.actionOf(it)
	if err != nil && !it.back {
		return permanent("%w", err)
	}
	if it.back {
		return x.prepareBack(ctx, it, act)
	}
	if act != nil && isHook(act) {
		x.note(func() {
			o.ID = x.operationID(it)
			if act.Job != nil && o.Target.Name == "" {
				o.Target, err = x.jobTarget(it, act)
			}
		})
		return err
	}
	if it.img, err = x.readWithRetry(ctx, o.Target); err != nil {
		return err
	}
	if it.resumed && x.asIntended(it) {
		return nil
	}
	return x.compile(it, act)
}

// asIntended reports whether the intent is still valid for the object as it is now: the
// operation has ended, or can be written as intended. Else the intent must be made again.
func (x *run) asIntended(it *item) bool {
	o := it.op
	switch x.look(it) {
	case writtenByUs:
		x.adoptLive(it)
		if it.there = x.awaits(it); !it.there {
			x.end(it, Done, "%s", o.Text)
		}
		return true
	case writtenByOther:
		x.end(it, AlreadySet, "it was set by someone else")
		return true
	case notWritten:
		want, ok := reapply(o.Changes, it.img.fields())
		if ok {
			it.want = want
		}
		return ok
	}
	return false
}

// compile says in an operation what it writes to the object as it is now.
func (x *run) compile(it *item, act *system.Action) error {
	o, main := it.op, it.img.main
	o.Target.UID = string(main.GetUID())
	claims := it.claims()
	changes, want, err := x.changes(act, o.Target, it.img.fields(), claims)
	if err == nil {
		err = x.heldByAnother(it, act, changes)
	}
	if err != nil {
		return err
	}
	o.Changes, it.want = changes, want
	o.Text = textOf(changes)
	if it.img.scale != nil {
		x.compileScale(it, claims)
		return nil
	}
	o.Owners = sortOwners(ownersOf(main, o.ways(main)))
	return nil
}

// compileScale finds who owns what is scaled, and where that is in the object itself: the
// API server says it of what has no number, and other holds know it that scaled it before.
func (x *run) compileScale(it *item, claims []*Operation) {
	o, main := it.op, it.img.main
	if it.img.replicas != nil {
		o.Replicas = patch.Pointer(it.img.replicas)
		for i := range o.Changes {
			o.Changes[i].CreatedParents = missing(main.Object, it.img.replicas)
		}
	}
	for _, other := range claims {
		o.Replicas = cmp.Or(o.Replicas, other.Replicas)
	}
	ways := o.ways(main)
	if o.Replicas == "" {
		number, _ := patch.Lookup(it.img.scale.Object, []string{"spec", "replicas"})
		ways = mayBeScaled(main, number)
	}
	o.Owners = sortOwners(ownersOf(main, ways))
}

// claims are what other open holds did to the same object, the last one last.
func (it *item) claims() []*Operation {
	var out []*Operation
	for _, b := range it.sameObject {
		if o := b.op; b.hold != it.w.hold && o.sameTarget(it.op) && (o.State == Started || o.State == Done) && !o.OnRecover {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b *Operation) int { return a.Order - b.Order })
	return out
}

// sameTarget says that two operations are about the same object.
func (o *Operation) sameTarget(other *Operation) bool {
	return o.Target.UID != "" && o.Target.UID == other.Target.UID && (o.Target.Subresource == scaleSubresource) == (other.Target.Subresource == scaleSubresource)
}

// reapply makes what was intended out of an object that is still as it was.
func reapply(changes []patch.Change, live map[string]any) (map[string]any, bool) {
	out := patch.Copy(live)
	for i := range changes {
		c := &changes[i]
		at, ok := c.Resolve(out)
		if !ok {
			return nil, false
		}
		if !c.ExistsAfter {
			patch.Remove(out, at, 0)
		} else if !patch.Put(out, at, patch.CopyValue(c.After)) {
			return nil, false
		}
	}
	return out, true
}

// execute does an operation, or undoes it.
func (x *run) execute(ctx context.Context, it *item) error {
	act, err := x.actionOf(it)
	switch {
	case it.back:
		return x.undo(ctx, it, act)
	case err != nil:
		return permanent("%w", err)
	case isHook(act):
		return x.runAction(ctx, it, act)
	}
	done, err := x.write(ctx, it)
	if err != nil || it.record != nil {
		return err
	}
	reacted, err := x.await(ctx, it, act)
	if err == nil {
		x.end(it, Done, "%s%s", done, reacted)
	}
	return err
}

// write writes what is intended, and looks what came of it where the answer is lost. It returns
// what was done.
func (x *run) write(ctx context.Context, it *item) (done string, err error) {
	o, tried := it.op, false
	err = retry(ctx, func(ctx context.Context) (err error) {
		if tried {
			if it.img, err = x.read(ctx, o.Target); err != nil {
				return err
			}
			if !x.asIntended(it) {
				return permanent("%w", errRecreated)
			}
		}
		tried = true
		switch {
		case o.State != Started:
			return nil
		case it.there:
			done = o.Text
			return nil
		}
		if done, err = x.writeOnce(ctx, it); err != nil {
			it.unsure = it.unsure || !apierrors.IsConflict(err) && !isPermanent(err)
			return fmt.Errorf("write %s: %w", o.Target, err)
		}
		return nil
	})
	return done, err
}

// writeOnce patches the object, and makes the answer the image of it.
func (x *run) writeOnce(ctx context.Context, it *item) (string, error) {
	o := it.op
	after, err := x.patch(ctx, o.Target, it.img.fields(), it.want)
	if err != nil {
		return "", err
	}
	if after == nil {
		return o.Text + " (set already, by another hold)", nil
	}
	intended, before := o.Changes, it.img.fields()
	x.adoptAnswer(ctx, it, after)
	return o.Text, x.checkAnswer(it, intended, before, after)
}

func (x *run) adoptAnswer(ctx context.Context, it *item, after *unstructured.Unstructured) {
	o, before := it.op, it.img
	x.note(func() { o.adopt(before.fields(), after.Object) })
	if before.scale == nil {
		if lostList := lostOwners(before.main, after); len(lostList) > 0 {
			x.note(func() { o.Owners = sortOwners(append(slices.Clone(o.Owners), lostList...)) })
		}
		return
	}
	main, err := x.Client.Get(ctx, o.Target.bare())
	if err != nil || x.DryRun {
		return // what was seen before the write must do
	}
	replicas := []string{"spec", "replicas"}
	was, _ := patch.Lookup(before.scale.Object, replicas)
	now, _ := patch.Lookup(after.Object, replicas)
	if c, ok := scaledAt(before.main, main, was, now); ok {
		x.note(func() {
			o.Replicas = c.Path
			o.Owners = sortOwners(ownersOf(before.main, [][]string{patch.Tokens(c.Path)}))
		})
	}
}

func (x *run) writes() WriteOptions { return WriteOptions{Manager: FieldManager, DryRun: x.DryRun} }

// readWithRetry reads an object, and waits for an API server that is away.
func (x *run) readWithRetry(ctx context.Context, t Target) (img *liveObject, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		img, err = x.read(ctx, t)
		return err
	})
	return img, err
}

// actionOf finds the action of an operation in the manifest.
func (x *run) actionOf(it *item) (*system.Action, error) {
	if it.op.Action == suspendAction && it.op.Index < 0 {
		return &system.Action{Preset: signals.PresetPause}, nil
	}
	signal := it.w.hold.Signal
	if it.op.OnRecover {
		signal = system.Recover
	}
	return x.action(it.w.hold.App, signal, it.op.Index, it.op.Action)
}
