package regulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// prepareBack checks whether there is anything to undo. It writes nothing.
func (x *run) prepareBack(ctx context.Context, it *item, act *system.Action) error {
	o := it.op
	switch {
	case o.State == Waiting, o.Action == "job":
		return nil
	case o.Target.Name == "":
		if act == nil {
			x.end(it, Conflict, "the manifest no longer says how to undo it")
		}
		return nil
	case o.Action == "restart":
		x.end(it, NotNeeded, "a restart is not undone: that would be another one")
		return nil
	case o.State != Started:
		return nil
	}
	img, err := x.readWithRetry(ctx, o.Target)
	if apierrors.IsNotFound(err) {
		x.end(it, TargetGone, "it is gone")
		return nil
	}
	if err != nil {
		return err
	}
	it.img = img
	switch x.look(it) {
	case writtenByUs:
		x.adoptLive(it)
		x.note(func() { o.State = Done })
	case replaced:
		x.end(it, TargetGone, "another object has its name")
	default:
		x.end(it, NotNeeded, "it was not done")
	}
	return nil
}

// writesFields says that an operation is about fields of an object.
func (o *Operation) writesFields() bool { return len(o.Changes) > 0 }

// handOver passes the values before on to the next hold that wrote the same field, and reports
// whether that was all.
func (it *item) handOver() bool {
	o, claims := it.op, it.claims()
	all := o.writesFields()
	for i := range o.Changes {
		c := &o.Changes[i]
		for _, other := range claims {
			if other.Order <= o.Order {
				continue
			}
			n := slices.IndexFunc(other.Changes, func(d patch.Change) bool { return d.Path == c.Path && !d.Kept })
			if n < 0 {
				continue
			}
			if d := &other.Changes[n]; d.ExistedBefore == c.ExistsAfter && (!d.ExistedBefore || patch.Equal(d.Before, c.After)) {
				d.ExistedBefore, d.Before, d.CreatedParents = c.ExistedBefore, c.Before, max(d.CreatedParents, c.CreatedParents)
				other.Owners = inherit(other.Owners, o.Owners)
				other.Replicas = cmp.Or(other.Replicas, o.Replicas)
			}
			c.Kept = true
			break
		}
		all = all && c.Kept
	}
	return all
}

// inherit adds owners of the first hold to those of the next one, which saw us as the owner.
func inherit(owners, first []Owner) []Owner {
	had := map[string]bool{}
	for _, o := range first {
		had[o.Path] = true
	}
	owners = slices.DeleteFunc(slices.Clone(owners), func(o Owner) bool { return o.Manager == FieldManager && had[o.Path] })
	return sortOwners(append(owners, first...))
}

// undo undoes an operation.
func (x *run) undo(ctx context.Context, it *item, act *system.Action) error {
	if act != nil && act.Inverse != nil && isHook(act.Inverse) {
		return x.runInverse(ctx, it, act.Inverse)
	}
	if it.op.Action == "job" {
		return x.deleteJob(ctx, it)
	}
	if it.op.Target.Name == "" {
		x.end(it, NotNeeded, "it has no inverse")
		return nil
	}
	b := undoRun{run: x, it: it, act: act}
	return retry(ctx, b.attempt)
}

// undoRun is the undo of one operation, over all attempts.
type undoRun struct {
	*run
	it      *item
	act     *system.Action
	putBack bool
}

// attempt tries the undo once, with a fresh read of the object.
func (b *undoRun) attempt(ctx context.Context) error {
	o := b.it.op
	img, err := b.read(ctx, o.Target)
	switch {
	case apierrors.IsNotFound(err):
		b.end(b.it, TargetGone, "it is gone")
		return nil
	case err != nil:
		return err
	case string(img.main.GetUID()) != o.Target.UID:
		b.end(b.it, TargetGone, "another object has its name")
		return nil
	}
	want, verdicts, err := b.wanted(img)
	if err != nil {
		return err
	}
	main, err := b.restore(ctx, img, want)
	if err != nil {
		return err
	}
	note, err := b.release(ctx, main, slices.Contains(verdicts, patch.ChangedSince))
	if err != nil {
		return err
	}
	b.conclude(verdicts, note)
	return nil
}

// wanted returns the object to be written.
func (b *undoRun) wanted(img *liveObject) (map[string]any, []patch.UndoResult, error) {
	o := b.it.op
	if b.act != nil && b.act.Inverse != nil {
		want, err := b.edit(b.act.Inverse, o.Target, img.fields())
		if err == nil && img.scale == nil {
			for _, c := range patch.Diff(plain(img.fields(), true), plain(want, true)) {
				o.stay(patch.Tokens(c.Path))
			}
		}
		return want, nil, err
	}
	want, verdicts := patch.Undo(unkept(o.Changes), img.fields(), b.Force)
	return want, verdicts, nil
}

