package manual

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// builder generates values. left limits the work: nested alternatives, and nested lists of many
// items, multiply.
type builder struct{ left int }

// value generates a value for a field of the name.
func (b *builder) value(name string, schema map[string]any) any {
	if b.left--; b.left < 0 {
		return nil
	}
	if v, ok := schema["default"]; ok && v != nil {
		return b.completed(name, schema, clone(v))
	}
	if list, ok := schema["enum"].([]any); ok && len(list) > 0 {
		i := max(0, slices.IndexFunc(list, func(v any) bool { return v != "" && v != nil }))
		return clone(list[i])
	}
	if boolOf(schema, "x-kubernetes-int-or-string") {
		return intOrString(name, schema)
	}
	switch textOf(schema, "type") {
	case "string":
		return b.alternatives(schema, func(s map[string]any) any { return sample(name, s) })
	case "boolean":
		return b.alternatives(schema, func(map[string]any) any { return false })
	case "integer", "number":
		return b.alternatives(schema, func(s map[string]any) any { return number(name, s) })
	case "array":
		return b.alternatives(schema, func(s map[string]any) any { return b.list(name, s) })
	}
	return b.object(name, schema)
}

// completed adds required fields to a default: a server adds those with a default, and refuses the
// rest.
func (b *builder) completed(name string, schema map[string]any, v any) any {
	m, ok := v.(map[string]any)
	if !ok || valid(schema, v) {
		return v
	}
	if object, ok := b.object(name, withoutKey(schema, "default")).(map[string]any); ok {
		maps.Copy(object, m)
		return object
	}
	return v
}

func withoutKey(schema map[string]any, key string) map[string]any {
	out := maps.Clone(schema)
	delete(out, key)
	return out
}

func valid(schema map[string]any, v any) bool {
	c := &checker{}
	c.value("", schema, v, false)
	return len(c.problems) == 0
}

// alternatives generates a value of the schema and, if that is invalid, of the schema merged with
// one of its alternatives (oneOf, anyOf) and all of allOf.
func (b *builder) alternatives(schema map[string]any, build func(map[string]any) any) any {
	for _, s := range mapsOf(schema, "allOf") {
		schema = merged(schema, s)
	}
	first := build(schema)
	one, anyOf := mapsOf(schema, "oneOf"), mapsOf(schema, "anyOf")
	if len(one)+len(anyOf) == 0 || valid(schema, first) {
		return first
	}
	for _, x := range append([]map[string]any{nil}, one...) {
		for _, y := range append([]map[string]any{nil}, anyOf...) {
			if b.left--; b.left < 0 {
				return first
			}
			if v := build(merged(merged(schema, x), y)); valid(schema, v) {
				return v
			}
		}
	}
	return first
}

// merged adds to a schema the requirements of an alternative.
func merged(schema, alternative map[string]any) map[string]any {
	switch {
	case len(alternative) == 0:
		return schema
	case schema == nil:
		return alternative
	}
	out := maps.Clone(schema)
	for key, v := range alternative {
		switch key {
		case "required":
			out[key] = anys(slices.Compact(slices.Sorted(slices.Values(append(textsOf(schema, key), textsOf(alternative, key)...)))))
		case "properties":
			properties := maps.Clone(mapOf(schema, key))
			if properties == nil {
				properties = map[string]any{}
			}
			for name := range mapOf(alternative, key) {
				properties[name] = merged(mapOf(properties, name), mapOf(alternative, key, name))
			}
			out[key] = properties
		case "items", "additionalProperties":
			if sub, ok := v.(map[string]any); ok {
				v = merged(mapOf(schema, key), sub)
			}
			out[key] = v
		case "oneOf", "anyOf", "allOf", "not":
			if _, taken := out[key]; !taken {
				out[key] = v
			}
		default:
			out[key] = v
		}
	}
	return out
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func (b *builder) object(name string, schema map[string]any) any {
	return b.alternatives(schema, func(s map[string]any) any { return b.fields(name, s) })
}

func (b *builder) fields(name string, schema map[string]any) map[string]any {
	out := map[string]any{}
	properties := mapOf(schema, "properties")
	if boolOf(schema, "x-kubernetes-embedded-resource") {
		out["apiVersion"], out["kind"], out["metadata"] = "v1", "ConfigMap", map[string]any{"name": exampleName}
	}
	add := func(field string) {
		if s := mapOf(properties, field); s != nil && out[field] == nil {
			out[field] = b.value(field, s)
		}
	}
	for _, field := range textsOf(schema, "required") {
		if add(field); out[field] == nil {
			out[field] = exampleName // of an object without declared fields
			if values := mapOf(schema, "additionalProperties"); values != nil {
				out[field] = b.value(field, values)
			}
		}
	}
	least, _ := numberOf(schema, "minProperties")
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		if len(out) < int(least) {
			add(field)
		}
	}
	if values := mapOf(schema, "additionalProperties"); values != nil && len(out) == 0 && name != "" {
		out[exampleName] = b.value(name, values)
	}
	return out
}

func (b *builder) list(name string, schema map[string]any) any {
	const most = 16
	least, _ := numberOf(schema, "minItems")
	n := max(1, min(int(least), most))
	if longest, ok := numberOf(schema, "maxItems"); ok {
		n = max(0, min(n, int(longest)))
	}
	items := mapOf(schema, "items")
	list := make([]any, 0, n)
	for i := range n {
		v := b.value(name, items)
		if i > 0 && literal(v) == literal(list[i-1]) {
			v = another(items, v, i)
		}
		list = append(list, v)
	}
	return list
}

// another returns an item that differs from the ones before it, if that is easy.
func another(schema map[string]any, v any, i int) any {
	switch v := v.(type) {
	case string:
		if list, ok := schema["enum"].([]any); ok && i < len(list) {
			return list[i]
		}
		if s := fmt.Sprint(v, "-", i+1); valid(schema, s) {
			return s
		}
	case int64:
		return v + int64(i)
	case map[string]any:
		out, _ := clone(v).(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key] = another(mapOf(schema, "properties", key), v[key], i)
		}
		return out
	}
	return v
}

// intOrString prefers a quantity if only a text fits.
func intOrString(name string, schema map[string]any) any {
	text := withoutKey(schema, "x-kubernetes-int-or-string")
	delete(text, "anyOf")
	delete(text, "allOf")
	text["type"] = "string"
	if s := sample(name, text); textOf(schema, "pattern") != "" && valid(schema, s) {
		return s
	}
	return number(name, schema)
}

// number returns an integer within the bounds.
func number(name string, schema map[string]any) any {
	n := 1.0
	if name == "port" {
		n = 8080
	}
	least, low := numberOf(schema, "minimum")
	most, high := numberOf(schema, "maximum")
	whole := textOf(schema, "type") != "number"
	step := 1.0
	if !whole && high && low && most-least <= 1 {
		step = (most - least) / 2
	}
	if high && boolOf(schema, "exclusiveMaximum") {
		most -= step
	}
	if low && boolOf(schema, "exclusiveMinimum") {
		least += step
	}
	if low && n < least {
		n = least
	}
	if high && n > most {
		n = most
	}
	if divisor, ok := numberOf(schema, "multipleOf"); ok && divisor > 0 {
		n = math.Ceil(n/divisor) * divisor
	}
	if whole || n == math.Trunc(n) {
		return int64(math.Ceil(n))
	}
	return n
}
