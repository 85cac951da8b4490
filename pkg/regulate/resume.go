package regulate

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
)

// writeState is the state of an object after a write whose result is unknown.
type writeState int

const (
	notWritten       writeState = iota // as before the write
	writtenByUs                        // it was written, by us
	writtenByOther                     // it has the written value, from another writer
	changedElsewhere                   // neither of them
	replaced                           // another object has its name
)

// look finds the result of a write: by the values, and by the owners of the fields, since
// another writer may have set the same values. One field of ours suffices: a write is atomic,
// and other fields may have been changed since.
func (x *run) look(it *item) writeState {
	o, main, fields := it.op, it.img.main, it.img.fields()
	if o.Target.UID != "" && string(main.GetUID()) != o.Target.UID {
		return replaced
	}
	allNow, allWas, ours, taken := true, true, false, true
	for i := range o.Changes {
		c := &o.Changes[i]
		if c.Claims() {
			continue
		}
		now, was := c.Compare(fields)
		allNow, allWas = allNow && now, allWas && was
		taken = taken && !c.ExistsAfter
		ours = ours || now && c.ExistsAfter && x.owns(it, c)
	}
	switch {
	case ours:
		return writtenByUs
	case allWas:
		return notWritten
	case allNow && (taken || len(main.GetManagedFields()) == 0):
		return writtenByUs // an absent field has no owner
	case allNow:
		return writtenByOther
	case len(o.Changes) > 0 && o.Target.Subresource != scaleSubresource && x.ownsAny(it):
		return writtenByUs // the API server normalizes it
	}
	return changedElsewhere
}

func (x *run) owns(it *item, c *patch.Change) bool {
	if it.op.Target.Subresource == scaleSubresource {
		if _, ok := scaledField(it.img.main); ok {
			return true
		}
		return it.scaledUnowned(c)
	}
	at, ok := c.Resolve(it.img.main.Object)
	return ok && owned(it.img.main, at)
}

// scaledUnowned reports a scaled field without an owner. A Scale of 0 has no number in JSON, and
// so no owner. A field that had no owner before (another hold scaled it to 0) gets none.
//
// See https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/skipnonapplied.go
func (it *item) scaledUnowned(c *patch.Change) bool {
	o, main := it.op, it.img.main
	for _, at := range it.scaledWays(c) {
		path := writtenNames(at)
		had := slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.Path == path })
		if len(ownersAt(main, at)) == 0 && (patch.Equal(c.After, 0) || !had) {
			return true
		}
	}
	return false
}

// scaledWays are the paths of fields that may have been scaled, if the path is unknown: those
// with the written number.
func (it *item) scaledWays(c *patch.Change) [][]string {
	if at, ok := it.scaled(c); ok {
		return [][]string{at}
	}
	return slices.DeleteFunc(mayBeScaled(it.img.main, c.After), func(at []string) bool {
		v, ok := patch.Lookup(it.img.main.Object, at)
		return !ok || !patch.Equal(v, c.After)
	})
}

// scaled finds the scaled field of the object: the known one, or the one that had the number and
// an owner before and has the new number now.
func (it *item) scaled(c *patch.Change) ([]string, bool) {
	o, main := it.op, it.img.main
	if o.Replicas != "" {
		return patch.Tokens(o.Replicas), true
	}
	for _, at := range append(ownedWays(o.Owners), []string{"spec", "replicas"}) {
		if v, ok := patch.Lookup(main.Object, at); ok && patch.Equal(v, c.After) {
			return at, true
		}
	}
	return nil, false
}

// ownsAny reports that a field of an operation is ours and of no other hold, whatever its value.
func (x *run) ownsAny(it *item) bool {
	o := it.op
	claimed := map[string]bool{}
	for _, other := range it.claims() {
		for _, c := range other.Changes {
			claimed[c.Path] = true
		}
	}
	for _, c := range o.Changes {
		if !c.Claims() && c.ExistsAfter && !claimed[c.Path] && x.owns(it, &c) {
			return true
		}
	}
	return false
}

// adoptLive takes the fields of an object as the result of a write without a response:
// normalized values, and defaults in created mappings.
func (x *run) adoptLive(it *item) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o, main := it.op, it.img.main
	fields := it.img.fields()
	o.Changes, o.Owners = slices.Clone(o.Changes), slices.Clone(o.Owners)
	for i := range o.Changes {
		c := &o.Changes[i]
		at, ok := c.Resolve(fields)
		if !ok || c.Claims() || !c.ExistsAfter || !x.owns(it, c) {
			continue
		}
		if v, has := patch.Lookup(fields, at); has {
			c.After = v
		}
	}
	if it.img.scale != nil {
		at, ok := scaledField(main)
		for i := range o.Changes {
			if !ok {
				at, ok = it.scaled(&o.Changes[i])
			}
		}
		if ok {
			o.Replicas = patch.Pointer(at)
			o.Owners = slices.DeleteFunc(o.Owners, func(w Owner) bool { return w.Path != writtenNames(at) })
		}
		return
	}
	o.Changes = append(o.Changes, filledIn(o, it.img)...)
}

// filledIn returns our fields in the mappings that an operation created, besides those it wrote.
func filledIn(o *Operation, img *liveObject) []patch.Change {
	var out []patch.Change
	for _, c := range o.Changes {
		if c.CreatedParents == 0 || !c.ExistsAfter {
			continue
		}
		at := patch.Tokens(c.Path)
		top := at[:len(at)-c.CreatedParents]
		value, ok := patch.Lookup(img.main.Object, top)
		if m, isMap := value.(map[string]any); ok && isMap {
			for _, f := range patch.Created(top, m) {
				known := func(have patch.Change) bool { return have.Path == f.Path }
				if !slices.ContainsFunc(o.Changes, known) && !slices.ContainsFunc(out, known) && owned(img.main, patch.Tokens(f.Path)) {
					f.CreatedParents = len(patch.Tokens(f.Path)) - len(top)
					out = append(out, f)
				}
			}
		}
	}
	return out
}
