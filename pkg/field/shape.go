package field

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Shape says which fields there can be.
type Shape interface {
	// Field returns the shape of the field of that name; false where there can be
	// none.
	Field(name string) (Shape, bool)
	// Item returns the shape of the items of a list, or of the values of a map
	// whose keys are free; false where this is neither.
	Item() (Shape, bool)
	// Names returns the names of the fields that are known, in order.
	Names() []string
}

// Typed is a Shape that knows the type of the value.
type Typed interface {
	Shape
	// Type is string, integer, number, boolean, array or object; empty where it is unknown
	// , or may be more than one.
	Type() string
	// Enum returns the values that there can be; none where any can be.
	Enum() []any
}

// Check says whether the path can find anything in an object of the shape. The
// error is an *Error, at the step that finds nothing.
func (p Path) Check(s Shape) error {
	_, err := p.In(s)
	return err
}

// In returns the shape of what the path finds in an object of a shape. The error is
// that of Check.
func (p Path) In(s Shape) (Shape, error) {
	for i, step := range p.steps {
		next, ok := advance(s, step)
		if !ok {
			at := Path{p.steps[:i]}.String()
			return nil, &Error{Text: p.String(), Offset: len(at), Message: step.refuse(s, at), Field: step.field, Names: s.Names()}
		}
		s = next
	}
	return s, nil
}

func advance(s Shape, step step) (Shape, bool) {
	switch {
	case step.list:
		return s.Item()
	case step.star:
		return star(s)
	}
	if f, ok := s.Field(step.field); ok {
		return f, true
	}
	// A list on the path means all its items.
	if item, ok := s.Item(); ok {
		return advance(item, step)
	}
	return nil, false
}

// star is the shape of whatever is in a map or an object: of each, where the shape
// may be one or another.
func star(s Shape) (Shape, bool) {
	either, ok := s.(unionShape)
	if !ok {
		if item, ok := s.Item(); ok {
			return item, true
		}
		return union(s)
	}
	var all unionShape
	for _, s := range either {
		if f, ok := star(s); ok {
			all = append(all, f)
		}
	}
	return all, len(all) > 0
}

// union is the shape of all fields of an object, for a star over fields that are
// not free.
func union(s Shape) (Shape, bool) {
	var all unionShape
	for _, name := range s.Names() {
		if f, ok := s.Field(name); ok {
			all = append(all, f)
		}
	}
	return all, len(all) > 0
}

