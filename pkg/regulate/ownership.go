package regulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// An update makes its manager the owner of each changed field, in metadata.managedFields. So an
// undo would own the restored fields, and the next server-side apply of the former owner would
// conflict, permanently. Therefore undoing also restores ownership: the API server accepts
// managedFields if nothing else changes.
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management

// entry is an entry of managedFields with its decoded fields.
type entry struct {
	metav1.ManagedFieldsEntry
	set *fieldpath.Set
}

func entriesOf(o *unstructured.Unstructured) []entry {
	var out []entry
	for _, m := range o.GetManagedFields() {
		e := entry{ManagedFieldsEntry: m, set: fieldpath.NewSet()}
		if m.FieldsV1 != nil {
			if err := e.set.FromJSON(bytes.NewReader(m.FieldsV1.GetRawBytes())); err != nil {
				e.set = fieldpath.NewSet() // unreadable fields count as none
			}
		}
		out = append(out, e)
	}
	return out
}

func (e *entry) isOf(o Owner) bool {
	return e.Manager == o.Manager && string(e.Operation) == o.Operation && e.APIVersion == o.APIVersion && e.Subresource == o.Subresource
}

func (e *entry) owner(p fieldpath.Path) Owner {
	o := Owner{Path: written(p), Manager: e.Manager, Operation: string(e.Operation), APIVersion: e.APIVersion, Subresource: e.Subresource}
	if e.Time != nil {
		o.Time = e.Time.UTC()
	}
	return o
}

// written encodes the path of a field as in Owner.
func written(p fieldpath.Path) string {
	var at []string
	for _, pe := range p {
		s, err := fieldpath.SerializePathElement(pe)
		if err != nil {
			return ""
		}
		at = append(at, s)
	}
	return patch.Pointer(at)
}

// writtenNames encodes a path through mappings.
func writtenNames(at []string) string { return written(namesPath(at)) }

func namesPath(at []string) fieldpath.Path {
	var p fieldpath.Path
	for _, name := range at {
		p = append(p, fieldpath.FieldNameElement(name))
	}
	return p
}

// touched returns the fields of set that lie on the paths, above or below their ends: a change
// of a value at a path changes these. o is the object.
func touched(set *fieldpath.Set, o map[string]any, ways [][]string) *fieldpath.Set {
	out := fieldpath.NewSet()
	for _, at := range ways {
		touch(out, nil, set, o, at)
	}
	return out
}

func touch(out *fieldpath.Set, prefix fieldpath.Path, set *fieldpath.Set, o any, at []string) {
	if len(at) == 0 {
		for p := range set.All() {
			out.Insert(append(prefix.Copy(), p...))
		}
		return
	}
	next, matches := step(o, at[0])
	for pe := range set.Members.All() {
		if matches(pe) {
			out.Insert(append(prefix.Copy(), pe))
		}
	}
	for pe := range set.Children.All() {
		if matches(pe) {
			touch(out, append(prefix.Copy(), pe), set.Children.Descend(pe), next, at[1:])
		}
	}
}

// step descends a value by one token, and returns the matching elements of a set.
func step(o any, token string) (any, func(fieldpath.PathElement) bool) {
	list, ok := o.([]any)
	if !ok {
		m, _ := o.(map[string]any)
		return m[token], func(pe fieldpath.PathElement) bool { return pe.FieldName != nil && *pe.FieldName == token }
	}
	n, err := strconv.Atoi(token)
	if err != nil || n < 0 || n >= len(list) {
		return nil, func(fieldpath.PathElement) bool { return false }
	}
	item := list[n]
	return item, func(pe fieldpath.PathElement) bool {
		switch {
		case pe.Index != nil:
			return *pe.Index == n
		case pe.Value != nil:
			return patch.Equal((*pe.Value).Unstructured(), item)
		case pe.Key != nil:
			fields, _ := item.(map[string]any)
			return !slices.ContainsFunc(*pe.Key, func(f value.Field) bool { return !patch.Equal(f.Value.Unstructured(), fields[f.Name]) })
		}
		return false
	}
}

// ownersOf returns the owners of fields on the paths.
func ownersOf(main *unstructured.Unstructured, ways [][]string) []Owner {
	var out []Owner
	for _, e := range entriesOf(main) {
		for p := range touched(e.set, main.Object, ways).All() {
			out = append(out, e.owner(p))
		}
	}
	return out
}

// ownersAt returns the owners of the field at the end of a path.
func ownersAt(main *unstructured.Unstructured, at []string) []Owner {
	return slices.DeleteFunc(ownersOf(main, [][]string{at}), func(o Owner) bool { return o.Path != writtenNames(at) })
}

// ownedWays are the paths of owners that lead through mappings only.
func ownedWays(owners []Owner) [][]string {
	var out [][]string
	for _, o := range owners {
		var at []string
		for _, t := range patch.Tokens(o.Path) {
			if pe, err := fieldpath.DeserializePathElement(t); err == nil && pe.FieldName != nil {
				at = append(at, *pe.FieldName)
			}
		}
		if writtenNames(at) == o.Path {
			out = append(out, at)
		}
	}
	return out
}

// lostOwners returns the owners of fields that own them no longer.
func lostOwners(before, after *unstructured.Unstructured) []Owner {
	var out []Owner
	remaining := entriesOf(after)
	for _, e := range entriesOf(before) {
		removed := e.set
		for _, l := range remaining {
			if l.isOf(e.owner(nil)) {
				removed = removed.Difference(l.set)
			}
		}
		for p := range removed.All() {
			out = append(out, e.owner(p))
		}
	}
	return out
}

