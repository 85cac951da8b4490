package regulate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// MaxOwned limits how many objects with fields that FieldManager owns without a hold a journal
// keeps.
const MaxOwned = 200

// Owned are fields of an object that FieldManager owns although no hold will undo them: those of
// on.Recover, of inverses, of restarts, and those whose managedFields could not be restored.
// Without this list they would look held by another System.
type Owned struct {
	UID string `json:"uid"`
	// Paths are JSON pointers in the object, in order.
	Paths []string `json:"paths"`
}

// own adds fields, those of the newest objects last.
func (j *Journal) own(uid string, paths ...string) {
	if uid == "" || len(paths) == 0 {
		return
	}
	i := slices.IndexFunc(j.Owned, func(o Owned) bool { return o.UID == uid })
	if i >= 0 {
		paths = append(slices.Clone(paths), j.Owned[i].Paths...)
		j.Owned = slices.Delete(slices.Clone(j.Owned), i, i+1)
	}
	paths = slices.Clone(paths)
	slices.Sort(paths)
	j.Owned = append(j.Owned, Owned{uid, slices.Compact(paths)})
	if n := len(j.Owned) - MaxOwned; n > 0 {
		j.Owned = slices.Delete(j.Owned, 0, n)
	}
}

// ownStaying adds the fields of a closed hold that FieldManager still owns.
func (j *Journal) ownStaying(h *Hold) {
	for _, o := range h.Operations {
		paths := slices.Clone(o.KeptOwnership)
		if o.OnRecover || o.Action == "restart" {
			paths = append(paths, o.paths()...)
		}
		j.own(o.Target.UID, paths...)
	}
}

// paths are those of the fields of an operation in the object, as far as known without reading
// it.
func (o *Operation) paths() []string {
	if o.Target.Subresource == scaleSubresource && o.Replicas != "" {
		return []string{o.Replicas}
	}
	var out []string
	for _, c := range o.Changes {
		out = append(out, c.Path)
	}
	return out
}

// heldByAnother refuses to write a field that another System holds. All Systems write as
// FieldManager: a field that it owns and that our journal does not list is held by another
// System, or by a run whose journal was lost. Writing it would store the value of that hold as
// our before-image. A field without an owner is not detected: a number scaled to 0 has none.
func (x *run) heldByAnother(it *item, act *system.Action, changes []patch.Change) error {
	main := it.img.main
	if it.op.OnRecover || act.Restart || !slices.ContainsFunc(main.GetManagedFields(), ofFieldManager) {
		return nil
	}
	known := x.accounted(it)
	strange := slices.DeleteFunc(ownWays(main), func(at []string) bool {
		return slices.ContainsFunc(known, func(k []string) bool { return overlap(k, at) })
	})
	if len(strange) == 0 {
		return nil
	}
	for _, at := range x.wouldWrite(it, act, changes) {
		if i := slices.IndexFunc(strange, func(s []string) bool { return overlap(s, at) }); i >= 0 {
			return permanent("%s of %s is owned by %s, which this journal does not record: another System holds it, or a run whose journal was lost; "+
				"if `regulate status` of another System shows it, retry when that has recovered; else set the field by hand (kubectl apply or patch by its owner, which takes the ownership), and retry",
				strings.Join(strange[i], "."), it.op.Target, FieldManager)
		}
	}
	return nil
}

// accounted are the paths in an object that our journal lists.
func (x *run) accounted(it *item) [][]string {
	main := it.img.main
	uid := string(main.GetUID())
	var out [][]string
	for _, b := range it.sameObject {
		if b.op != it.op && b.op.Target.UID == uid {
			out = append(out, b.op.ways(main)...)
		}
	}
	for _, h := range x.j.Conflicts {
		for _, o := range h.Operations {
			if o.Target.UID == uid {
				out = append(out, o.ways(main)...)
			}
		}
	}
	for _, o := range x.j.Owned {
		if o.UID == uid {
			for _, p := range o.Paths {
				out = append(out, patch.Tokens(p))
			}
		}
	}
	return out
}

// wouldWrite returns the paths in the object that an action writes, including those that already
// have the wanted value: it compares with an object in which each of our fields differs.
func (x *run) wouldWrite(it *item, act *system.Action, changes []patch.Change) [][]string {
	o, main := it.op, it.img.main
	if it.img.scale != nil {
		if it.img.replicas != nil {
			return [][]string{it.img.replicas}
		}
		return o.ways(main)
	}
	base := patch.Copy(main.Object)
	for _, at := range ownWays(main) {
		if v, ok := patch.Lookup(base, at); ok {
			patch.Put(base, at, another(v))
		}
	}
	if after, err := x.edit(act, o.Target, base); err == nil {
		changes = append(slices.Clone(changes), patch.Diff(plain(base, true), plain(after, true))...)
	}
	var out [][]string
	for i := range changes {
		if at, ok := changes[i].Resolve(main.Object); ok {
			out = append(out, at)
		}
	}
	return out
}

func another(v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return v + " or another"
	case int64:
		return v + 1
	case float64:
		return v + 1
	}
	return v
}

// ownWays returns the paths of the values of an object that FieldManager owns.
func ownWays(main *unstructured.Unstructured) [][]string {
	entries := slices.DeleteFunc(entriesOf(main), func(e entry) bool { return !ofFieldManager(e.ManagedFieldsEntry) })
	var out [][]string
	var walk func(at []string, v any)
	walk = func(at []string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				walk(append(slices.Clip(at), k), v[k])
			}
			if len(v) > 0 {
				return
			}
		case []any:
			for i := range v {
				walk(append(slices.Clip(at), strconv.Itoa(i)), v[i])
			}
			if len(v) > 0 {
				return
			}
		}
		if slices.ContainsFunc(entries, func(e entry) bool { return ownsEnd(e.set, main.Object, at) }) {
			out = append(out, at)
		}
	}
	walk(nil, plain(main.Object, true))
	slices.SortFunc(out, slices.Compare)
	return out
}

// overlap reports that one path is a prefix of the other.
func overlap(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}
