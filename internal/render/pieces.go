package render

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// pieces writes a document as an encoder of JSON with an indent of two spaces does, in pieces: of
// the lists of the document each element is one. So the text of a large document is never in
// memory as a whole. A piece is valid until write returns.
func pieces(document any, write func(piece []byte) error) error {
	e := &pieceEncoder{write: write, completer: completer{}}
	e.json = json.NewEncoder(&e.text)
	e.json.SetEscapeHTML(false)
	v := reflect.ValueOf(document)
	for v.Kind() == reflect.Pointer && !v.IsNil() && !v.Type().Implements(marshalerType) {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		if fields, ok := fieldsOf(v.Type()); ok {
			e.object(v, fields)
			return e.literal("\n")
		}
	}
	e.encode(document, "")
	return e.literal("\n")
}

// pieceEncoder writes pieces until one fails.
type pieceEncoder struct {
	write     func([]byte) error
	completer completer
	json      *json.Encoder // into text
	text      bytes.Buffer
	err       error
}

func (e *pieceEncoder) literal(text string) error {
	if e.err == nil {
		e.err = e.write([]byte(text))
	}
	return e.err
}

// encode writes a value as one piece.
func (e *pieceEncoder) encode(value any, indent string) {
	if e.err != nil {
		return
	}
	e.text.Reset()
	e.json.SetIndent(indent, "  ")
	if e.err = e.json.Encode(e.completer.completed(value)); e.err == nil {
		e.err = e.write(strict.PlainNumbers(bytes.TrimSuffix(e.text.Bytes(), []byte("\n"))))
	}
}

func (e *pieceEncoder) object(v reflect.Value, fields []documentField) {
	before := "{\n  "
	for _, f := range fields {
		value := v.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(value) || f.omitZero && isZero(value) {
			continue
		}
		_ = e.literal(before + `"` + f.name + `": `)
		before = ",\n  "
		if value.Kind() == reflect.Slice && value.Len() > 0 && value.Type().Elem().Kind() != reflect.Uint8 && !marshalsItself(value.Type()) {
			e.list(value)
		} else {
			e.encode(value.Interface(), "  ")
		}
	}
	if before == "{\n  " {
		_ = e.literal("{}")
		return
	}
	_ = e.literal("\n}")
}

func (e *pieceEncoder) list(v reflect.Value) {
	before := "[\n    "
	for i := range v.Len() {
		_ = e.literal(before)
		e.encode(v.Index(i).Interface(), "    ")
		before = ",\n    "
	}
	_ = e.literal("\n  ]")
}

// documentField is a field as encoding/json writes it.
type documentField struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
}

// fieldsOf returns the written fields of a struct, with those of embedded structs. It is false
// where only encoding/json itself knows what is written: of a type that marshals itself, of two
// fields with one name, and of options that no document uses.
func fieldsOf(t reflect.Type) ([]documentField, bool) {
	if marshalsItself(t) {
		return nil, false
	}
	var all []documentField
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || marshalsItself(f.Type) {
				return nil, false
			}
			continue
		case !isWritten(f):
			continue
		case name == "":
			name = f.Name
		}
		if names[name] || strings.Contains(options, "string") || len(f.Index) > 1 && !isInline(t, f.Index) {
			return nil, false
		}
		names[name] = true
		all = append(all, documentField{name, f.Index, strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")})
	}
	return all, true
}

// isInline reports whether the fields of every embedded struct on the way to a field are written
// as those of the outer one.
func isInline(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			return false
		}
		t = f.Type
	}
	return true
}

func marshalsItself(t reflect.Type) bool {
	return t.Implements(marshalerType) || t.Implements(textMarshalType) || reflect.PointerTo(t).Implements(marshalerType) || reflect.PointerTo(t).Implements(textMarshalType)
}

// isZero reports what omitzero leaves out.
func isZero(v reflect.Value) bool {
	if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}

// isEmpty reports what omitempty leaves out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