func (s step) refuse(shape Shape, at string) string {
	if at == "" {
		at = "the object"
	}
	switch {
	case s.list:
		return at + " is not a list"
	case s.star:
		return at + " has no fields"
	}
	names := shape.Names()
	switch {
	case len(names) == 0:
		return fmt.Sprintf("%s has no fields, so there is no %s", at, s.field)
	case len(names) <= 12:
		return fmt.Sprintf("%s has no field %s (it has %s)", at, s.field, strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s has no field %s", at, s.field)
}

type unionShape []Shape

func (u unionShape) Field(name string) (Shape, bool) {
	var all unionShape
	for _, s := range u {
		if f, ok := advance(s, step{field: name}); ok {
			all = append(all, f)
		}
	}
	return all, len(all) > 0
}

func (u unionShape) Item() (Shape, bool) {
	var all unionShape
	for _, s := range u {
		if f, ok := s.Item(); ok {
			all = append(all, f)
		}
	}
	return all, len(all) > 0
}

func (u unionShape) Names() []string {
	names := map[string]bool{}
	for _, s := range u {
		for _, n := range s.Names() {
			names[n] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// anything is the shape of what nothing is known of.
type anything struct{}

func (anything) Field(string) (Shape, bool) { return anything{}, true }
func (anything) Item() (Shape, bool)        { return anything{}, true }
func (anything) Names() []string            { return nil }

// OfType returns the shape of a Go type of the API, by its JSON tags.
func OfType(t reflect.Type) Shape { return typeShape{t} }

type typeShape struct{ t reflect.Type }

func (s typeShape) bare() reflect.Type {
	t := s.t
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func (s typeShape) Field(name string) (Shape, bool) {
	t := s.bare()
	switch t.Kind() {
	case reflect.Struct:
		for f := range fieldsOf(t) {
			if f.name == name {
				return typeShape{f.t}, true
			}
		}
	case reflect.Map:
		return typeShape{t.Elem()}, true
	case reflect.Interface:
		return anything{}, true
	}
	return nil, false
}

func (s typeShape) Item() (Shape, bool) {
	switch t := s.bare(); t.Kind() {
	case reflect.Slice, reflect.Map:
		return typeShape{t.Elem()}, true
	case reflect.Interface:
		return anything{}, true
	}
	return nil, false
}

func (s typeShape) Names() []string {
	var names []string
	if t := s.bare(); t.Kind() == reflect.Struct {
		for f := range fieldsOf(t) {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}

type tagged struct {
	name string
	t    reflect.Type
}

// fieldsOf yields the fields of a struct as JSON has them, those of inlined
// structs among them.
func fieldsOf(t reflect.Type) func(func(tagged) bool) {
	return func(yield func(tagged) bool) {
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			inline := f.Anonymous && name == "" || strings.Contains(options, "inline")
			switch {
			case inline && f.Type.Kind() == reflect.Struct:
				for inner := range fieldsOf(f.Type) {
					if !yield(inner) {
						return
					}
				}
			case name != "" && name != "-":
				if !yield(tagged{name, f.Type}) {
					return
				}
			}
		}
	}
}

func (s typeShape) Type() string {
	switch t := s.bare(); t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return "array"
		}
	case reflect.Map:
		return "object"
	}
	return "" // A struct may write itself as a text.
}

func (s typeShape) Enum() []any { return nil }

// OfSchema returns the shape of a structural schema, as a
// CustomResourceDefinition has it. The metadata of an object is that of every
// object.
func OfSchema(schema map[string]any, metadata Shape) Shape {
	return rootShape{schemaShape(schema), metadata}
}

type rootShape struct {
	schemaShape
	metadata Shape
}

func (r rootShape) Field(name string) (Shape, bool) {
	switch name {
	case "metadata":
		return r.metadata, true
	case "apiVersion", "kind":
		return schemaShape{"type": "string"}, true
	}
	return r.schemaShape.Field(name)
}

func (r rootShape) Names() []string {
	return slices.Compact(slices.Sorted(slices.Values(append(r.schemaShape.Names(), "apiVersion", "kind", "metadata"))))
}

type schemaShape map[string]any

func (s schemaShape) open() bool {
	preserve, _ := s["x-kubernetes-preserve-unknown-fields"].(bool)
	embedded, _ := s["x-kubernetes-embedded-resource"].(bool)
	return preserve || embedded
}

func (s schemaShape) Field(name string) (Shape, bool) {
	if properties, ok := s["properties"].(map[string]any); ok {
		if f, ok := properties[name].(map[string]any); ok {
			return schemaShape(f), true
		}
	}
	return s.free()
}

func (s schemaShape) Item() (Shape, bool) {
	if items, ok := s["items"].(map[string]any); ok {
		return schemaShape(items), true
	}
	return s.free()
}

// free is the shape of the fields whose names the schema leaves open.
func (s schemaShape) free() (Shape, bool) {
	switch more := s["additionalProperties"].(type) {
	case map[string]any:
		return schemaShape(more), true
	case bool:
		if more {
			return anything{}, true
		}
	}
	if s.open() || s.undescribed() {
		return anything{}, true
	}
	return nil, false
}

// undescribed says that nothing is said of what can be there.
func (s schemaShape) undescribed() bool {
	either, _ := s["x-kubernetes-int-or-string"].(bool)
	kind := s.Type()
	return !either && (kind == "" || kind == "array") && s["properties"] == nil && s["items"] == nil
}

func (s schemaShape) Type() string {
	kind, _ := s["type"].(string)
	return kind
}

func (s schemaShape) Enum() []any {
	values, _ := s["enum"].([]any)
	return values
}

func (s schemaShape) Names() []string {
	properties, _ := s["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}
