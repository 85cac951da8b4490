package manual

import (
	"encoding/json"
	"slices"
	"strings"
)

// These read maps and lists of arbitrary JSON: a value of another type counts as absent.

func mapOf(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

func textOf(m map[string]any, key string) string { s, _ := m[key].(string); return s }

func boolOf(m map[string]any, key string) bool { b, _ := m[key].(bool); return b }

func mapsOf(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	var out []map[string]any
	for _, v := range list {
		if one, ok := v.(map[string]any); ok {
			out = append(out, one)
		}
	}
	return out
}

func textsOf(m map[string]any, key string) []string {
	list, _ := m[key].([]any)
	out := []string{}
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// numberOf reads a number, for which JSON has several Go types.
func numberOf(m map[string]any, key string) (float64, bool) {
	switch n := m[key].(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// literal formats a value as JSON.
func literal(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain formats a value for people: a text without quotes if that is unambiguous.
func plain(v any) string {
	if s, ok := v.(string); ok && s != "" && s == strings.TrimSpace(s) {
		return s
	}
	return literal(v)
}

// clone copies maps and lists.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, value := range v {
			out[k] = clone(value)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = clone(out[i])
		}
		return out
	}
	return v
}

// sentence returns the first sentence of a text, on one line.
func sentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n\n")
	s = strings.Join(strings.Fields(s), " ")
	for at := 0; ; {
		i := strings.Index(s[at:], ". ")
		if i < 0 {
			return s
		}
		at += i + 1
		if endsSentence(s[:at-1], s[at+1:]) {
			return s[:at]
		}
	}
}

// endsSentence distinguishes a full stop from an abbreviation (e.g. this, v1. x).
func endsSentence(before, after string) bool {
	word := before[strings.LastIndexByte(before, ' ')+1:]
	if len(word) < 2 || strings.Contains(word, ".") && len(word) <= 4 || strings.HasPrefix(word, "(") && len(word) <= 5 {
		return false
	}
	c := after[0]
	return c < 'a' || c > 'z'
}
