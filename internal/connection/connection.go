// Package connection carries values between objects: it reads a value at a path of one object, and
// sets it at a path of another one, converted to the type of that field.
package connection

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Connection is a value of an object of another part.
type Connection struct {
	From object.Ref
	Path string // status.host
	// To is an object of this part, Field the target field.
	To    object.Ref
	Field string
	// Name is the source app, for people.
	Name string
}

// ofSecret lists the paths of a Secret whose values may flow: its identity, and no data.
// Annotations are excluded, because kubectl's last-applied-configuration contains the data.
var ofSecret = []string{"metadata.name", "metadata.namespace", "type"}

// Check refuses a connection whose path is invalid, may match more than one value, or
// reads the data of a Secret, which is passed on by reference alone.
func Check(c Connection) error {
	path, err := wayOf(c.Path)
	if err != nil {
		return fmt.Errorf("from %s: %w", c.From, err)
	}
	if c.From.Group == "" && c.From.Kind == "Secret" && !slices.Contains(ofSecret, path.text) {
		return fmt.Errorf("from %s: %s may hold the content of the Secret: connect its name (metadata.name), and read the Secret where it is used", c.From, path.text)
	}
	to, err := wayOf(c.Field)
	if err != nil {
		return fmt.Errorf("to %s: %w", c.To, err)
	}
	switch first := to.steps[0].name; {
	case first == "metadata" && len(to.steps) > 2 && (to.steps[1].name == "labels" || to.steps[1].name == "annotations"):
	case slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, first):
		return fmt.Errorf("to %s: a connection cannot set %s: expected a field of the spec, a label or an annotation", c.To, to.text)
	}
	return nil
}

// Flow sets the value of a connection in its target object, converted to the type of the field:
// that of the schema, or else of the current content. Numbers become strings, and strings that are
// numbers or booleans become these. Any other mismatch is an error, which does not contain the
// value.
func Flow(c Connection, to *unstructured.Unstructured, value any, schema map[string]any) error {
	want := ""
	if schema != nil {
		want = typeAt(schema, c.Field)
	}
	if have, err := Resolve(to, c.Field); want == "" && err == nil {
		want = typeOfValue(have)
	}
	fit, err := fitting(value, want)
	if err != nil {
		return fmt.Errorf("%s of %s does not fit into %s of %s: %w", c.Path, c.From, c.Field, c.To, err)
	}
	return Set(to, c.Field, fit)
}

// fitting converts a value to a JSON type; an empty type accepts any value.
func fitting(value any, want string) (any, error) {
	actual := typeOfValue(value)
	text := field.Scalar(value)
	switch {
	case want == "" || want == actual || want == "number" && actual == "integer" || want == "int-or-string" && (actual == "integer" || actual == "string"):
		return value, nil
	case want == "string" && text != "":
		return text, nil
	case want == "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	case want == "number":
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, nil
		}
	case want == "boolean" && (text == "true" || text == "false"):
		return text == "true", nil
	}
	return nil, fmt.Errorf("its type is %s, expected %s", actual, want)
}

// typeOfValue returns the schema type of a value.
func typeOfValue(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64, int32, int:
		return "integer"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

// typeAt returns the type of a field in a schema; empty if the schema does not restrict it.
func typeAt(schema map[string]any, path string) string {
	w, err := wayOf(path)
	if err != nil {
		return ""
	}
	at := schema
	for _, s := range w.steps {
		var next map[string]any
		if s.item {
			next, _ = at["items"].(map[string]any)
		} else {
			properties, _ := at["properties"].(map[string]any)
			if next, _ = properties[s.name].(map[string]any); next == nil {
				next, _ = at["additionalProperties"].(map[string]any)
			}
		}
		if next == nil {
			return ""
		}
		at = next
	}
	if either, _ := at["x-kubernetes-int-or-string"].(bool); either {
		return "int-or-string"
	}
	t, _ := at["type"].(string)
	return t
}
