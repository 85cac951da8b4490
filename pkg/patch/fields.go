package patch

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Equal compares values as JSON: 1 is 1.0, whatever Go makes of them.
func Equal(x, y any) bool {
	a, err := json.Marshal(x)
	if err != nil {
		return false
	}
	b, err := json.Marshal(y)
	return err == nil && bytes.Equal(a, b)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Pointer writes a JSON pointer (RFC 6901).
func Pointer(at []string) string {
	var b strings.Builder
	for _, t := range at {
		b.WriteByte('/')
		b.WriteString(escape.Replace(t))
	}
	return b.String()
}

// Tokens reads a JSON pointer.
func Tokens(path string) []string {
	if path == "" {
		return nil
	}
	out := strings.Split(path[1:], "/")
	for i := range out {
		out[i] = unescape.Replace(out[i])
	}
	return out
}

// Lookup returns the field at a path.
func Lookup(o map[string]any, at []string) (any, bool) {
	var cur any = o
	for _, t := range at {
		switch v := cur.(type) {
		case map[string]any:
			next, ok := v[t]
			if !ok {
				return nil, false
			}
			cur = next
		case []any:
			n, err := strconv.Atoi(t)
			if err != nil || n < 0 || n >= len(v) {
				return nil, false
			}
			cur = v[n]
		default:
			return nil, false
		}
	}
	return cur, true
}

// Put sets a field, and creates the missing mappings above it. False reports that a value on the
// path is not a mapping.
func Put(o map[string]any, at []string, value any) bool {
	var cur any = o
	for i, t := range at {
		last := i == len(at)-1
		switch v := cur.(type) {
		case map[string]any:
			if last {
				v[t] = value
				return true
			}
			next, ok := v[t]
			if !ok || next == nil {
				next = map[string]any{}
				v[t] = next
			}
			cur = next
		case []any:
			n, err := strconv.Atoi(t)
			if err != nil || n < 0 || n >= len(v) {
				return false
			}
			if last {
				v[n] = value
				return true
			}
			cur = v[n]
		default:
			return false
		}
	}
	return false
}

// Remove deletes a field of a mapping, and the mappings above that were created for it and are
// now empty.
func Remove(o map[string]any, at []string, created int) {
	for ; len(at) > 0; created-- {
		above, ok := Lookup(o, at[:len(at)-1])
		m, isMap := above.(map[string]any)
		if !ok || !isMap {
			return
		}
		delete(m, at[len(at)-1])
		if created <= 0 || len(m) > 0 {
			return
		}
		at = at[:len(at)-1]
	}
}

// Copy copies an object decoded from JSON or YAML.
func Copy(o map[string]any) map[string]any {
	out, _ := CopyValue(o).(map[string]any)
	return out
}

// CopyValue copies a value decoded from JSON or YAML.
func CopyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = CopyValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = CopyValue(v[i])
		}
		return out
	}
	return v
}

// Normal converts values of a manifest to those of objects: int64, float64 and mappings.
func Normal(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	if err := utiljson.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	return out, nil
}
