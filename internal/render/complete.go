package render

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// completer remembers of types whether a value of them holds lists or times.
type completer map[reflect.Type]bool

// completed returns a copy of a document as all documents are written: a list is never null, and
// a time is UTC in whole seconds. So results need not be prepared to be documents.
func (c completer) completed(document any) any {
	if document == nil || !c.concerned(reflect.TypeOf(document)) {
		return document
	}
	v := reflect.New(reflect.TypeOf(document)).Elem()
	v.Set(reflect.ValueOf(document))
	c.complete(v)
	return v.Interface()
}

var (
	timeType        = reflect.TypeFor[time.Time]()
	marshalerType   = reflect.TypeFor[json.Marshaler]()
	textMarshalType = reflect.TypeFor[encoding.TextMarshaler]()
)

func (c completer) complete(v reflect.Value) {
	t := v.Type()
	switch {
	case !c.concerned(t):
	case t == timeType:
		at := v.Interface().(time.Time)
		v.Set(reflect.ValueOf(at.UTC().Truncate(time.Second)))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			// An empty list is no zero value: omitzero would write it.
			if f := t.Field(i); isWritten(f) && (!v.Field(i).IsZero() || !strings.Contains(f.Tag.Get("json"), ",omitzero")) {
				c.complete(v.Field(i))
			}
		}
	case t.Kind() == reflect.Pointer && !v.IsNil():
		to := reflect.New(t.Elem())
		to.Elem().Set(v.Elem())
		c.complete(to.Elem())
		v.Set(to)
	case t.Kind() == reflect.Slice && !v.IsNil() && !c.concerned(t.Elem()):
	case t.Kind() == reflect.Slice:
		list := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range list.Len() {
			c.complete(list.Index(i))
		}
		v.Set(list)
	case t.Kind() == reflect.Map && !v.IsNil():
		values := reflect.MakeMapWithSize(t, v.Len())
		for key, value := range v.Seq2() {
			to := reflect.New(t.Elem()).Elem()
			to.Set(value)
			c.complete(to)
			values.SetMapIndex(key, to)
		}
		v.Set(values)
	}
}

// concerned says whether a value of a type holds anything to complete. What writes itself is
// left to itself.
func (c completer) concerned(t reflect.Type) bool {
	if known, ok := c[t]; ok {
		return known
	}
	c[t] = true // A row holds rows: its own answer is that of its other fields.
	needed := false
	switch {
	case t == timeType:
		needed = true
	case t.Implements(marshalerType), t.Implements(textMarshalType):
	case t.Kind() == reflect.Slice:
		needed = true
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Map:
		needed = c.concerned(t.Elem())
	case t.Kind() == reflect.Struct:
		for i := 0; i < t.NumField() && !needed; i++ {
			needed = isWritten(t.Field(i)) && c.concerned(t.Field(i).Type)
		}
	}
	c[t] = needed
	return needed
}

// isWritten says whether encoding/json writes a field.
func isWritten(f reflect.StructField) bool { return f.IsExported() && f.Tag.Get("json") != "-" }
