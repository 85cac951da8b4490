package crd

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// short formats a value for people; "" for nil.
func short(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if v == "" {
			return `""`
		}
		return field.Shorten(v)
	case map[string]any:
		if v == nil {
			return ""
		}
	case []string:
		return field.Shorten(strings.Join(v, ", "))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "something unreadable"
	}
	return field.Shorten(string(b))
}

func orNothing(s string) string {
	if s == "" {
		return "not given"
	}
	return s
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// number returns a JSON number. One from YAML may have any Go type.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

// same compares JSON values: 1 and 1.0 are equal, and the order of a list matters.
func same(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, found := y[k]; !found || !same(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case int64:
		if y, ok := b.(int64); ok {
			return x == y
		}
	}
	x, ok := number(a)
	y, too := number(b)
	return ok && too && x == y
}

// blank reports whether a keyword with this value is equal to an absent one: the API server drops
// it.
func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// sameKeyword compares a keyword of a schema, or of a definition.
func sameKeyword(key string, a, b any) bool {
	switch key {
	case "default", "example", "enum", "additionalProperties":
		// An empty value has a meaning here.
		if sub, ok := a.(map[string]any); ok && key == "additionalProperties" {
			other, ok := b.(map[string]any)
			return ok && sameSchema(sub, other)
		}
		return same(a, b)
	case "items", "not":
		sub, ok := a.(map[string]any)
		other, too := b.(map[string]any)
		return ok == too && (!ok && same(a, b) || ok && sameSchema(sub, other))
	case "properties":
		return sameProperties(a, b)
	case "allOf", "anyOf", "oneOf":
		return sameSchemas(a, b)
	case "x-kubernetes-list-type", "x-kubernetes-map-type":
		return topology(key, a) == topology(key, b)
	}
	return blank(a) && blank(b) || same(a, b)
}

func sameProperties(a, b any) bool {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if len(x) != len(y) {
		return false
	}
	for name, p := range x {
		q, found := y[name]
		one, ok := p.(map[string]any)
		other, too := q.(map[string]any)
		if !found || ok != too || !ok && !same(p, q) || !sameSchema(one, other) {
			return false
		}
	}
	return true
}

func sameSchemas(a, b any) bool {
	x, _ := a.([]any)
	y, _ := b.([]any)
	return slices.EqualFunc(x, y, func(p, q any) bool {
		one, ok := p.(map[string]any)
		other, too := q.(map[string]any)
		return ok == too && (!ok && same(p, q) || ok && sameSchema(one, other))
	})
}

// sameSchema compares schemas by meaning, keyword by keyword.
func sameSchema(a, b map[string]any) bool {
	for k, v := range a {
		if !sameKeyword(k, v, b[k]) {
			return false
		}
	}
	for k, v := range b {
		if _, both := a[k]; !both && !sameKeyword(k, nil, v) {
			return false
		}
	}
	return true
}

// topology returns how lists and maps are merged, with the API server's defaults.
func topology(key string, v any) string {
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	if key == "x-kubernetes-map-type" {
		return "granular"
	}
	return "atomic"
}

// sameConversion compares the conversion of definitions. If the second has no certificate
// authority, the first may have one, which an injector adds.
func sameConversion(was, now map[string]any) bool {
	before, _ := was["webhook"].(map[string]any)
	after, _ := now["webhook"].(map[string]any)
	if !same(before["conversionReviewVersions"], after["conversionReviewVersions"]) {
		return false
	}
	from, _ := before["clientConfig"].(map[string]any)
	to, _ := after["clientConfig"].(map[string]any)
	if blank(before) != blank(after) || from["url"] != to["url"] {
		return false
	}
	if !blank(to["caBundle"]) && !same(from["caBundle"], to["caBundle"]) {
		return false
	}
	one, _ := from["service"].(map[string]any)
	other, _ := to["service"].(map[string]any)
	for _, key := range keysOf(one, other) {
		x, y := one[key], other[key]
		if key == "port" {
			x, y = portOf(x), portOf(y)
		}
		if !sameKeyword(key, x, y) {
			return false
		}
	}
	return blank(one) == blank(other)
}

func portOf(v any) any {
	if v == nil {
		return int64(443)
	}
	return v
}
