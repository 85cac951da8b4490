package crd

import (
	"fmt"
	"slices"
	"strings"
)

// additionalOf returns the schema of undeclared keys: true, an object, or nil for none.
func additionalOf(schema map[string]any) any {
	switch v := schema["additionalProperties"].(type) {
	case bool:
		if v {
			return v
		}
	case map[string]any:
		return v
	}
	return nil
}

func (c *comparer) additional(at schemaPath, was, now map[string]any) {
	before, after := additionalOf(was), additionalOf(now)
	former, sub := before.(map[string]any)
	latter, too := after.(map[string]any)
	path := anyKey(at.path)
	switch {
	case before == nil && after == nil, before == true && after == true:
	case before == nil:
		if c.open(was) {
			c.add(openFieldConstrained, path, nil, nil, "any field was stored here, and now keys have a schema")
			return
		}
		c.add(additionalRelaxed, path, nil, nil, "other keys are accepted")
	case after == nil:
		if now["x-kubernetes-preserve-unknown-fields"] == true {
			c.add(additionalRelaxed, path, nil, nil, "any key is stored")
			return
		}
		c.add(additionalTightened, path, nil, nil, "other keys are dropped")
	case sub && too:
		c.schema(at.child(path, former, latter), former, latter)
	case sub && scalar(former):
		c.add(additionalRelaxed, path, typeOf(former), "any", "any value is accepted")
	case sub:
		// The API server drops undeclared fields below additionalProperties: true.
		c.add(additionalTightened, path, typeOf(former), "any", "the fields of values are dropped, since the schema does not name them")
	default:
		c.add(additionalTightened, path, "any", typeOf(latter), "values have a schema")
	}
}

func scalar(schema map[string]any) bool {
	switch schema["type"] {
	case "string", "integer", "number", "boolean":
		return true
	}
	return schema["x-kubernetes-int-or-string"] == true
}

func (c *comparer) items(at schemaPath, was, now map[string]any) {
	former, had := was["items"].(map[string]any)
	latter, has := now["items"].(map[string]any)
	switch {
	case had && has:
		path := at.path + "[]"
		c.schema(at.child(path, former, latter), former, latter)
	case !same(was["items"], now["items"]):
		c.add(unknownChange, at.path+"[]", was["items"], now["items"], "the schema of items as a whole")
	}
}

// lists compares how lists and maps are merged.
func (c *comparer) lists(at schemaPath, was, now map[string]any) {
	for _, f := range []struct{ key, rule, what string }{
		{"x-kubernetes-list-type", listTypeChanged, "another kind of list"},
		{"x-kubernetes-map-type", mapTypeChanged, "another kind of map"},
	} {
		if was[f.key] == nil && now[f.key] == nil {
			continue
		}
		if before, after := topology(f.key, was[f.key]), topology(f.key, now[f.key]); before != after {
			c.add(f.rule, at.path, before, after, "%s", f.what)
		}
	}
	const keys = "x-kubernetes-list-map-keys"
	if was[keys] == nil && now[keys] == nil || topology("x-kubernetes-list-type", was["x-kubernetes-list-type"]) != topology("x-kubernetes-list-type", now["x-kubernetes-list-type"]) {
		return
	}
	before, after := c.namesAt(at, was[keys]), c.namesAt(at, now[keys])
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		c.add(listMapKeysChanged, at.path, before, after, "items have other keys")
	}
}

// rule is one of x-kubernetes-validations: its expression and its message.
type rule struct{ asks, says string }

func (c *comparer) rulesAt(at schemaPath, v any) []rule {
	list, ok := v.([]any)
	if !ok && v != nil {
		c.malformed(at.path, "has x-kubernetes-validations that are not a list")
	}
	var all []rule
	for _, item := range list {
		m, ok := item.(map[string]any)
		text, _ := m["rule"].(string)
		if !ok || text == "" {
			c.malformed(at.path, "has a CEL rule without its text")
			continue
		}
		r := rule{asks: strings.TrimSpace(text)}
		if m["optionalOldSelf"] == true {
			r.asks += " (optionalOldSelf)"
		}
		for _, key := range keysOf(m, nil) {
			if key != "rule" && key != "optionalOldSelf" {
				r.says += fmt.Sprintf("%s: %v\n", key, m[key])
			}
		}
		all = append(all, r)
	}
	return all
}

// validations compares CEL rules by their text; it does not decide whether one implies another.
func (c *comparer) validations(at schemaPath, was, now map[string]any) {
	const key = "x-kubernetes-validations"
	if was[key] == nil && now[key] == nil {
		return
	}
	before, after := c.rulesAt(at, was[key]), c.rulesAt(at, now[key])
	for _, r := range after {
		if !slices.ContainsFunc(before, func(b rule) bool { return b.asks == r.asks }) {
			c.add(validationAdded, at.path, nil, r.asks, "a CEL rule was added")
		} else if !slices.Contains(before, r) {
			c.add(validationReworded, at.path, nil, r.asks, "a CEL rule has another message")
		}
	}
	for _, r := range before {
		if !slices.ContainsFunc(after, func(a rule) bool { return a.asks == r.asks }) {
			c.add(validationRemoved, at.path, r.asks, nil, "a CEL rule was removed")
		}
	}
}

// anyKey returns the path of the values of a map.
func anyKey(at string) string { return strings.TrimPrefix(at+".*", ".") }
