package crd

import (
	"maps"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// schemaPath is the place of a schema in objects.
type schemaPath struct {
	path string
	// root and embedded are set for a whole object: apiVersion, kind and metadata are always
	// declared.
	root, embedded bool
	// metadata is set for that of the root, whose fields the API server declares.
	metadata bool
	// counted is set if the number or the combination of fields is limited here or above: a default
	// may exceed it.
	counted bool
}

func (p schemaPath) child(path string, was, now map[string]any) schemaPath {
	next := schemaPath{path: path, counted: p.counted}
	next.embedded = now["x-kubernetes-embedded-resource"] == true || was["x-kubernetes-embedded-resource"] == true
	return next
}

// schema compares the schemas of a place. If the type differs, it does not compare what is below.
func (c *comparer) schema(at schemaPath, was, now map[string]any) {
	if leaf(was) && leaf(now) && sameSchema(was, now) {
		return // most are equal, and this is faster than each rule
	}
	at.counted = at.counted || counts(now)
	if !c.types(at, was, now) {
		return
	}
	c.flags(at, was, now)
	c.values(at, was, now)
	c.numbers(at, was, now)
	c.text(at, was, now)
	c.required(at, was, now)
	c.properties(at, was, now)
	c.additional(at, was, now)
	c.items(at, was, now)
	c.lists(at, was, now)
	c.validations(at, was, now)
	for _, key := range []string{"allOf", "anyOf", "oneOf", "not"} {
		if !sameKeyword(key, was[key], now[key]) {
			c.add(compositionChanged, at.path, was[key], now[key], "%s changed", key)
		}
	}
	for _, key := range []string{"description", "title", "example", "externalDocs"} {
		if !sameKeyword(key, was[key], now[key]) {
			c.reworded++
		}
	}
	c.unknownKeywords(at, was, now)
}

// leaf reports whether a schema has no nested ones, so that comparing it as a whole is cheap.
func leaf(schema map[string]any) bool {
	return schema["properties"] == nil && schema["items"] == nil && schema["additionalProperties"] == nil
}

// unknownKeywords records differences that no rule covers. Most schemas have no such keywords, so
// it is cheap.
func (c *comparer) unknownKeywords(at schemaPath, was, now map[string]any) {
	for key, v := range was {
		if !keywordKnown(key) && !sameKeyword(key, v, now[key]) {
			c.unknown(at.path, was, now, keywordKnown)
			return
		}
	}
	for key, v := range now {
		if _, both := was[key]; !both && !keywordKnown(key) && !sameKeyword(key, nil, v) {
			c.unknown(at.path, was, now, keywordKnown)
			return
		}
	}
}

func keywordKnown(key string) bool {
	switch key {
	case "type", "nullable", "default", "enum", "format", "pattern", "multipleOf", "uniqueItems",
		"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "minLength", "maxLength",
		"minItems", "maxItems", "minProperties", "maxProperties",
		"required", "properties", "additionalProperties", "items",
		"allOf", "anyOf", "oneOf", "not", "description", "title", "example", "externalDocs",
		"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
		"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations":
		return true
	}
	return false
}

// counts reports whether a schema limits the number or the combination of fields.
func counts(schema map[string]any) bool {
	for _, key := range []string{"maxProperties", "enum", "allOf", "anyOf", "oneOf", "not"} {
		if schema[key] != nil {
			return true
		}
	}
	return false
}

// types compares the types of a value, and reports whether to compare further.
func (c *comparer) types(at schemaPath, was, now map[string]any) bool {
	const either = "x-kubernetes-int-or-string"
	if was[either] == true != (now[either] == true) {
		c.add(intOrStringChanged, at.path, typeOf(was), typeOf(now), "another type")
		return false
	}
	if !sameKeyword("type", was["type"], now["type"]) {
		c.add(typeChanged, at.path, typeOf(was), typeOf(now), "another type")
		return false
	}
	return true
}

func typeOf(schema map[string]any) any {
	if schema["x-kubernetes-int-or-string"] == true {
		return "integer or string"
	}
	if schema["type"] == nil {
		return "any type"
	}
	return schema["type"]
}

func (c *comparer) flags(at schemaPath, was, now map[string]any) {
	for _, f := range []struct {
		key, given, withdrawn, more, less string
	}{
		{"nullable", nullableGranted, nullableWithdrawn, "it can be null", "it can no longer be null"},
		{"x-kubernetes-preserve-unknown-fields", pruningEnded, pruningStarted, "unknown fields are stored", "unknown fields are dropped"},
		{"x-kubernetes-embedded-resource", embeddedChanged, embeddedChanged, "it is an embedded object", "it is no longer an embedded object"},
	} {
		had, has := was[f.key] == true, now[f.key] == true
		switch {
		case had && !has:
			c.add(f.withdrawn, at.path, nil, nil, "%s", f.less)
		case has && !had:
			c.add(f.given, at.path, nil, nil, "%s", f.more)
		}
	}
}

// fieldsOf returns the properties of a schema, including those of every object.
func (c *comparer) fieldsOf(at schemaPath, schema map[string]any) map[string]any {
	named, ok := schema["properties"].(map[string]any)
	if !ok && schema["properties"] != nil {
		c.malformed(at.path, "has properties that are not an object")
	}
	var implied map[string]any
	text := map[string]any{"type": "string"}
	switch {
	case at.root:
		implied = map[string]any{"apiVersion": text, "kind": text, "metadata": map[string]any{"type": "object"}}
	case at.embedded:
		implied = map[string]any{"apiVersion": text, "kind": text, "metadata": map[string]any{"type": "object"}}
	case at.metadata:
		implied = map[string]any{"name": text, "generateName": text}
	default:
		return named
	}
	maps.Copy(implied, named)
	return implied
}

// open reports whether a schema keeps undeclared fields.
func (c *comparer) open(schema map[string]any) bool {
	return c.keepsAll || schema["x-kubernetes-preserve-unknown-fields"] == true || additionalOf(schema) != nil
}

func (c *comparer) properties(at schemaPath, was, now map[string]any) {
	before, after := c.fieldsOf(at, was), c.fieldsOf(at, now)
	if len(before) == 0 && len(after) == 0 {
		return
	}
	for _, name := range keysOf(before, after) {
		path := field.Join(at.path, name)
		old, had := before[name]
		next, has := after[name]
		former, ok := old.(map[string]any)
		if had && !ok {
			c.malformed(path, "has a schema that is %s, not an object", short(old))
			continue
		}
		latter, ok := next.(map[string]any)
		if has && !ok {
			c.malformed(path, "has a schema that is %s, not an object", short(next))
			continue
		}
		switch {
		case had && has:
			inner := at.child(path, former, latter)
			inner.metadata = (at.root || at.embedded) && name == "metadata"
			c.schema(inner, former, latter)
		case had:
			c.add(fieldRemoved, path, nil, nil, "the field was removed")
		case c.open(was):
			c.add(openFieldConstrained, path, nil, typeOf(latter), "any field was stored here, and now it has a schema")
		case at.counted && latter["default"] != nil:
			c.add(defaultAdded, path, nil, latter["default"], "the field was added with a default, where the combination of fields is limited")
		default:
			c.add(fieldAdded, path, nil, nil, "the field was added")
		}
	}
}

func (c *comparer) required(at schemaPath, was, now map[string]any) {
	before, after := c.namesAt(at, was["required"]), c.namesAt(at, now["required"])
	fields := c.fieldsOf(at, now)
	for _, name := range after {
		if contains(before, name) || isAlwaysPresent(at, name) {
			continue
		}
		schema, _ := fields[name].(map[string]any)
		if schema["default"] != nil {
			c.add(requiredDefaulted, field.Join(at.path, name), nil, nil, "the field is required, and has the default %s", short(schema["default"]))
			continue
		}
		c.add(requiredAdded, field.Join(at.path, name), nil, nil, "the field is required")
	}
	for _, name := range before {
		if !contains(after, name) && !isAlwaysPresent(at, name) {
			c.add(requiredRelaxed, field.Join(at.path, name), nil, nil, "the field is no longer required")
		}
	}
}

// isAlwaysPresent reports whether every object has the field.
func isAlwaysPresent(at schemaPath, name string) bool {
	return (at.root || at.embedded) && (name == "apiVersion" || name == "kind") || at.root && name == "metadata"
}

func (c *comparer) namesAt(at schemaPath, v any) []string {
	list, ok := v.([]any)
	if !ok && v != nil {
		c.malformed(at.path, "names required fields in %s, which is not a list", short(v))
	}
	names := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			c.malformed(at.path, "has %s, which is not a name, in a list of names", short(item))
		}
		names = append(names, s)
	}
	return names
}
