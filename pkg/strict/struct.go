package strict

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// Formats are what the tags of fields name. A func(string) string says what is wrong with a
// text, empty for nothing; a func(*Mapping, *yaml.Node) T reads the value of a field of type
// T, and a func(T) *yaml.Node writes it. That of a list is for each item, unless T is the list.
type Formats map[string]any

// tag is what the tags of a field of a struct say: its key in YAML is that in JSON.
//
//	Version string     `json:"version" read:"semver,required"`
//	Ready   []Workload `json:"health" read:",flow,max=500" want:"a list of workloads: {kind: Deployment.apps, name: NAME}"`
//
// The first word of read is the name of a format, or - for a field that is no key.
type tag struct {
	name, format string
	// want is what a list is, for the message where it is none: without it a single item
	// is read as a list of one.
	want string
	// limit is how many items a list has at most, empty says that it may have none.
	limit int
	empty bool
	// required says that the key must be there, and unique that no two items of a list may
	// have the same.
	required, unique bool
	// flow says that it is written on one line.
	flow bool
}

func tagOf(f reflect.StructField) (tag, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	options := strings.Split(f.Tag.Get("read"), ",")
	has := func(option string) bool { return slices.Contains(options[1:], option) }
	t := tag{
		name: name, format: options[0], want: f.Tag.Get("want"),
		empty: has("empty"), required: has("required"), unique: has("unique"), flow: has("flow"),
	}
	for _, o := range options[1:] {
		if limit, ok := strings.CutPrefix(o, "max="); ok {
			t.limit, _ = strconv.Atoi(limit)
		}
	}
	return t, name != "" && name != "-" && t.format != "-"
}

// Struct reads a mapping into a struct, after the tags of its fields. Other fields come first
// in the search for a key, so that one can take the place of a tag. The mapping that is
// returned has the nodes of the values; its problems are in m already.
func (m *Mapping) Struct(n *yaml.Node, into any, formats Formats, extra ...Field) *Mapping {
	inner := &Mapping{}
	inner.Fields = slices.Concat(extra, inner.FieldsOf(into, formats))
	inner.Read(n)
	m.Problems = append(m.Problems, inner.Problems...)
	return inner
}

// FieldsOf returns the keys of a struct, after the tags of its fields.
func (m *Mapping) FieldsOf(into any, formats Formats) []Field {
	var all []Field
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if t, ok := tagOf(v.Type().Field(i)); ok {
			all = append(all, Field{Name: t.name, Required: t.required, Set: func(n *yaml.Node) { m.value(n, v.Field(i), t, formats) }})
		}
	}
	return all
}

func (m *Mapping) value(n *yaml.Node, into reflect.Value, t tag, formats Formats) {
	check, isCheck := formats[t.format].(func(string) string)
	if read := reflect.ValueOf(formats[t.format]); !isCheck && t.format != "" && read.Type().Out(0) == into.Type() {
		into.Set(read.Call([]reflect.Value{reflect.ValueOf(m), reflect.ValueOf(n)})[0])
		return
	}
	switch into.Kind() {
	case reflect.String:
		text := m.Text(n)
		if text != "" && isCheck {
			if wrong := check(text); wrong != "" {
				m.Report(n, "%s", wrong)
				return
			}
		}
		into.SetString(text)
	case reflect.Bool:
		into.SetBool(m.Bool(n))
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		m.value(n, into.Elem(), t, formats)
	case reflect.Struct:
		m.Struct(n, into.Addr().Interface(), formats)
	case reflect.Slice:
		m.items(n, into, t, formats)
	default:
		panic("strict: a " + into.Type().String() + " has no reader")
	}
}

// items reads a list.
func (m *Mapping) items(n *yaml.Node, into reflect.Value, t tag, formats Formats) {
	items := []*yaml.Node{n}
	switch {
	case t.want != "" && (!t.empty || n.Kind != yaml.SequenceNode):
		items = m.Items(n, "expected "+t.want, t.limit)
	case n.Kind == yaml.SequenceNode:
		items = n.Content
	}
	seen := map[string]bool{}
	for _, item := range items {
		one := reflect.New(into.Type().Elem()).Elem()
		m.value(item, one, tag{format: t.format}, formats)
		key := identity(one)
		switch {
		case key == "" && one.Kind() == reflect.String:
			continue
		case t.want != "" && key != "" && seen[key]:
			m.Report(item, "a second %s: expected one", field.Shorten(key))
			continue
		}
		seen[key] = true
		into.Set(reflect.Append(into, one))
	}
}

// Items returns the items of a list that is not empty, and not longer than most where that is
// not 0. want is the message where it is no list.
func (m *Mapping) Items(n *yaml.Node, want string, most int) []*yaml.Node {
	switch {
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		m.Report(n, "%s", want)
		return nil
	case most > 0 && len(n.Content) > most:
		m.Report(n.Content[most], "%d items in a list: expected at most %d", len(n.Content), most)
		return n.Content[:most]
	}
	return n.Content
}

// identity is what no other item of a list may have as well: a text, or the unique fields of a
// struct. It is empty where there is no such thing.
func identity(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			if t, _ := tagOf(v.Type().Field(i)); t.unique && !v.Field(i).IsZero() {
				all = append(all, identity(v.Field(i)))
			}
		}
		return strings.Join(all, " ")
	}
	return ""
}

// StructNode writes a struct as Struct reads it: a key for each field that is set, in the order
// of the fields. The formats are those that are written in a way of their own.
func StructNode(v any, formats Formats) *yaml.Node {
	return structNode(reflect.Indirect(reflect.ValueOf(v)), formats)
}

func structNode(v reflect.Value, formats Formats) *yaml.Node {
	var p Pairs
	for i := range v.NumField() {
		if t, ok := tagOf(v.Type().Field(i)); ok && !v.Field(i).IsZero() {
			p = p.Put(t.name, fieldNode(v.Field(i), t, formats))
		}
	}
	return p.Node()
}

func fieldNode(v reflect.Value, t tag, formats Formats) *yaml.Node {
	if write := reflect.ValueOf(formats[t.format]); write.IsValid() && write.Type().In(0) == v.Type() {
		return write.Call([]reflect.Value{v})[0].Interface().(*yaml.Node)
	}
	switch v.Kind() {
	case reflect.String:
		return TextNode(v.String())
	case reflect.Pointer:
		return fieldNode(v.Elem(), t, formats)
	case reflect.Struct:
		n := structNode(v, formats)
		if t.flow {
			n = Flow(n)
		}
		return n
	case reflect.Slice:
		if texts, ok := reflect.TypeAssert[[]string](v); ok {
			return TextsNode(texts)
		}
		if v.Type().Elem().Kind() == reflect.Interface {
			break
		}
		return ListNode(v.Len(), func(i int) *yaml.Node { return fieldNode(v.Index(i), tag{format: t.format, flow: t.flow}, formats) })
	}
	return ValueNode(v.Interface())
}
