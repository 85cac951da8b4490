package skeleton

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Reduce returns the part of a schema that a skeleton has: names, types, enum values, and required
// fields. The schema of a skeleton is unchanged.
func Reduce(schema map[string]any) map[string]any { return reducer{}.reduce(schema) }

// reducer reduces shared subtrees once.
type reducer map[uintptr]reduced

// reduced is a schema with its result; it retains the schema so that its address is not reused.
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
	switch additional := schema["additionalProperties"].(type) {
	case map[string]any:
		out["additionalProperties"] = r.reduce(additional)
	case bool:
		if additional {
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

// requiredOf returns the existing required fields, in order.
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

// hasher compares schemas by content. It visits shared subtrees once.
type hasher map[uintptr]hashed

type hashed struct {
	of  map[string]any
	key string
}

// key returns the same text for reduced schemas with the same content.
func (h hasher) key(schema map[string]any) string {
	at := reflect.ValueOf(schema).Pointer()
	if done, ok := h[at]; ok {
		return done.key
	}
	flat := map[string]any{}
	for name, value := range schema {
		switch child := value.(type) {
		case map[string]any:
			if name != "properties" {
				flat[name] = h.key(child)
				continue
			}
			keys := map[string]any{}
			for name, p := range child {
				keys[name] = h.key(p.(map[string]any))
			}
			flat[name] = keys
		default:
			flat[name] = value
		}
	}
	text, err := json.Marshal(flat)
	if err != nil {
		return "" // only values of JSON
	}
	sum := sha256.Sum256(text)
	h[at] = hashed{schema, string(sum[:16])}
	return h[at].key
}
