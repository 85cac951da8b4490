package manual

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// exampleName is the name of the object in an example.
const exampleName = "example"

// Build generates an example from the schema of r's version: the required fields, and those of the
// spec with a default. A value is the default, the first allowed one, or one that fits the type.
// The notes list validation errors.
func Build(d Definition, r Resource) Draft {
	schema := d.Schema(r.Version)
	object := map[string]any{"apiVersion": apiVersion(r), "kind": r.Kind, "metadata": map[string]any{"name": exampleName}}
	e := Draft{Object: object}
	e.Origin, e.Notes = "built from the schema of "+d.Name()+", version "+r.Version+": required fields, and fields with a default", []string{}
	if schema == nil {
		e.Origin, e.Notes = "no schema: the fields of every object", append(e.Notes, "the CRD has no schema, so the fields of the spec are unknown")
		return e.finish(nil)
	}
	if name := mapOf(schema, "properties", "metadata", "properties", "name"); name != nil {
		object["metadata"] = map[string]any{"name": sample("name", name)}
	}
	b := &builder{left: 20000}
	root := maps.Clone(schema)
	root["required"] = slices.DeleteFunc(anys(textsOf(schema, "required")), func(v any) bool { return v == "apiVersion" || v == "kind" || v == "metadata" || v == "status" })
	if spec := mapOf(schema, "properties", "spec"); spec != nil && !slices.Contains(textsOf(root, "required"), "spec") {
		root["required"] = append(root["required"].([]any), "spec")
	}
	body, _ := b.object("", root).(map[string]any)
	for name, v := range body {
		if _, ok := object[name]; !ok {
			object[name] = v
		}
	}
	b.defaults(schema, object)
	if spec, ok := object["spec"].(map[string]any); ok && len(spec) == 0 {
		e.Notes = append(e.Notes, "the spec has no required fields and no defaults: see FIELDS")
	}
	return e.finish(schema)
}

func apiVersion(r Resource) string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// finish validates the example and formats it.
func (e Draft) finish(schema map[string]any) Draft {
	if schema != nil {
		for _, p := range Check(schema, e.Object) {
			e.Notes = append(e.Notes, "not valid: "+p)
		}
		rules := Unchecked(schema, e.Object)
		const maxShown = 12
		for i, rule := range rules {
			if i == maxShown {
				e.Notes = append(e.Notes, fmt.Sprintf("%d more rules of the schema were not checked", len(rules)-maxShown))
				break
			}
			e.Notes = append(e.Notes, "not checked: "+strings.Join(strings.Fields(rule), " "))
		}
	}
	text, err := yaml.Marshal(e.Object)
	if err != nil {
		e.Notes = append(e.Notes, err.Error())
	}
	e.Manifest = string(text)
	return e
}

// defaults adds the fields of the spec with a scalar default, which are the most useful ones. It
// removes those that make the object invalid.
func (b *builder) defaults(schema, object map[string]any) {
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return
	}
	before := len(Check(schema, object))
	properties := mapOf(schema, "properties", "spec", "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		v := mapOf(properties, name)["default"]
		switch v.(type) {
		case nil, map[string]any, []any:
			continue
		}
		if _, present := spec[name]; present {
			continue
		}
		if spec[name] = v; len(Check(schema, object)) > before {
			delete(spec, name)
		}
	}
}
