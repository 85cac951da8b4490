package skeleton

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Shapes are the subtrees that several files share, by content.
type Shapes map[string]string

// ReadShapes reads the shapes of a directory, for Text.
func ReadShapes(folder fs.FS) (Shapes, error) {
	shapes, err := readShapes(folder)
	if err != nil {
		return nil, err
	}
	all, hash := Shapes{}, hasher{}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		key := hash.key(Reduce(shapes[name]))
		if all[key] == "" {
			all[key] = name
		}
	}
	return all, nil
}

// Text formats the file for ReadAll. A shape, and a subtree that occurs more than once, are written
// by name.
func (f *File) Text(shapes Shapes) string {
	w := &writer{shapes: shapes, hash: hasher{}, reduce: reducer{}, count: map[string]int{}, types: map[string]string{}, named: map[string]map[string]any{}}
	var versions [][]versionIn
	for _, k := range f.Kinds {
		all := versionsIn(k.Definition, w.reduce)
		for _, v := range all {
			w.tally(v.schema)
		}
		versions = append(versions, all)
	}
	for _, all := range versions {
		for _, v := range all {
			w.name(v.schema, "")
		}
	}
	var head strings.Builder
	for i, s := range f.Sources {
		fmt.Fprintf(&head, "# %d %s\n", i+1, s)
	}
	head.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(w.named)) {
		fmt.Fprintf(&head, "type: @%s\n", name)
		w.out.Reset()
		w.fields("", w.named[name], true)
		head.WriteString(w.out.String() + "\n")
	}
	for i, k := range f.Kinds {
		head.WriteString(w.kind(k, versions[i]) + "\n")
	}
	return strings.TrimSuffix(head.String(), "\n")
}

// writer writes a file.
type writer struct {
	shapes Shapes
	hash   hasher
	reduce reducer
	count  map[string]int
	types  map[string]string // by content
	named  map[string]map[string]any
	out    strings.Builder
}

// leaves returns the number of lines of a subtree, written out.
func leaves(s map[string]any) int {
	n := 0
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		n += leaves(p.(map[string]any))
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := s[key].(map[string]any); ok {
			n += leaves(child)
		}
	}
	return max(n, 1)
}

// eachSubschema yields the subtrees of a schema, with the name of each one's field.
func eachSubschema(s map[string]any, each func(name string, sub map[string]any)) {
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		each(name, properties[name].(map[string]any))
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if sub, ok := s[key].(map[string]any); ok {
			each("", sub)
		}
	}
}

const leastLeaves = 6

func (w *writer) tally(s map[string]any) {
	eachSubschema(s, func(_ string, sub map[string]any) {
		key := w.hash.key(sub)
		if w.shapes[key] != "" {
			return
		}
		if leaves(sub) < leastLeaves || sub["properties"] == nil {
			w.tally(sub)
			return
		}
		if w.count[key]++; w.count[key] == 1 {
			w.tally(sub)
		}
	})
}

// name names subtrees that occur more than once, after their first field.
func (w *writer) name(s map[string]any, field string) {
	eachSubschema(s, func(name string, sub map[string]any) {
		if name == "" {
			name = field
		}
		key := w.hash.key(sub)
		if w.shapes[key] != "" || w.types[key] != "" {
			return
		}
		if w.count[key] > 1 && plainName.MatchString(name) {
			unique := name
			for n := 2; w.named[unique] != nil; n++ {
				unique = fmt.Sprintf("%s.%d", name, n)
			}
			w.types[key], w.named[unique] = unique, sub
		}
		w.name(sub, name)
	})
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// fields writes the lines of an object.
func (w *writer) fields(at string, s map[string]any, root bool) {
	if root && s["type"] != "object" || root && len(s) == 1 || root && s[preserveUnknown] == true {
		fmt.Fprintf(&w.out, ". %s\n", typeName(s))
	}
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		w.field(join(at, name), properties[name].(map[string]any), slices.Contains(required, any(name)))
	}
	switch additional := s["additionalProperties"].(type) {
	case map[string]any:
		w.field(at+"{}", additional, false)
	case bool:
		fmt.Fprintf(&w.out, "%s{} any*\n", at)
	}
	if items, ok := s["items"].(map[string]any); ok {
		w.field(at+"[]", items, false)
	}
}

func (w *writer) field(at string, s map[string]any, required bool) {
	mark := ""
	if required {
		mark = " !"
	}
	key := w.hash.key(s)
	switch {
	case w.shapes[key] != "":
		fmt.Fprintf(&w.out, "%s <%s>%s\n", at, w.shapes[key], mark)
		return
	case w.types[key] != "":
		fmt.Fprintf(&w.out, "%s <@%s>%s\n", at, w.types[key], mark)
		return
	}
	inner := s["properties"] != nil || s["additionalProperties"] != nil || s["items"] != nil
	switch {
	case !inner || s[preserveUnknown] == true:
		fmt.Fprintf(&w.out, "%s %s%s\n", at, typeName(s), mark)
	case required:
		fmt.Fprintf(&w.out, "%s !\n", at)
	}
	if inner {
		w.fields(at, s, false)
	}
}

func join(at, name string) string {
	switch {
	case !fieldName.MatchString(name):
		quoted, _ := json.Marshal(name)
		return at + "[" + string(quoted) + "]"
	case at == "":
		return name
	}
	return at + "." + name
}

var fieldName = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

// typeName returns the word for the type of a schema, with its values.
func typeName(s map[string]any) string {
	name, _ := s["type"].(string)
	switch {
	case s[intOrString] == true && s["pattern"] != nil:
		name = "quantity"
	case s[intOrString] == true:
		name = "intstr"
	case s["format"] == "date-time":
		name = "time"
	case s["format"] == "byte":
		name = "bytes"
	case s[preserveUnknown] == true && name == "":
		name = "any"
	case s[preserveUnknown] == true:
		name = "preserve"
	case name == "":
		name = undescribed
	}
	values, _ := s["enum"].([]any)
	if len(values) == 0 {
		return name
	}
	var words []string
	for _, v := range values {
		text, ok := v.(string)
		if !ok || !enumWord.MatchString(text) {
			quoted, _ := json.Marshal(v)
			text = string(quoted)
		}
		words = append(words, text)
	}
	return name + "=" + strings.Join(words, "|")
}

var enumWord = regexp.MustCompile(`^[A-Za-z0-9_./:@+*-]+$`)
