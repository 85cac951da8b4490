package web

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	// maxFields and maxFieldDepth bound a schema as the page gets it; below, a field is YAML.
	maxFields, maxFieldDepth = 4000, 12
	// maxHelpLength bounds a description.
	maxHelpLength = 400
)

// schemaAnswer is the schema of a kind, or why there is none.
type schemaAnswer struct {
	Kind        string         `json:"kind"`
	APIVersion  string         `json:"apiVersion,omitempty"`
	Description string         `json:"description,omitempty"`
	Schema      map[string]any `json:"schema,omitempty"` // of spec
	Status      map[string]any `json:"status,omitempty"`
	// Namespaced says that objects have a namespace.
	Namespaced  bool   `json:"namespaced,omitempty"`
	Unavailable string `json:"unavailable,omitempty"`
}

// schema answers what the fields of a kind are.
func (a *API) schema(ctx context.Context, query url.Values) (json.RawMessage, error) {
	s := a.last().Session
	name := query.Get("kind")
	if wrong := declare.CheckKind(name); wrong != "" || strings.Contains(name, "*") {
		return nil, Bad("%q is not a kind: expected Kind.group", field.Shorten(name))
	}
	gk := declare.GroupKind(name)
	answer := schemaAnswer{Kind: gk.Kind}
	kind, ok := s.Kinds.Kind(gk)
	switch {
	case !ok:
		answer.Unavailable = name + " is not served here: its fields are known once its operator is installed; until then they are written as YAML"
		return json.Marshal(answer)
	case !kind.Custom:
		answer.Unavailable = name + " is built in, and has no CRD: its fields are written as YAML (kubectl explain " + kind.String() + " describes them)"
	}
	answer.APIVersion, answer.Namespaced = schema.GroupVersion{Group: kind.Group, Version: kind.Version}.String(), kind.Namespaced
	if answer.Unavailable != "" {
		return json.Marshal(answer)
	}
	p, err := app.NewObjectReader(ctx, s)
	if err != nil {
		return nil, err
	}
	ref := object.Ref{Group: app.DefinitionKind.Group, Kind: app.DefinitionKind.Kind, Name: kind.String()}
	found, err := p.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	whole := manual.NewDefinition(found[ref]).Schema(kind.Version)
	properties, _ := whole["properties"].(map[string]any)
	spec, _ := properties["spec"].(map[string]any)
	switch {
	case spec != nil:
		answer.Description, _ = whole["description"].(string)
		answer.Description = shortHelp(answer.Description)
		answer.Schema = formSchema(spec)
		if status, _ := properties["status"].(map[string]any); status != nil {
			answer.Status = formSchema(status)
		}
	case p.Refused(app.DefinitionKind):
		answer.Unavailable = "the CRD of " + name + " cannot be read: permission denied; its fields are written as YAML"
	case found[ref] == nil:
		answer.Unavailable = "there is no CRD of " + name + " to read: its fields are written as YAML"
	default:
		answer.Unavailable = "the CRD of " + name + " has no schema of spec: its fields are written as YAML"
	}
	return json.Marshal(answer)
}

// formKeys are what a form is made of. Examples are not among them.
var formKeys = []string{
	"type", "format", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
	"pattern", "required", "nullable", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
}

var secretName = regexp.MustCompile(`(?i)(passw|passphrase|secret|token|credential|private_?key|api_?key|access_?key)`)

// formSchema is of a schema what a form is made of. What is nearest to the top is kept, where there
// is too much; what is below is one field of free values.
func formSchema(whole map[string]any) map[string]any {
	type item struct {
		from, to map[string]any
		name     string
		depth    int
	}
	top := map[string]any{}
	todo, fields := []item{{whole, top, "", 0}}, 1
	for len(todo) > 0 {
		i := todo[0]
		todo = todo[1:]
		for _, k := range formKeys {
			if v, ok := i.from[k]; ok {
				i.to[k] = v
			}
		}
		if text, _ := i.from["description"].(string); text != "" {
			i.to["description"] = shortHelp(text)
		}
		if v, ok := i.from["default"]; ok && !secretName.MatchString(i.name) && plainDefault(v) {
			i.to["default"] = v
		}
		nested := children(i.from)
		if len(nested) > 0 && (i.depth == maxFieldDepth || fields+len(nested) > maxFields) {
			i.to["x-kubernetes-preserve-unknown-fields"] = true
			continue
		}
		fields += len(nested)
		for _, c := range nested {
			to := map[string]any{}
			if c.in == "properties" {
				all, ok := i.to[c.in].(map[string]any)
				if !ok {
					all = map[string]any{}
					i.to[c.in] = all
				}
				all[c.name] = to
			} else {
				i.to[c.in] = to
			}
			todo = append(todo, item{c.schema, to, c.name, i.depth + 1})
		}
	}
	return top
}

type childSchema struct {
	in, name string
	schema   map[string]any
}

func children(schema map[string]any) []childSchema {
	var all []childSchema
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if s, ok := properties[name].(map[string]any); ok {
			all = append(all, childSchema{"properties", name, s})
		}
	}
	for _, in := range []string{"items", "additionalProperties"} {
		if s, ok := schema[in].(map[string]any); ok {
			all = append(all, childSchema{in, "", s})
		}
	}
	return all
}

// plainDefault says that a default is one value, not a tree that might hold anything.
func plainDefault(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) <= maxHelpLength
	case bool, int64, float64:
		return true
	}
	return false
}

func shortHelp(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if all := []rune(text); len(all) > maxHelpLength {
		return string(all[:maxHelpLength-1]) + "…"
	}
	return text
}