// restore writes that object, and returns the result.
func (b *undoRun) restore(ctx context.Context, img *liveObject, want map[string]any) (*unstructured.Unstructured, error) {
	o := b.it.op
	t, live := o.Target, img.fields()
	if _, has := patch.Lookup(want, []string{"spec", "replicas"}); img.scale != nil && !has {
		// A Scale cannot omit the number: the object itself can.
		t, live = t.bare(), img.main.Object
		want = patch.Copy(live)
		created := 0
		for _, c := range o.Changes {
			created = max(created, c.CreatedParents)
		}
		patch.Remove(want, o.ways(img.main)[0], created)
	}
	after, err := b.patch(ctx, t, live, want)
	if err == nil && after == nil {
		return img.main, nil
	}
	if err != nil {
		return nil, fmt.Errorf("undo the change of %s: %w", o.Target, err)
	}
	b.putBack = true
	if t.Subresource != scaleSubresource || b.DryRun {
		return after, nil
	}
	if after, err = b.Client.Get(ctx, t.bare()); err != nil {
		return nil, fmt.Errorf("read %s: %w", o.Target, err)
	}
	return after, nil
}

// release restores the owners of the fields. If that is denied it is only noted: the values
// themselves are restored.
func (b *undoRun) release(ctx context.Context, main *unstructured.Unstructured, conflicted bool) (string, error) {
	o := b.it.op
	if b.DryRun {
		return "", nil
	}
	var held [][]string
	for _, other := range b.it.overlapping() {
		held = append(held, other.ways(main)...)
	}
	fields, ours, err := handBack(main, o.Owners, o.ways(main), held, !conflicted)
	if err != nil || !ours {
		return "", err
	}
	body, err := patch.JSONPatch(ownership(main, nil), ownership(main, fields))
	if err != nil {
		return "", permanent("%w", err)
	}
	_, err = b.Client.Patch(ctx, o.Target.bare(), types.JSONPatchType, body, b.writes())
	if err != nil && isPermanent(err) {
		o.stay(o.ways(main)...)
		return fmt.Sprintf("; its fields stay owned by %s: %v", FieldManager, err), nil
	}
	return "", err
}

// stay notes what stays owned by FieldManager.
func (o *Operation) stay(ways ...[]string) {
	for _, at := range ways {
		if p := patch.Pointer(at); !slices.Contains(o.KeptOwnership, p) {
			o.KeptOwnership = append(o.KeptOwnership, p)
		}
	}
}

// ownership is what of an object says who owns what.
func ownership(main *unstructured.Unstructured, fields []any) map[string]any {
	return map[string]any{"metadata": map[string]any{"resourceVersion": main.GetResourceVersion(), "managedFields": fields}}
}

// overlapping are the operations on the same object that are not undone yet, besides its own.
func (it *item) overlapping() []*Operation {
	var out []*Operation
	for _, b := range it.sameObject {
		if o := b.op; o != it.op && o.Target.UID == it.op.Target.UID && o.undoable() && o.State != Waiting {
			out = append(out, o)
		}
	}
	return out
}

// changedSince keeps of changes what was left as it is.
func changedSince(changes []patch.Change, verdicts []patch.UndoResult) []patch.Change {
	var out []patch.Change
	for i, v := range verdicts {
		if v == patch.ChangedSince {
			out = append(out, changes[i])
		}
	}
	return out
}

// conclude says what became of it.
func (b *undoRun) conclude(verdicts []patch.UndoResult, note string) {
	o := b.it.op
	var remaining []string
	changes := unkept(o.Changes)
	for i, v := range verdicts {
		if v == patch.ChangedSince {
			remaining = append(remaining, textOf(changes[i:i+1]))
		}
	}
	switch {
	case len(remaining) > 0:
		o.Changes = changedSince(changes, verdicts)
		b.end(b.it, Conflict, "conflict: changed by someone else, and not reverted (--force overrides); the signal wrote: %s%s", strings.Join(remaining, "; "), note)
	case b.act != nil && b.act.Inverse != nil:
		b.end(b.it, Undone, "its inverse was done%s", note)
	case b.putBack || b.it.resumed:
		b.end(b.it, Undone, "restored%s", note)
	default:
		b.end(b.it, NotNeeded, "someone else restored it already%s", note)
	}
}
