package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// literal is the type that a value has in JSON.
func literal(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64, uint64, int:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}

// comparableTypes says that values of two types can be equal.
func comparableTypes(a, b string) bool {
	number := func(kind string) bool { return kind == "integer" || kind == "number" }
	return a == "" || b == "" || a == b || number(a) && number(b)
}

// valueFault is what is wrong with a value for a field: another type, or none of its enum. A
// text may be a number that was written as one.
func valueFault(found field.Shape, path string, v any) *fault {
	typed, ok := found.(field.Typed)
	if !ok {
		return nil
	}
	enum := typed.Enum()
	if len(enum) == 0 || slices.Contains(enum, v) {
		return nil
	}
	var texts []string
	for _, e := range enum {
		texts = append(texts, fmt.Sprint(e))
	}
	if slices.Contains(texts, fmt.Sprint(v)) {
		return nil
	}
	message := fmt.Sprintf("%s is never %q", path, fmt.Sprint(v))
	if len(texts) <= 12 {
		message += " (it is one of " + strings.Join(texts, ", ") + ")"
	}
	return broken("%s", message+object.DidYouMean(object.Nearest(fmt.Sprint(v), texts)))
}

// literalFault is valueFault for a value whose type counts.
func literalFault(found field.Shape, path string, v any) *fault {
	if fieldType := typeOf(found); !comparableTypes(fieldType, literal(v)) {
		return broken("%s is %s, and %#v is %s", path, article(fieldType), v, article(literal(v)))
	}
	return valueFault(found, path, v)
}
