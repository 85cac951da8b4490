package catalog

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Copy is what a copy of an object must not have beside the original: with it, both would write to
// one store of backups, and delete from it.
type Copy struct {
	// Omit leaves the object out: all that it does is to back up.
	Omit bool `json:"omit,omitempty"`
	// Remove are the fields that are taken out.
	Remove []string `json:"remove,omitempty" read:"fieldPath"`
	// Patch is merged into the object instead, with the placeholders of a Backup; {{stamp}} is the time
	// of the restore. A key whose placeholder has no value is left out.
	Patch map[string]any `json:"patch,omitempty" read:"values"`
	// Caveat is what can reach the store all the same, for people.
	Caveat string `json:"caveat,omitempty"`
	Source string `json:"source" read:",required"`
}

// CopyOf returns what a copy of an object of a kind must not have; nil for nothing that is known.
func CopyOf(gk schema.GroupKind) *Copy {
	_, kind, _ := KindOf(object.Resource{Group: gk.Group, Kind: gk.Kind})
	return kind.Copy
}

// Separate takes out of fields what a copy must not have, and returns the paths of what it removed and
// of what it set. What was set in the fields of given for the copy stays; given is nil for nothing.
func (c *Copy) Separate(fields, given map[string]any, v BackupValues) (removed, set []string) {
	for _, text := range c.Remove {
		path, err := field.Parse(text)
		if err != nil || anyMatch(path, given) {
			continue
		}
		last := path.Fields()[len(path.Fields())-1]
		for m := range path.Matches(fields) {
			delete(m.Holder, last)
			if !slices.Contains(removed, text) {
				removed = append(removed, text)
			}
		}
	}
	if patch, _ := v.Fill(c.Patch).(map[string]any); dropEmpty(patch) {
		set = MergePatch(fields, patch, "")
	}
	return removed, set
}

// dropEmpty drops the maps of a patch whose keys were all left out, and says whether anything is left.
// Merged, an empty map could make a section without the fields that it requires.
func dropEmpty(patch map[string]any) bool {
	maps.DeleteFunc(patch, func(_ string, v any) bool {
		inner, isMap := v.(map[string]any)
		return isMap && !dropEmpty(inner)
	})
	return len(patch) > 0
}

func anyMatch(p field.Path, fields map[string]any) bool {
	for range p.Find(fields) {
		return true
	}
	return false
}

// MergePatch merges a patch into fields (RFC 7386), and returns the paths of the values that it set.
func MergePatch(fields, patch map[string]any, at string) []string {
	var changed []string
	for key, v := range patch {
		path := field.Join(at, key)
		inner, isMap := v.(map[string]any)
		was, both := fields[key].(map[string]any)
		switch {
		case v == nil:
			delete(fields, key)
		case isMap && !both:
			was = map[string]any{}
			fields[key] = was
			fallthrough
		case isMap:
			changed = append(changed, MergePatch(was, inner, path)...)
		default:
			fields[key] = v
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}
