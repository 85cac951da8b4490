package manual

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// walker finds the fields of a schema, in the order of their paths.
type walker struct{ found []found }

// maxDepth limits the walk: no schema that a server accepts is deeper.
const maxDepth = 64

// children walks the fields of an object. within is the nearest optional parent.
func (w *walker) children(at, optionalParent string, schema map[string]any, depth int, mandatory bool) {
	properties := mapOf(schema, "properties")
	required := textsOf(schema, "required")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if at == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		s, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		path := join(at, name)
		spec := path == "spec" // an object without it has no content
		needed := spec || slices.Contains(required, name)
		depthBelow := depth + 1
		if spec || path == "status" {
			depthBelow = 0
		}
		w.field(path, name, optionalParent, s, depthBelow, needed, mandatory && needed)
	}
}

func join(at, name string) string {
	plain := name != "" && strings.IndexFunc(name, func(r rune) bool { return r > 127 || !field.InWord(byte(r)) && r != '-' && r != '$' }) < 0
	switch {
	case !plain:
		return field.Key(at, name)
	case at == "":
		return name
	}
	return at + "." + name
}

func (w *walker) field(path, name, optionalParent string, schema map[string]any, depth int, required, mandatory bool) {
	f := found{name: name, depth: depth, always: mandatory, long: strings.TrimSpace(textOf(schema, "description"))}
	f.Path, f.Type, f.Required = path, typeOf(schema), required
	if required && !mandatory {
		f.OptionalParent = optionalParent
	}
	if v, ok := schema["default"]; ok {
		f.Default = literal(v)
	}
	f.Enum = enumOf(schema)
	f.Description = sentence(f.long)
	w.found = append(w.found, f)
	if depth > maxDepth {
		return
	}
	if !mandatory {
		optionalParent = path
	}
	inner, mark := schema, ""
	for range maxDepth {
		if items := mapOf(inner, "items"); items != nil {
			inner, mark = items, mark+"[]"
		} else if values := mapOf(inner, "additionalProperties"); values != nil {
			inner, mark = values, mark+".*"
		} else {
			break
		}
	}
	// The items of a list or a map are optional.
	w.children(path+mark, optionalParent, inner, depth, mandatory && mark == "")
}

// enumOf returns the allowed values of a field, or of its items.
func enumOf(schema map[string]any) []string {
	if items := mapOf(schema, "items"); items != nil {
		return enumOf(items)
	}
	list, _ := schema["enum"].([]any)
	var out []string
	for _, v := range list {
		out = append(out, plain(v))
	}
	return out
}

// typeOf returns the type of a field.
func typeOf(schema map[string]any) string {
	kind := textOf(schema, "type")
	items, values := mapOf(schema, "items"), mapOf(schema, "additionalProperties")
	switch {
	case boolOf(schema, "x-kubernetes-int-or-string"):
		return "integer or string"
	case kind == "array":
		return "[]" + typeOf(items)
	case values != nil:
		return "map of " + typeOf(values)
	case boolOf(schema, "x-kubernetes-embedded-resource"):
		return "object (any resource)"
	case kind == "" || kind == "object" && mapOf(schema, "properties") == nil && boolOf(schema, "x-kubernetes-preserve-unknown-fields"):
		return strings.TrimSpace("any " + kind)
	case kind == "string" && textOf(schema, "format") != "":
		return "string (" + textOf(schema, "format") + ")"
	}
	return kind
}
