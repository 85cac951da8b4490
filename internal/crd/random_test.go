package crd

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maker makes schemas, changes of schemas and values, all of a small world, so that limits
// are met often.
type maker struct{ *rand.Rand }

func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m maker) word() string { return []string{"", "a", "b", "ab", "abc", "abcd"}[m.IntN(6)] }

func (m maker) name() string { return []string{"p", "q", "r", "s"}[m.IntN(4)] }

// schema makes one of any type.
func (m maker) schema(depth int) map[string]any {
	kinds := 4
	if depth > 0 {
		kinds = 8
	}
	s := map[string]any{}
	switch m.IntN(kinds) {
	case 0:
		s["type"] = "string"
	case 1:
		s["type"] = "integer"
	case 2:
		s["type"] = "boolean"
	case 3:
		s["x-kubernetes-int-or-string"] = true
	case 4:
		s["type"] = "array"
		s["items"] = m.schema(depth - 1)
	case 5:
		s["type"] = "object"
		s["additionalProperties"] = m.schema(depth - 1)
	default:
		return m.object(depth)
	}
	for range m.IntN(3) {
		m.limit(s)
	}
	if m.chance(20) {
		s["nullable"] = true
	}
	return s
}

func (m maker) object(depth int) map[string]any {
	properties := map[string]any{}
	for range 1 + m.IntN(3) {
		p := m.schema(depth - 1)
		m.giveDefault(p, 20)
		properties[m.name()] = p
	}
	s := map[string]any{"type": "object", "properties": properties}
	for _, name := range keysOf(properties, nil) {
		if m.chance(30) {
			s["required"] = []any{name}
		}
	}
	if m.chance(15) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	if m.chance(20) {
		m.limit(s)
	}
	return s
}

// limit puts a limit on a schema, or moves or takes away the one that is there.
func (m maker) limit(s map[string]any) {
	n := int64(m.IntN(4))
	var key string
	var value any = n
	switch s["type"] {
	case "string":
		key = []string{"minLength", "maxLength", "enum", "pattern", "format"}[m.IntN(5)]
		switch key {
		case "enum":
			value = m.words()
		case "pattern":
			value = []string{"a", "^a", "b$", "^[ab]*$"}[m.IntN(4)]
		case "format":
			value = []string{"date", "hostname", "byte"}[m.IntN(3)]
		}
	case "integer":
		key = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"}[m.IntN(6)]
		switch key {
		case "exclusiveMinimum", "exclusiveMaximum":
			value = m.chance(50)
		case "multipleOf":
			value = n + 1
		case "enum":
			value = []any{n, n + 1, n + 2}
		}
	case "array":
		key = []string{"minItems", "maxItems", "x-kubernetes-list-type"}[m.IntN(3)]
		if key == "x-kubernetes-list-type" {
			value = []string{"atomic", "set"}[m.IntN(2)]
		}
	case "object":
		key = []string{"minProperties", "maxProperties", "anyOf", "not"}[m.IntN(4)]
		switch key {
		case "anyOf":
			value = []any{map[string]any{"required": []any{m.name()}}, map[string]any{"required": []any{m.name()}}}
		case "not":
			value = map[string]any{"required": []any{m.name()}}
		}
	default:
		return
	}
	if m.chance(40) {
		delete(s, key)
		return
	}
	s[key] = value
}

func (m maker) words() []any {
	all := []any{"", "a", "b", "ab", "abc", "abcd"}
	from := m.IntN(4)
	return all[from : from+1+m.IntN(len(all)-from)]
}

// giveDefault gives a default that the schema takes, as the API server demands.
func (m maker) giveDefault(s map[string]any, percent int) {
	if !m.chance(percent) {
		return
	}
	v := m.value(s, 0)
	if v != nil && takes(s, v) {
		s["default"] = v
	}
}

// takes says whether a schema takes a value.
func takes(s map[string]any, v any) bool {
	broken, err := ValidateExisting(randomDefinition(map[string]any{"type": "object", "properties": map[string]any{"v": s}}), []*unstructured.Unstructured{randomWidget(map[string]any{"v": v})})
	return err == nil && len(broken) == 0
}

// value makes a value that may fit the schema; stray of a hundred fields are ones that it
// does not name.
func (m maker) value(s map[string]any, stray int) any {
	if s["nullable"] == true && m.chance(20) {
		return nil
	}
	if list, ok := s["enum"].([]any); ok && m.chance(90) {
		return list[m.IntN(len(list))]
	}
	switch s["type"] {
	case "string":
		return m.word()
	case "integer":
		return int64(m.IntN(6))
	case "boolean":
		return m.chance(50)
	case "array":
		items, _ := s["items"].(map[string]any)
		list := []any{}
		for range m.IntN(4) {
			list = append(list, m.value(items, stray))
		}
		return list
	case "object":
		return m.fields(s, stray)
	}
	if m.chance(50) {
		return int64(m.IntN(6))
	}
	return m.word()
}

func (m maker) fields(s map[string]any, stray int) any {
	v := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range keysOf(properties, nil) {
		p, _ := properties[name].(map[string]any)
		if m.chance(60) {
			v[name] = m.value(p, stray)
		}
	}
	if additional, ok := s["additionalProperties"].(map[string]any); ok {
		for range m.IntN(3) {
			v[m.name()] = m.value(additional, stray)
		}
	}
	if s["x-kubernetes-preserve-unknown-fields"] == true || m.chance(stray) {
		v[m.name()] = m.word()
	}
	return v
}

// nodes are all schemas within one, itself first.
func nodes(s map[string]any) []map[string]any {
	list := []map[string]any{s}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range keysOf(properties, nil) {
		list = append(list, nodes(properties[name].(map[string]any))...)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if sub, ok := s[key].(map[string]any); ok {
			list = append(list, nodes(sub)...)
		}
	}
	return list
}

// mutate changes something, somewhere.
func (m maker) mutate(s map[string]any) {
	all := nodes(s)
	at := all[m.IntN(len(all))]
	properties, _ := at["properties"].(map[string]any)
	switch m.IntN(10) {
	case 0, 1, 2:
		m.limit(at)
	case 3:
		at["nullable"] = at["nullable"] != true
	case 4:
		if at["type"] == "object" && at["additionalProperties"] == nil {
			at["x-kubernetes-preserve-unknown-fields"] = at["x-kubernetes-preserve-unknown-fields"] != true
		}
	case 5, 6:
		if properties != nil {
			p := m.schema(1)
			m.giveDefault(p, 40)
			properties[m.name()] = p
		}
	case 7:
		if properties != nil {
			at["required"] = []any{m.name()}
		}
	case 8:
		if required := at["required"]; required != nil && m.chance(70) {
			delete(at, "required")
		} else if properties != nil {
			delete(properties, m.name())
		}
	case 9:
		if at["type"] == "object" && properties == nil {
			at["additionalProperties"] = []any{true, m.schema(1)}[m.IntN(2)]
		} else {
			at["description"] = fmt.Sprint(m.IntN(9))
		}
	}
}

func randomDefinition(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.org"},
		"spec": map[string]any{
			"group": "example.org", "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": runtime.DeepCopyJSON(spec)}},
			}}},
		},
	}}
}

func randomWidget(spec any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "one", "namespace": "shop"}, "spec": spec,
	}}
}
