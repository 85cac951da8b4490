package regulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

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

type differ struct {
	out   []Change
	items map[string]string // names of the list items that the walk is in, by pointer
}

func (d *differ) add(at []string, c Change) {
	c.Path = pointer(at)
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
	if !same(was, now) {
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
			d.items[pointer(to)] = name
		}
		d.values(to, was[i], now[i])
		delete(d.items, pointer(to))
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

// same compares values as JSON: 1 is 1.0, whatever Go makes of them.
func same(x, y any) bool {
	a, err := json.Marshal(x)
	if err != nil {
		return false
	}
	b, err := json.Marshal(y)
	return err == nil && bytes.Equal(a, b)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer writes a JSON pointer (RFC 6901), and tokens reads one.
func pointer(at []string) string {
	var b strings.Builder
	for _, t := range at {
		b.WriteByte('/')
		b.WriteString(escape.Replace(t))
	}
	return b.String()
}

func tokens(path string) []string {
	if path == "" {
		return nil
	}
	out := strings.Split(path[1:], "/")
	for i := range out {
		out[i] = unescape.Replace(out[i])
	}
	return out
}

// resolvePath returns the path of a change in an object: it finds named list items by name,
// wherever they are now. False reports that the path no longer exists.
func (c *Change) resolvePath(o map[string]any) ([]string, bool) {
	at := tokens(c.Path)
	var cur any = o
	for i := range at {
		list, ok := cur.([]any)
		if !ok {
			m, _ := cur.(map[string]any)
			cur = m[at[i]]
			continue
		}
		n, err := strconv.Atoi(at[i])
		if name, named := c.Items[pointer(tokens(c.Path)[:i+1])]; named {
			n = slices.IndexFunc(list, func(item any) bool { itemName, _ := nameOf(item); return itemName == name })
		}
		if err != nil || n < 0 || n >= len(list) {
			return nil, false
		}
		at[i], cur = strconv.Itoa(n), list[n]
	}
	return at, true
}

// lookup returns the field at a path.
func lookup(o map[string]any, at []string) (any, bool) {
	var cur any = o
	for _, t := range at {
		switch v := cur.(type) {
		case map[string]any:
			next, ok := v[t]
			if !ok {
				return nil, false
			}
			cur = next
		case []any:
			n, err := strconv.Atoi(t)
			if err != nil || n < 0 || n >= len(v) {
				return nil, false
			}
			cur = v[n]
		default:
			return nil, false
		}
	}
	return cur, true
}

// put sets a field, and creates the missing mappings above it. False reports that a value on the
// path is not a mapping.
func put(o map[string]any, at []string, value any) bool {
	var cur any = o
	for i, t := range at {
		last := i == len(at)-1
		switch v := cur.(type) {
		case map[string]any:
			if last {
				v[t] = value
				return true
			}
			next, ok := v[t]
			if !ok || next == nil {
				next = map[string]any{}
				v[t] = next
			}
			cur = next
		case []any:
			n, err := strconv.Atoi(t)
			if err != nil || n < 0 || n >= len(v) {
				return false
			}
			if last {
				v[n] = value
				return true
			}
			cur = v[n]
		default:
			return false
		}
	}
	return false
}

// takeAway deletes a field of a mapping, and the mappings above that were created for it and are
// now empty.
func takeAway(o map[string]any, at []string, created int) {
	for ; len(at) > 0; created-- {
		above, ok := lookup(o, at[:len(at)-1])
		m, isMap := above.(map[string]any)
		if !ok || !isMap {
			return
		}
		delete(m, at[len(at)-1])
		if created <= 0 || len(m) > 0 {
			return
		}
		at = at[:len(at)-1]
	}
}

// compare tells whether the field of a change has the written value or the one before.
func (c *Change) compare(o map[string]any) (now, was bool) {
	at, ok := c.resolvePath(o)
	if !ok {
		return false, false
	}
	v, has := lookup(o, at)
	return has == c.ExistsAfter && (!has || same(v, c.After)), has == c.ExistedBefore && (!has || same(v, c.Before))
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
	out := copied(live)
	verdicts := make([]UndoResult, len(changes))
	for i := range changes {
		c := &changes[i]
		now, was := c.compare(live)
		at, ok := c.resolvePath(out)
		switch {
		case was && !now:
			verdicts[i] = AlreadyRestored
			continue
		case was && c.ExistedBefore == c.ExistsAfter && same(c.Before, c.After):
			verdicts[i] = AlreadyRestored
			continue
		case !ok || !now && !force:
			verdicts[i] = ChangedSince
			continue
		}
		verdicts[i] = RestoreBefore
		if !c.ExistedBefore {
			takeAway(out, at, c.CreatedParents)
		} else if !put(out, at, copiedValue(c.Before)) {
			verdicts[i] = ChangedSince
		}
	}
	return out, verdicts
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// MarshalJSON keeps a value of null, which omitempty would lose.
func (o operation) MarshalJSON() ([]byte, error) {
	m := map[string]any{"op": o.Op, "path": o.Path}
	if o.Op != "remove" {
		m["value"] = o.Value
	}
	return json.Marshal(m)
}

// Write returns the JSON patch (RFC 6902) from live to want. It requires that live is unchanged:
// else the API server returns 409. It is nil if there is nothing to write.
func Write(live, want map[string]any) ([]byte, error) {
	var ops []operation
	patchMappings(&ops, nil, live, want)
	if len(ops) == 0 {
		return nil, nil
	}
	version, ok := lookup(live, []string{"metadata", "resourceVersion"})
	if !ok {
		return nil, fmt.Errorf("the object has no resourceVersion, by which a write could be made safe")
	}
	return json.Marshal(append([]operation{{Op: "replace", Path: "/metadata/resourceVersion", Value: version}}, ops...))
}

func patchMappings(ops *[]operation, at []string, live, want map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(live)) {
		if _, ok := want[k]; !ok {
			*ops = append(*ops, operation{Op: "remove", Path: pointer(append(slices.Clip(at), k))})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		to := append(slices.Clip(at), k)
		if current, ok := live[k]; ok {
			patchValues(ops, to, current, want[k])
			continue
		}
		*ops = append(*ops, operation{Op: "add", Path: pointer(to), Value: want[k]})
	}
}

func patchValues(ops *[]operation, at []string, live, want any) {
	if l, ok := live.(map[string]any); ok {
		if w, ok := want.(map[string]any); ok {
			patchMappings(ops, at, l, w)
			return
		}
	}
	if l, ok := live.([]any); ok {
		if w, ok := want.([]any); ok && len(l) == len(w) {
			for i := range l {
				patchValues(ops, append(slices.Clip(at), strconv.Itoa(i)), l[i], w[i])
			}
			return
		}
	}
	if !same(live, want) {
		*ops = append(*ops, operation{Op: "replace", Path: pointer(at), Value: want})
	}
}

func copied(o map[string]any) map[string]any {
	out, _ := copiedValue(o).(map[string]any)
	return out
}

// copiedValue copies a value decoded from JSON or YAML.
func copiedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = copiedValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copiedValue(v[i])
		}
		return out
	}
	return v
}

// normal converts values of a manifest to those of objects: int64, float64 and mappings.
func normal(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	if err := utiljson.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	return out, nil
}
