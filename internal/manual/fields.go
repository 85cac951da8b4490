package manual

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// Field is a field that an object can have.
type Field struct {
	Path string `json:"path"`
	// Type is string, integer, []object, map of string and so on.
	Type string `json:"type"`
	// Required is set if the parent must have it; OptionalParent names the parent if that is
	// optional.
	Required       bool   `json:"required"`
	OptionalParent string `json:"optionalParent,omitempty"`
	// Default is JSON.
	Default     string   `json:"default,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description,omitempty"`
	// HiddenFields counts the fields in it that are not shown.
	HiddenFields int `json:"hiddenFields,omitempty"`
}

// FieldSelection selects fields.
type FieldSelection struct {
	// All is every field of the spec, at any depth.
	All bool
	// Path is a field, with all that is below it.
	Path string
}

// maxFields limits the fields that are shown without a selection.
const maxFields = 40

// Fields returns the selected fields of a schema, and how many settable ones are omitted. Without a
// selection these are the required ones, then those of the first level (with a default, an
// enumeration or a common name first, and those with a description), then those of the second level
// with a default or an enumeration, up to maxFields.
func Fields(schema map[string]any, c FieldSelection) ([]Field, int, error) {
	if schema == nil {
		return []Field{}, 0, nil
	}
	w := &walker{}
	w.children("", "", schema, 0, true)
	if c.Path != "" {
		return fieldsBelow(schema, w.found, c.Path)
	}
	var all []found
	for _, f := range w.found {
		if f.settable() {
			all = append(all, f)
		}
	}
	if c.All {
		out := make([]Field, 0, len(all))
		for _, f := range all {
			out = append(out, f.Field)
		}
		return out, 0, nil
	}
	chosen := worth(all)
	out := make([]Field, 0, len(chosen))
	shown := map[string]bool{}
	for _, f := range chosen {
		shown[f.Path] = true
	}
	for _, f := range chosen {
		one := f.Field
		for _, other := range all {
			if !shown[other.Path] && other.isUnder(f.Path) {
				one.HiddenFields++
			}
		}
		out = append(out, one)
	}
	return out, len(all) - len(chosen), nil
}

// found is a field with its place.
type found struct {
	Field
	depth  int  // 1 for the fields of the spec
	always bool // it and all its parents are required
	name   string
	long   string
}

// settable reports whether a user may set the field: the status is the operator's.
func (f *found) settable() bool {
	return f.Path != "spec" && f.Path != "status" && !f.isUnder("status")
}

func (f *found) isUnder(path string) bool {
	rest, ok := strings.CutPrefix(f.Path, path)
	return ok && rest != "" && strings.ContainsAny(rest[:1], ".[")
}

// common are names of fields that are set first in kinds of many operators.
const common = " replicas size version image storage storageSize resources storageClassName secretName schedule backup backups tls selector template ingress service databases users config host domain suspend paused "

// rank orders fields by usefulness: 0 first, negative not at all.
func (f *found) rank() int {
	set := f.Default != "" || len(f.Enum) > 0
	first := f.depth <= 1
	switch {
	case f.always:
		return 0
	case strings.HasPrefix(strings.ToLower(f.Description), "deprecated"):
		return -1
	case first && (set || strings.Contains(common, " "+f.name+" ")):
		return 1
	case first && f.Description != "":
		return 2
	case first:
		return 3
	case set && f.depth == 2:
		return 4
	}
	return -1
}

// worth returns the useful fields, required ones first.
func worth(all []found) []found {
	var chosen []found
	for _, f := range all {
		if f.rank() >= 0 {
			chosen = append(chosen, f)
		}
	}
	slices.SortStableFunc(chosen, func(a, b found) int { return cmp.Or(a.rank()-b.rank(), a.depth-b.depth, comparePaths(a.Path, b.Path)) })
	if len(chosen) > maxFields {
		chosen = chosen[:maxFields]
	}
	slices.SortStableFunc(chosen, func(a, b found) int { return cmp.Or(min(a.rank(), 1)-min(b.rank(), 1), comparePaths(a.Path, b.Path)) })
	return chosen
}

// comparePaths sorts the fields below a field directly after it.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "."), strings.Split(b, "."))
}

// fieldsBelow returns a field and all that is below it.
func fieldsBelow(schema map[string]any, all []found, text string) ([]Field, int, error) {
	p, err := field.Parse(text)
	if err != nil {
		return nil, 0, err
	}
	metadata := field.OfType(reflect.TypeFor[metav1.ObjectMeta]())
	if err := p.Check(field.OfSchema(schema, metadata)); err != nil {
		return nil, 0, err
	}
	want := bare(p.String())
	var out []Field
	for _, f := range all {
		// A list of objects and its items count as one place.
		if got := bare(f.Path); got == want {
			f.Description = f.long
			out = append(out, f.Field)
		} else if strings.HasPrefix(got, want+".") || strings.HasPrefix(got, want+`["`) {
			out = append(out, f.Field)
		}
	}
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("path %q: the schema does not have it", text)
	}
	return out, 0, nil
}

// bare removes the marks of lists from a path.
func bare(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '[' || i+1 < len(path) && strings.ContainsAny(path[i+1:i+2], `"'`) {
			b.WriteByte(path[i])
			continue
		}
		end := strings.IndexByte(path[i:], ']')
		if end < 0 {
			return b.String() + path[i:]
		}
		i += end
	}
	return b.String()
}
