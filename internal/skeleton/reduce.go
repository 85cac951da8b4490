package skeleton

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Reduce returns of a schema what a skeleton has: names, types, enum values, and what is
// required. What was read of a skeleton stays as it is.
func Reduce(schema map[string]any) map[string]any { return reducer{}.reduce(schema) }

// reducer reduces subtrees that are shared once.
type reducer map[uintptr]reduced

// reduced is what became of a schema, which is kept so that no other stands at its address.
type reduced struct{ from, to map[string]any }

func (r reducer) reduce(schema map[string]any) map[string]any {
	at := reflect.ValueOf(schema).Pointer()
	if done, ok := r[at]; ok && at != 0 {
		return done.to
	}
	out := map[string]any{}
	r[at] = reduced{schema, out}
	switch {
	case schema[intOrString] == true:
		out[intOrString] = true
		if p, _ := schema["pattern"].(string); p == quantityPattern {
			out["pattern"] = p
		}
	case schema["type"] != nil:
		out["type"] = schema["type"]
	}
	if f := schema["format"]; out["type"] == "string" && (f == "date-time" || f == "byte") {
		out["format"] = f
	}
	if schema[preserveUnknown] == true {
		out[preserveUnknown] = true
	}
	if values, ok := schema["enum"].([]any); ok {
		if values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil }); len(values) > 0 {
			out["enum"] = values
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) > 0 {
		out["properties"] = r.reduceAll(properties)
		if required := requiredOf(schema, properties); len(required) > 0 {
			out["required"] = required
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		out["items"] = r.reduce(items)
	}
	switch more := schema["additionalProperties"].(type) {
	case map[string]any:
		out["additionalProperties"] = r.reduce(more)
	case bool:
		if more {
			out["additionalProperties"] = true
		}
	}
	if out["type"] == nil && out[preserveUnknown] == nil && (out["properties"] != nil || out["additionalProperties"] != nil) {
		out["type"] = "object"
	}
	return out
}

func (r reducer) reduceAll(properties map[string]any) map[string]any {
	out := make(map[string]any, len(properties))
	for name, p := range properties {
		p, _ := p.(map[string]any)
		out[name] = r.reduce(p)
	}
	return out
}

// requiredOf are the required fields that there are, in order.
func requiredOf(schema, properties map[string]any) []any {
	var all []any
	list, _ := schema["required"].([]any)
	for _, name := range list {
		if text, ok := name.(string); ok && properties[text] != nil && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

// hasher tells which schemas say the same. Subtrees that are shared are looked at once.
type hasher map[uintptr]hashed

type hashed struct {
	of  map[string]any
	key string
}

// key is the same text for reduced schemas that say the same.
func (h hasher) key(schema map[string]any) string {
	at := reflect.ValueOf(schema).Pointer()
	if done, ok := h[at]; ok {
		return done.key
	}
	flat := map[string]any{}
	for name, value := range schema {
		switch below := value.(type) {
		case map[string]any:
			if name != "properties" {
				flat[name] = h.key(below)
				continue
			}
			keys := map[string]any{}
			for name, p := range below {
				keys[name] = h.key(p.(map[string]any))
			}
			flat[name] = keys
		default:
			flat[name] = value
		}
	}
	text, err := json.Marshal(flat)
	if err != nil {
		return "" // It has what JSON has.
	}
	sum := sha256.Sum256(text)
	h[at] = hashed{schema, string(sum[:16])}
	return h[at].key
}
