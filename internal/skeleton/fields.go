package skeleton

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Words of definitions.
const (
	preserveUnknown = "x-kubernetes-preserve-unknown-fields"
	intOrString     = "x-kubernetes-int-or-string"
	// undescribed marks a schema without a type and without content.
	undescribed = "unknown"
)

// fields reads the lines of an object: PATH TYPE [!].
func (r *reader) fields(lines []line) (map[string]any, error) {
	root := map[string]any{"type": "object"}
	for _, l := range lines {
		at := pathEnd(l.text)
		if at == len(l.text) {
			return nil, r.refuse(l, "a field without a type")
		}
		path, rest := l.text[:at], l.text[at+1:]
		required := rest == "!" || strings.HasSuffix(rest, " !")
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, "!"), " ")
		if !required {
			rest = l.text[at+1:]
		}
		s := slot{schema: root}
		for path != "." && path != "" {
			var ok bool
			if s, path, ok = s.step(path); !ok {
				return nil, r.refuse(l, "%q is not a path", l.text[:at])
			}
		}
		if required {
			s.require()
		}
		if rest == "" {
			continue
		}
		schema, err := r.typeOf(rest, l)
		if err != nil {
			return nil, err
		}
		s.put(schema)
	}
	return root, nil
}

// pathEnd returns the end of a line's path: the first space outside of quotes.
func pathEnd(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ' ' && !quoted:
			return i
		}
	}
	return len(text)
}

// slot is a schema on a path, with its place in its parent.
type slot struct {
	schema, parent map[string]any
	// name is that of the field in its parent; empty for the items of a list or a map, which are at
	// key.
	name, key string
	// holder and owner are the object, and the field in it that is a list or a map.
	holder map[string]any
	owner  string
}

// step follows the first step of a path, and returns the rest.
func (s slot) step(path string) (slot, string, bool) {
	switch {
	case strings.HasPrefix(path, "[]"):
		return s.into("array", "items"), path[2:], true
	case strings.HasPrefix(path, "{}"):
		return s.into("object", "additionalProperties"), path[2:], true
	}
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, `["`) {
		end := pathEnd(strings.ReplaceAll(path[1:], "]", " ")) + 1
		var name string
		if end >= len(path) || json.Unmarshal([]byte(path[1:end]), &name) != nil {
			return s, path, false
		}
		return s.field(name), path[end+1:], true
	}
	end := strings.IndexAny(path, ".[{")
	if end < 0 {
		end = len(path)
	}
	return s.field(path[:end]), path[end:], end > 0
}

func (s slot) into(kind, key string) slot {
	s.setKind(kind)
	next, ok := s.schema[key].(map[string]any)
	if !ok {
		next = map[string]any{}
		s.schema[key] = next
	}
	return slot{schema: next, parent: s.schema, key: key, holder: s.holder, owner: s.owner}
}

func (s slot) field(name string) slot {
	s.setKind("object")
	fields, ok := s.schema["properties"].(map[string]any)
	if !ok {
		fields = map[string]any{}
		s.schema["properties"] = fields
	}
	next, ok := fields[name].(map[string]any)
	if !ok {
		next = map[string]any{}
		fields[name] = next
	}
	return slot{schema: next, parent: s.schema, name: name, holder: s.schema, owner: name}
}

// setKind sets the type of a schema without one, by its content, unless it may be anything.
func (s slot) setKind(kind string) {
	if s.schema["type"] == nil && s.schema[preserveUnknown] == nil {
		s.schema["type"] = kind
	}
}

func (s slot) require() {
	if s.holder == nil {
		return
	}
	all, _ := s.holder["required"].([]any)
	if !slices.Contains(all, any(s.owner)) {
		s.holder["required"] = append(all, s.owner)
	}
}

// put sets the schema of the slot. A shared subtree is not copied.
func (s slot) put(schema map[string]any) {
	switch {
	case schema["any*"] != nil:
		s.parent[s.key] = true
	case s.parent == nil:
		delete(s.schema, "type")
		maps.Copy(s.schema, schema)
	case s.name != "":
		s.parent["properties"].(map[string]any)[s.name] = schema
	default:
		s.parent[s.key] = schema
	}
}

// typeOf parses a type. The map is new, except for a named type or shape.
func (r *reader) typeOf(text string, l line) (map[string]any, error) {
	switch {
	case strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">"):
		schema, err := r.subtree(text[1 : len(text)-1])
		if err != nil {
			return nil, r.refuse(l, "%v", err)
		}
		return schema, nil
	case strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}"):
		return r.object(text[1:len(text)-1], l)
	}
	name, values, enum := strings.Cut(text, "=")
	schema := scalar(name)
	if schema == nil {
		return nil, r.refuse(l, "%q is not a type", text)
	}
	if enum {
		list, ok := enumOf(values, schema["type"])
		if !ok {
			return nil, r.refuse(l, "%q is not a list of values", values)
		}
		schema["enum"] = list
	}
	return schema, nil
}

func scalar(name string) map[string]any {
	switch name {
	case "string", "integer", "number", "boolean", "object", "array":
		return map[string]any{"type": name}
	case "time":
		return map[string]any{"type": "string", "format": "date-time"}
	case "bytes":
		return map[string]any{"type": "string", "format": "byte"}
	case "intstr":
		return map[string]any{intOrString: true}
	case "quantity":
		return map[string]any{intOrString: true, "pattern": quantityPattern}
	case "preserve":
		return map[string]any{"type": "object", preserveUnknown: true}
	case "any":
		return map[string]any{preserveUnknown: true}
	case "any*":
		return map[string]any{"any*": true}
	case undescribed:
		return map[string]any{}
	case "BoolString":
		return map[string]any{"type": name}
	}
	return nil
}

// quantityPattern is the pattern of apimachinery's Quantity that controller-gen writes.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// enumOf parses a|b|"c d".
func enumOf(text string, kind any) ([]any, bool) {
	var all []any
	for _, word := range split(text, '|') {
		var value any = word
		if strings.HasPrefix(word, `"`) || kind != "string" && kind != nil {
			if json.Unmarshal([]byte(word), &value) != nil {
				return nil, false
			}
		}
		if number, ok := value.(float64); ok && kind == "integer" {
			value = int64(number)
		}
		all = append(all, value)
	}
	return all, true
}

// split splits a text at a sign outside of quotes, brackets and braces.
func split(text string, at byte) []string {
	var all []string
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[' || c == '<':
			depth++
		case c == '}' || c == ']' || c == '>':
			depth--
		case c == at && depth == 0:
			all = append(all, text[from:i])
			from = i + 1
		}
	}
	return append(all, text[from:])
}

// object parses the fields of {a,b!,c:integer,d[],e{}:T}.
func (r *reader) object(text string, l line) (map[string]any, error) {
	root := map[string]any{"type": "object"}
	for _, part := range split(text, ',') {
		path, kind := part, "string"
		if all := split(part, ':'); len(all) > 1 {
			path, kind = all[0], strings.Join(all[1:], ":")
		}
		path, required := strings.Replace(path, "!", "", 1), strings.Contains(path, "!")
		s := slot{schema: root}
		for path != "" {
			var ok bool
			if s, path, ok = s.step(path); !ok {
				return nil, r.refuse(l, "%q is not a field", part)
			}
		}
		if required {
			s.require()
		}
		schema, err := r.typeOf(kind, l)
		if err != nil {
			return nil, err
		}
		s.put(schema)
	}
	return root, nil
}
