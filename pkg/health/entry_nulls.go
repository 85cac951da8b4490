package health

import "slices"

// withoutNulls returns maps without nulls, at any depth: an empty `annotations:` in a file is the
// same as none. Maps without a null are not copied.
func withoutNulls(m map[string]any) map[string]any {
	if !hasNull(m) {
		return m
	}
	out, _ := copyWithoutNulls(m).(map[string]any)
	return out
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, value := range v {
			if hasNull(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}

func copyWithoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if value != nil {
				out[key] = copyWithoutNulls(value)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			if item != nil {
				out = append(out, copyWithoutNulls(item))
			}
		}
		return out
	}
	return v
}
