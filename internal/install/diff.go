package install

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

// What becomes of an object.
const (
	ObjectAdded   = "added"
	ObjectRemoved = "removed"
	ObjectChanged = "changed"
)

// Difference is what would become of one object.
type Difference struct {
	Object object.Ref `json:"object"`
	// What is ObjectAdded, ObjectRemoved or ObjectChanged.
	What   string            `json:"change"`
	Fields []FieldDifference `json:"fields,omitempty"`

	live, want *unstructured.Unstructured // without what is not compared, masked
}

// FieldDifference is a field that would be another; of a list it is told as a whole where
// its length changes.
type FieldDifference struct {
	Path string `json:"path"`
	// Was and Is are JSON, empty for nothing, and masked in a Secret.
	Was string `json:"before,omitempty"`
	Is  string `json:"after,omitempty"`
}

// Diff compares objects as they would be with those that are there, each once, in the order
// of references; those that would stay as they are, are left out. What the server sets is not
// compared. Of Secrets it is told which keys change, and no value.
func Diff(want, live []*unstructured.Unstructured) []Difference {
	wants, lives := byRef(want), byRef(live)
	refs := slices.Collect(maps.Keys(wants))
	for ref := range lives {
		if wants[ref] == nil {
			refs = append(refs, ref)
		}
	}
	var out []Difference
	for _, ref := range sortRefs(refs) {
		d := Difference{Object: ref, What: ObjectChanged}
		d.live, d.want = compared(lives[ref]), compared(wants[ref])
		secret := ref.GroupKind() == secretKind
		if secret {
			d.live, d.want = maskSecrets(d.live, d.want)
		}
		switch {
		case d.live == nil:
			d.What = ObjectAdded
		case d.want == nil:
			d.What = ObjectRemoved
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
			out[refOf(u)] = u
		}
	}
	return out
}

// ofServer are fields that the server sets.
var ofServer = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"}

// lastApplied holds the whole object, of a Secret its values too.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// compared is a copy of an object without what the server sets.
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

// The words that stand for values of Secrets.
const (
	hidden        = "(hidden)"
	hiddenChanged = "(hidden, another value)"
)

// maskSecrets replaces what two states of a Secret hold. What was given as text (stringData)
// is held against what is there.
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

// differences compares two values, field by field, in the order of paths.
func differences(at string, was, now any) []FieldDifference {
	if a, ok := was.(map[string]any); ok {
		if b, ok := now.(map[string]any); ok {
			return mapDifferences(at, a, b)
		}
	}
	if a, ok := was.([]any); ok {
		if b, ok := now.([]any); ok && len(a) == len(b) {
			var out []FieldDifference
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
	return []FieldDifference{{Path: at, Was: x, Is: y}}
}

func mapDifferences(at string, a, b map[string]any) []FieldDifference {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var out []FieldDifference
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
