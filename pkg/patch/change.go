// Package patch finds what changed between two states of an object, field by field, undoes that
// where the field was not changed again, and writes it as patches.
package patch

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Change is one field with its values before and after.
type Change struct {
	// Path is a JSON pointer (RFC 6901).
	Path string `json:"path"`
	// ExistedBefore and Has say whether there is a field before and after; Was and Now what is in it.
	ExistedBefore bool `json:"had"`
	Before        any  `json:"was,omitempty"`
	ExistsAfter   bool `json:"has"`
	After         any  `json:"now,omitempty"`
	// CreatedParents counts the mappings that were created above it.
	CreatedParents int `json:"made,omitempty"`
	// Items are the names of the list items on the path, by their pointers: items are found by
	// name.
	Items map[string]string `json:"items,omitempty"`
	// Kept reports that another hold wants the field too, and undoes it.
	Kept bool `json:"kept,omitempty"`
}

// Claims reports a change to the value that another hold already wrote.
func (c *Change) Claims() bool { return c.ExistedBefore == c.ExistsAfter && Equal(c.Before, c.After) }

// UnmarshalJSON reads whole numbers as int64, as objects have them: a float64 would lose the
// last digits of a large one.
func (c *Change) UnmarshalJSON(b []byte) error {
	type plain Change
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(b, &fields); err != nil {
		return err
	}
	p.Before, p.After = fields["was"], fields["now"]
	*c = Change(p)
	return nil
}

// Diff returns the changes that turn before into after, leaf by leaf, in the order of their
// paths. It descends into mappings, and into lists of equal length whose items have the same
// names. Any other list is one value, as is an empty or deleted mapping.
func Diff(before, after map[string]any) []Change {
	d := differ{}
	d.mappings(nil, before, after, 0)
	slices.SortFunc(d.out, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return d.out
}

// Created returns the changes that fill a mapping which was created at a path, besides the mapping
// itself.
func Created(at []string, fields map[string]any) []Change {
	d := differ{}
	d.mappings(at, nil, fields, 1)
	return d.out
}

type differ struct {
	out   []Change
	items map[string]string // names of the list items that the walk is in, by pointer
}

func (d *differ) add(at []string, c Change) {
	c.Path = Pointer(at)
	if len(d.items) > 0 {
		c.Items = maps.Clone(d.items)
	}
	d.out = append(d.out, c)
}

// mappings compares two mappings; created counts the missing mappings above, before included.
func (d *differ) mappings(at []string, before, after map[string]any, created int) {
	for k, was := range before {
		now, has := after[k]
		to := append(slices.Clip(at), k)
		if !has {
			d.add(to, Change{ExistedBefore: true, Before: was})
			continue
		}
		d.values(to, was, now)
	}
	for k, now := range after {
		if _, had := before[k]; had {
			continue
		}
		to := append(slices.Clip(at), k)
		if m, ok := now.(map[string]any); ok && len(m) > 0 {
			d.mappings(to, nil, m, created+1)
			continue
		}
		d.add(to, Change{ExistsAfter: true, After: now, CreatedParents: created})
	}
}

func (d *differ) values(at []string, was, now any) {
	switch was := was.(type) {
	case map[string]any:
		if now, ok := now.(map[string]any); ok {
			d.mappings(at, was, now, 0)
			return
		}
	case []any:
		if now, ok := now.([]any); ok && alike(was, now) {
			d.lists(at, was, now)
			return
		}
	}
	if !Equal(was, now) {
		d.add(at, Change{ExistedBefore: true, Before: was, ExistsAfter: true, After: now})
	}
}

func (d *differ) lists(at []string, was, now []any) {
	for i := range was {
		to := append(slices.Clip(at), strconv.Itoa(i))
		if name, ok := nameOf(was[i]); ok {
			if d.items == nil {
				d.items = map[string]string{}
			}
			d.items[Pointer(to)] = name
		}
		d.values(to, was[i], now[i])
		delete(d.items, Pointer(to))
	}
}

// alike reports that two lists are compared item by item.
func alike(was, now []any) bool {
	if len(was) != len(now) {
		return false
	}
	for i := range was {
		x, _ := nameOf(was[i])
		y, _ := nameOf(now[i])
		if x != y {
			return false
		}
	}
	return true
}

func nameOf(item any) (string, bool) {
	m, _ := item.(map[string]any)
	name, ok := m["name"].(string)
	return name, ok
}

// Resolve returns the path of a change in an object: it finds named list items by name,
// wherever they are now. False reports that the path no longer exists.
func (c *Change) Resolve(o map[string]any) ([]string, bool) {
	at := Tokens(c.Path)
	var cur any = o
	for i := range at {
		list, ok := cur.([]any)
		if !ok {
			m, _ := cur.(map[string]any)
			cur = m[at[i]]
			continue
		}
		n, err := strconv.Atoi(at[i])
		if name, named := c.Items[Pointer(Tokens(c.Path)[:i+1])]; named {
			n = slices.IndexFunc(list, func(item any) bool { itemName, _ := nameOf(item); return itemName == name })
		}
		if err != nil || n < 0 || n >= len(list) {
			return nil, false
		}
		at[i], cur = strconv.Itoa(n), list[n]
	}
	return at, true
}

// Compare tells whether the field of a change has the written value or the one before.
func (c *Change) Compare(o map[string]any) (now, was bool) {
	at, ok := c.Resolve(o)
	if !ok {
		return false, false
	}
	v, has := Lookup(o, at)
	return has == c.ExistsAfter && (!has || Equal(v, c.After)), has == c.ExistedBefore && (!has || Equal(v, c.Before))
}

// UndoResult is the result of undoing a change.
type UndoResult string

// The results.
const (
	RestoreBefore   UndoResult = "put back"      // the value before is to be written
	AlreadyRestored UndoResult = "as it was"     // it already has the value before
	ChangedSince    UndoResult = "changed since" // by someone else: it stays
)

// Undo returns an object after undoing changes, and the result of each of them. A field that no
// longer has the written value stays, unless force is set. live is not changed.
func Undo(changes []Change, live map[string]any, force bool) (map[string]any, []UndoResult) {
	out := Copy(live)
	verdicts := make([]UndoResult, len(changes))
	for i := range changes {
		c := &changes[i]
		now, was := c.Compare(live)
		at, ok := c.Resolve(out)
		switch {
		case was && !now:
			verdicts[i] = AlreadyRestored
			continue
		case was && c.ExistedBefore == c.ExistsAfter && Equal(c.Before, c.After):
			verdicts[i] = AlreadyRestored
			continue
		case !ok || !now && !force:
			verdicts[i] = ChangedSince
			continue
		}
		verdicts[i] = RestoreBefore
		if !c.ExistedBefore {
			Remove(out, at, c.CreatedParents)
		} else if !Put(out, at, CopyValue(c.Before)) {
			verdicts[i] = ChangedSince
		}
	}
	return out, verdicts
}
