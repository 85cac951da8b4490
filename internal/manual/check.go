package manual

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Check returns the errors of an object against a schema. Undeclared fields count, since kubectl
// refuses them. It does not evaluate CEL rules (x-kubernetes-validations); Unchecked lists them.
func Check(schema, object map[string]any) []string {
	c := &checker{}
	root := maps.Clone(schema)
	properties := maps.Clone(mapOf(schema, "properties"))
	if properties == nil {
		properties = map[string]any{}
	}
	// Fields of every object, whose schema a definition may omit.
	for _, name := range []string{"apiVersion", "kind"} {
		properties[name] = map[string]any{"type": "string"}
	}
	metadata := maps.Clone(mapOf(properties, "metadata"))
	if metadata == nil {
		metadata = map[string]any{"type": "object"}
	}
	metadata["x-kubernetes-preserve-unknown-fields"] = true
	properties["metadata"] = metadata
	root["properties"] = properties
	c.value("", root, object, false)
	return c.problems
}

// checker collects errors.
type checker struct {
	problems []string
	depth    int
}

func (c *checker) report(at, format string, args ...any) {
	const enough = 20
	if at == "" {
		at = "the object"
	}
	if len(c.problems) < enough {
		c.problems = append(c.problems, at+" "+fmt.Sprintf(format, args...))
	}
}

// value checks a value. Within an alternative (branch) a schema declares only the fields that it
// constrains.
func (c *checker) value(at string, schema map[string]any, v any, branch bool) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 2*maxDepth {
		return
	}
	if v == nil {
		if !boolOf(schema, "nullable") && !branch {
			c.report(at, "is null")
		}
		return
	}
	if !c.typed(at, schema, v) {
		return
	}
	if list, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool { return literal(e) == literal(v) }) {
		c.report(at, "is %s, not one of %s", literal(v), strings.Join(enumOf(schema), ", "))
	}
	switch v := v.(type) {
	case string:
		c.text(at, schema, v)
	case []any:
		c.list(at, schema, v, branch)
	case map[string]any:
		c.object(at, schema, v, branch)
	case int64, int, float64:
		n, _ := numberOf(map[string]any{"": v}, "")
		c.number(at, schema, n)
	}
	c.combined(at, schema, v)
}

func (c *checker) typed(at string, schema map[string]any, v any) bool {
	want := textOf(schema, "type")
	if want == "" && boolOf(schema, "x-kubernetes-int-or-string") {
		want = "integer or string"
	}
	got := ""
	switch n := v.(type) {
	case string:
		got = "string"
	case bool:
		got = "boolean"
	case []any:
		got = "array"
	case map[string]any:
		got = "object"
	case int64, int:
		got = "integer"
	case float64:
		got = "number"
		if n == math.Trunc(n) {
			got = "integer"
		}
	}
	if want == "" || got == want || want == "number" && got == "integer" || want == "integer or string" && (got == "integer" || got == "string") {
		return true
	}
	c.report(at, "is of type %s, not %s", got, want)
	return false
}

func (c *checker) text(at string, schema map[string]any, s string) {
	if n, ok := numberOf(schema, "minLength"); ok && float64(utf8.RuneCountInString(s)) < n {
		c.report(at, "is shorter than %v characters", n)
	}
	if n, ok := numberOf(schema, "maxLength"); ok && float64(utf8.RuneCountInString(s)) > n {
		c.report(at, "is longer than %v characters", n)
	}
	if pattern := textOf(schema, "pattern"); pattern != "" {
		if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(s) {
			c.report(at, "is %s, which does not match %s", literal(s), pattern)
		}
	}
	if format := textOf(schema, "format"); !isFormat(format, s) {
		c.report(at, "is %s, which is not a valid %s", literal(s), format)
	}
}

func (c *checker) number(at string, schema map[string]any, n float64) {
	if least, ok := numberOf(schema, "minimum"); ok && (n < least || n == least && boolOf(schema, "exclusiveMinimum")) {
		c.report(at, "is %v, too small", n)
	}
	if most, ok := numberOf(schema, "maximum"); ok && (n > most || n == most && boolOf(schema, "exclusiveMaximum")) {
		c.report(at, "is %v, too large", n)
	}
	if divisor, ok := numberOf(schema, "multipleOf"); ok && divisor > 0 && math.Abs(math.Remainder(n, divisor)) > 1e-9 {
		c.report(at, "is %v, not a multiple of %v", n, divisor)
	}
}

func (c *checker) list(at string, schema map[string]any, list []any, branch bool) {
	if n, ok := numberOf(schema, "minItems"); ok && float64(len(list)) < n {
		c.report(at, "has fewer than %v items", n)
	}
	if n, ok := numberOf(schema, "maxItems"); ok && float64(len(list)) > n {
		c.report(at, "has more than %v items", n)
	}
	keys := textsOf(schema, "x-kubernetes-list-map-keys")
	seen := map[string]bool{}
	for i, v := range list {
		if items := mapOf(schema, "items"); items != nil {
			c.value(fmt.Sprintf("%s[%d]", at, i), items, v, branch)
		}
		id := literal(v)
		if m, ok := v.(map[string]any); ok && len(keys) > 0 {
			id = ""
			for _, k := range keys {
				id += literal(m[k]) + " "
			}
		}
		kind := textOf(schema, "x-kubernetes-list-type")
		if seen[id] && (kind == "set" || kind == "map" || boolOf(schema, "uniqueItems")) {
			c.report(at, "has two equal items")
		}
		seen[id] = true
	}
}

func (c *checker) object(at string, schema map[string]any, m map[string]any, branch bool) {
	for _, name := range textsOf(schema, "required") {
		if _, ok := m[name]; !ok {
			c.report(join(at, name), "is required")
		}
	}
	if n, ok := numberOf(schema, "minProperties"); ok && float64(len(m)) < n {
		c.report(at, "has fewer than %v fields", n)
	}
	if n, ok := numberOf(schema, "maxProperties"); ok && float64(len(m)) > n {
		c.report(at, "has more than %v fields", n)
	}
	properties, values := mapOf(schema, "properties"), mapOf(schema, "additionalProperties")
	open := branch || boolOf(schema, "x-kubernetes-preserve-unknown-fields") || boolOf(schema, "x-kubernetes-embedded-resource") || schema["additionalProperties"] == true ||
		textOf(schema, "type") == ""
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch s := mapOf(properties, name); {
		case s != nil:
			c.value(join(at, name), s, m[name], branch)
		case values != nil:
			c.value(join(at, name), values, m[name], branch)
		case !open:
			c.report(join(at, name), "is not in the schema")
		}
	}
}

func (c *checker) combined(at string, schema map[string]any, v any) {
	holds := func(s map[string]any) bool {
		one := &checker{depth: c.depth}
		one.value(at, s, v, true)
		return len(one.problems) == 0
	}
	for _, s := range mapsOf(schema, "allOf") {
		c.value(at, s, v, true)
	}
	count := func(key string) (int, bool) {
		n := 0
		list := mapsOf(schema, key)
		for _, s := range list {
			if holds(s) {
				n++
			}
		}
		return n, len(list) > 0
	}
	if n, ok := count("anyOf"); ok && n == 0 {
		c.report(at, "matches none of its alternatives")
	}
	if n, ok := count("oneOf"); ok && n != 1 {
		c.report(at, "matches %d of its alternatives, not one", n)
	}
	if negated := mapOf(schema, "not"); negated != nil && holds(negated) {
		c.report(at, "matches what its schema forbids")
	}
}
