package regulate

import (
	"slices"
)

// writeState is what an object tells of a write of which the journal does not say what became.
type writeState int

const (
	notWritten       writeState = iota // it is as it was before
	writtenByUs                        // it was written, by us
	writtenByOther                     // it is as it was to be written, but by somebody else
	changedElsewhere                   // it is neither
	replaced                           // it is another object of that name
)

// look says what became of a write: by the values, and since somebody else may have written
// the same, by who owns the fields. One field that is ours suffices: what was written at
// once was written wholly, and others may have been changed since.
func (x *run) look(it *item) writeState {
	o, main, fields := it.op, it.img.main, it.img.fields()
	if o.Target.UID != "" && string(main.GetUID()) != o.Target.UID {
		return replaced
	}
	allNow, allWas, ours, taken := true, true, false, true
	for i := range o.Changes {
		c := &o.Changes[i]
		if c.claims() {
			continue
		}
		now, was := c.compare(fields)
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
		return writtenByUs // what is not there has no owner
	case allNow:
		return writtenByOther
	case len(o.Changes) > 0 && o.Target.Subresource != scaleSubresource && x.ownsAny(it):
		return writtenByUs // the API server writes it in another way
	}
	return changedElsewhere
}

func (x *run) owns(it *item, c *Change) bool {
	if it.op.Target.Subresource == scaleSubresource {
		if _, ok := scaledField(it.img.main); ok {
			return true
		}
		return it.scaledUnowned(c)
	}
	at, ok := c.resolvePath(it.img.main.Object)
	return ok && owned(it.img.main, at)
}

// scaledUnowned says that something was scaled, and that whoever did it is nobody's owner: a
// Scale of 0 has no number in JSON, and so nobody owns it; and of what had no owner before
// (another hold made it 0) the API server does not begin to keep one.
//
// See https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/skipnonapplied.go
func (it *item) scaledUnowned(c *Change) bool {
	o, main := it.op, it.img.main
	for _, at := range it.scaledWays(c) {
		path := writtenNames(at)
		had := slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.Path == path })
		if len(ownersAt(main, at)) == 0 && (same(c.After, 0) || !had) {
			return true
		}
	}
	return false
}

// scaledWays are the ways to what may have been scaled, of which nobody said where it is:
// what has the number that was written.
func (it *item) scaledWays(c *Change) [][]string {
	if at, ok := it.scaled(c); ok {
		return [][]string{at}
	}
	return slices.DeleteFunc(mayBeScaled(it.img.main, c.After), func(at []string) bool {
		v, ok := lookup(it.img.main.Object, at)
		return !ok || !same(v, c.After)
	})
}

// scaled finds what of the object was scaled: what is known of it, or among what had the
// number before and an owner what has the new one now.
func (it *item) scaled(c *Change) ([]string, bool) {
	o, main := it.op, it.img.main
	if o.Replicas != "" {
		return tokens(o.Replicas), true
	}
	for _, at := range append(ownedWays(o.Owners), []string{"spec", "replicas"}) {
		if v, ok := lookup(main.Object, at); ok && same(v, c.After) {
			return at, true
		}
	}
	return nil, false
}

// ownsAny says that a field of an operation is ours and of no other hold, whatever is in it.
func (x *run) ownsAny(it *item) bool {
	o := it.op
	claimed := map[string]bool{}
	for _, other := range it.claims() {
		for _, c := range other.Changes {
			claimed[c.Path] = true
		}
	}
	for _, c := range o.Changes {
		if !c.claims() && c.ExistsAfter && !claimed[c.Path] && x.owns(it, &c) {
			return true
		}
	}
	return false
}

// adoptLive makes what is in an object the image of a write whose answer is lost: what the
// API server made of the values, and what it filled in where mappings were made.
func (x *run) adoptLive(it *item) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o, main := it.op, it.img.main
	fields := it.img.fields()
	o.Changes, o.Owners = slices.Clone(o.Changes), slices.Clone(o.Owners)
	for i := range o.Changes {
		c := &o.Changes[i]
		at, ok := c.resolvePath(fields)
		if !ok || c.claims() || !c.ExistsAfter || !x.owns(it, c) {
			continue
		}
		if v, has := lookup(fields, at); has {
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
			o.Replicas = pointer(at)
			o.Owners = slices.DeleteFunc(o.Owners, func(w Owner) bool { return w.Path != writtenNames(at) })
		}
		return
	}
	o.Changes = append(o.Changes, filledIn(o, it.img)...)
}

// filledIn returns what is ours in the mappings that an operation made, besides what it
// wrote.
func filledIn(o *Operation, img *liveObject) []Change {
	var out []Change
	for _, c := range o.Changes {
		if c.CreatedParents == 0 || !c.ExistsAfter {
			continue
		}
		at := tokens(c.Path)
		top := at[:len(at)-c.CreatedParents]
		value, ok := lookup(img.main.Object, top)
		if m, isMap := value.(map[string]any); ok && isMap {
			d := differ{}
			d.mappings(top, nil, m, 1)
			for _, f := range d.out {
				known := func(have Change) bool { return have.Path == f.Path }
				if !slices.ContainsFunc(o.Changes, known) && !slices.ContainsFunc(out, known) && owned(img.main, tokens(f.Path)) {
					f.CreatedParents = len(tokens(f.Path)) - len(top)
					out = append(out, f)
				}
			}
		}
	}
	return out
}
