package health

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// firstText returns the first of some fields that is a non-empty text.
func firstText(m map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := m[key].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// firstTime returns the first of some fields that is a time.
func firstTime(m map[string]any, keys ...string) time.Time {
	for _, key := range keys {
		if text, ok := m[key].(string); ok {
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}

// wholeNumber reads a number, also from a text.
func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// truth reads a boolean, also from a word.
func truth(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(v) {
		case "true", "yes", "on", "1", "enabled":
			return true, true
		case "false", "no", "off", "0", "disabled":
			return false, true
		}
	}
	return false, false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
