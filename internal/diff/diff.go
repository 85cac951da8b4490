// Package diff compares the objects that are wanted with those that are live.
package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The changes of an object.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Difference is the change of one object.
type Difference struct {
	Object object.Ref `json:"object"`
	// What is Added, Removed or Changed.
	What   string  `json:"change"`
	Fields []Field `json:"fields,omitempty"`

	live, want *unstructured.Unstructured // masked, without ignored fields
}

// Field is a changed field. A list whose length changes is one field.
type Field struct {
	Path string `json:"path"`
	// Was and Is are JSON; empty if the field does not exist, and masked in a Secret.
	Was string `json:"before,omitempty"`
	Is  string `json:"after,omitempty"`
}

// Objects compares the desired objects with the live ones, sorted by reference, and omits unchanged
// objects and fields that the server sets. For a Secret it reports the changed keys, not their
// values.
func Objects(want, live []*unstructured.Unstructured) []Difference {
	wants, lives := byRef(want), byRef(live)
	refs := slices.Collect(maps.Keys(wants))
	for ref := range lives {
		if wants[ref] == nil {
			refs = append(refs, ref)
		}
	}
	var out []Difference
	slices.SortFunc(refs, object.Compare)
	for _, ref := range refs {
		d := Difference{Object: ref, What: Changed}
		d.live, d.want = compared(lives[ref]), compared(wants[ref])
		secret := ref.Group == "" && ref.Kind == "Secret"
		if secret {
			d.live, d.want = maskSecrets(d.live, d.want)
		}
		switch {
		case d.live == nil:
			d.What = Added
		case d.want == nil:
			d.What = Removed
		default:
			d.Fields = differences("", d.live.Object, d.want.Object)
			if len(d.Fields) == 0 {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}

func byRef(us []*unstructured.Unstructured) map[object.Ref]*unstructured.Unstructured {
	out := map[object.Ref]*unstructured.Unstructured{}
	for _, u := range us {
		if u != nil {
			out[object.RefOf(u)] = u
		}
	}
	return out
}

// ofServer lists the fields that the server sets.
var ofServer = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"}

// lastApplied contains the whole object, for a Secret also its values.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// compared returns a copy of an object without the fields that the server sets.
func compared(u *unstructured.Unstructured) *unstructured.Unstructured {
	if u == nil {
		return nil
	}
	u = u.DeepCopy()
	delete(u.Object, "status")
	for _, f := range ofServer {
		unstructured.RemoveNestedField(u.Object, "metadata", f)
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", lastApplied)
	for _, f := range []string{"annotations", "labels"} {
		if m, have, _ := unstructured.NestedMap(u.Object, "metadata", f); have && len(m) == 0 {
			unstructured.RemoveNestedField(u.Object, "metadata", f)
		}
	}
	return u
}

// The words that replace values of Secrets.
const (
	hidden        = "(hidden)"
	hiddenChanged = "(hidden, another value)"
)

// maskSecrets masks the values in two states of a Secret, and compares stringData with data.
func maskSecrets(live, want *unstructured.Unstructured) (was, now *unstructured.Unstructured) {
	had, has := secretData(live), secretData(want)
	mask := func(u *unstructured.Unstructured, data, other map[string]string, changed string) {
		if u == nil {
			return
		}
		masked := map[string]any{}
		for k, v := range data {
			masked[k] = hidden
			if o, both := other[k]; both && o != v {
				masked[k] = changed
			}
		}
		delete(u.Object, "stringData")
		delete(u.Object, "data")
		if len(masked) > 0 {
			u.Object["data"] = masked
		}
	}
	mask(live, had, has, hidden)
	mask(want, has, had, hiddenChanged)
	return live, want
}

// differences compares two values field by field, sorted by path.
func differences(at string, was, now any) []Field {
	if a, ok := was.(map[string]any); ok {
		if b, ok := now.(map[string]any); ok {
			return mapDifferences(at, a, b)
		}
	}
	if a, ok := was.([]any); ok {
		if b, ok := now.([]any); ok && len(a) == len(b) {
			var out []Field
			for i := range a {
				out = append(out, differences(field.Item(at, i), a[i], b[i])...)
			}
			return out
		}
	}
	x, y := written(was), written(now)
	if x == y {
		return nil
	}
	return []Field{{Path: at, Was: x, Is: y}}
}

func mapDifferences(at string, a, b map[string]any) []Field {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var out []Field
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, differences(field.Join(at, k), a[k], b[k])...)
	}
	return out
}

func written(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(string(text))
}