func ofFieldManager(e metav1.ManagedFieldsEntry) bool { return e.Manager == FieldManager }

// owned reports whether FieldManager owns the field at a path, or all of a value around it.
func owned(main *unstructured.Unstructured, at []string) bool {
	for _, e := range entriesOf(main) {
		if e.Manager == FieldManager && ownsEnd(e.set, main.Object, at) {
			return true
		}
	}
	return false
}

// ownsEnd always iterates to the end: the iterators of sets panic when a loop is left early.
func ownsEnd(set *fieldpath.Set, o any, at []string) (owns bool) {
	if len(at) == 0 {
		return !set.Empty()
	}
	next, matches := step(o, at[0])
	for pe := range set.Children.All() {
		owns = owns || matches(pe) && ownsEnd(set.Children.Descend(pe), next, at[1:])
	}
	for pe := range set.Members.All() {
		_, deeper := set.Children.Get(pe)
		owns = owns || matches(pe) && (len(at) == 1 || !deeper)
	}
	return owns
}

// scaledField returns the path of the field that FieldManager wrote through the scale
// subresource: it differs between kinds.
func scaledField(main *unstructured.Unstructured) (at []string, found bool) {
	for _, e := range entriesOf(main) {
		if e.Manager != FieldManager || e.Subresource != scaleSubresource {
			continue
		}
		for p := range e.set.Leaves().All() {
			if way, ok := names(p); ok && !found {
				at, found = way, true
			}
		}
	}
	return at, found
}

// names returns a path that leads through mappings only.
func names(p fieldpath.Path) ([]string, bool) {
	var at []string
	for _, pe := range p {
		if pe.FieldName == nil {
			return nil, false
		}
		at = append(at, *pe.FieldName)
	}
	return at, true
}

// handBack returns the managedFields after FieldManager gave up the fields on the paths, except
// those that its other operations hold, to their former owners; false if it owns none of them.
// restored reports that all values are those before.
func handBack(main *unstructured.Unstructured, owners []Owner, ways, held [][]string, restored bool) ([]any, bool, error) {
	entries := entriesOf(main)
	ownerless := map[string]fieldpath.Path{}
	if restored {
		ownerless = withoutOwner(main, owners, ways)
	}
	given := map[string]fieldpath.Path{}
	for i := range entries {
		e := &entries[i]
		if e.Manager != FieldManager {
			continue
		}
		give := touched(e.set, main.Object, ways).Difference(touched(e.set, main.Object, held))
		for p := range give.All() {
			given[written(p)] = p.Copy()
		}
		e.set = e.set.Difference(give)
	}
	if len(given) == 0 && len(ownerless) == 0 {
		return nil, false, nil
	}
	maps.Copy(given, ownerless)
	for _, o := range owners {
		p, ok := given[o.Path]
		if _, isOwnerless := ownerless[o.Path]; !ok || isOwnerless && o.Manager == FieldManager {
			continue
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.isOf(o) })
		if i < 0 {
			i = len(entries)
			entries = append(entries, newEntry(o))
		}
		entries[i].set = entries[i].set.Union(fieldpath.NewSet(p))
	}
	out, err := encodeEntries(entries)
	return out, true, err
}

// withoutOwner returns the ends of paths that had an owner and have none now: a field scaled to
// 0 loses its owner, and scaling up from 0 sets none. A manager that applied an omitted false
// still owns the field.
func withoutOwner(main *unstructured.Unstructured, owners []Owner, ways [][]string) map[string]fieldpath.Path {
	out := map[string]fieldpath.Path{}
	for _, at := range ways {
		path := writtenNames(at)
		if len(ownersAt(main, at)) == 0 && slices.ContainsFunc(owners, func(o Owner) bool { return o.Path == path && o.Manager != FieldManager }) {
			out[path] = namesPath(at)
		}
	}
	return out
}

func newEntry(o Owner) entry {
	e := entry{set: fieldpath.NewSet(), ManagedFieldsEntry: metav1.ManagedFieldsEntry{
		Manager: o.Manager, Operation: metav1.ManagedFieldsOperationType(o.Operation), APIVersion: o.APIVersion, Subresource: o.Subresource, FieldsType: "FieldsV1",
	}}
	if !o.Time.IsZero() {
		t := metav1.NewTime(o.Time)
		e.Time = &t
	}
	return e
}

func encodeEntries(entries []entry) ([]any, error) {
	out := []any{}
	for _, e := range entries {
		if e.set.Empty() {
			continue
		}
		b, err := e.set.ToJSON()
		if err != nil {
			return nil, fmt.Errorf("managedFields of %s: %w", e.Manager, err)
		}
		var fields map[string]any
		if err := json.Unmarshal(b, &fields); err != nil {
			return nil, fmt.Errorf("managedFields of %s: %w", e.Manager, err)
		}
		m := map[string]any{"manager": e.Manager, "operation": string(e.Operation), "apiVersion": e.APIVersion, "fieldsType": e.FieldsType, "fieldsV1": fields}
		if e.Time != nil {
			m["time"] = e.Time.UTC().Format(time.RFC3339)
		}
		if e.Subresource != "" {
			m["subresource"] = e.Subresource
		}
		out = append(out, m)
	}
	return out, nil
}

// sortOwners puts owners in order, each once.
func sortOwners(owners []Owner) []Owner {
	slices.SortFunc(owners, func(a, b Owner) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Manager+a.Operation+a.APIVersion+a.Subresource, b.Manager+b.Operation+b.APIVersion+b.Subresource)
	})
	return slices.CompactFunc(owners, func(a, b Owner) bool { return a == b })
}
