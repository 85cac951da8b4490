package manual

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Unchecked returns the messages of the CEL rules that concern an object. It omits transition
// rules, since a new object has no old state.
func Unchecked(schema map[string]any, v any) []string {
	var out []string
	unchecked("", schema, v, func(rule string) {
		if !slices.Contains(out, rule) {
			out = append(out, rule)
		}
	})
	return out
}

func unchecked(at string, schema map[string]any, v any, add func(string)) {
	for _, r := range mapsOf(schema, "x-kubernetes-validations") {
		rule := textOf(r, "rule")
		if strings.Contains(rule, "oldSelf") {
			continue
		}
		add(strings.TrimPrefix(at+": "+cmp.Or(textOf(r, "message"), rule), ": "))
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if s := mapOf(schema, "properties", name); s != nil {
				unchecked(join(at, name), s, v[name], add)
			} else if s := mapOf(schema, "additionalProperties"); s != nil {
				unchecked(join(at, name), s, v[name], add)
			}
		}
	case []any:
		for _, value := range v {
			unchecked(at+"[]", mapOf(schema, "items"), value, add)
		}
	}
}
