package manual_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
)

// TestExamples makes an example of each schema of a spec; it must be valid, and
// come out as it says.
func TestExamples(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"required only":        {`{type: object, required: [a], properties: {a: {type: string}, b: {type: string}}}`, `{a: example}`},
		"a default":            {`{type: object, required: [a], properties: {a: {type: string, default: x}, b: {type: integer, default: 3}, c: {type: object, default: {}}}}`, `{a: x, b: 3}`},
		"an enumeration":       {`{type: object, required: [a], properties: {a: {type: string, enum: ["", x, z]}}}`, `{a: x}`},
		"names":                {`{type: object, required: [schedule, image, adminEmail], properties: {schedule: {type: string}, image: {type: string}, adminEmail: {type: string}}}`, `{schedule: 0 3 * * *, image: "registry.example.com/image:tag", adminEmail: admin@example.com}`},
		"formats":              {`{type: object, required: [a, b], properties: {a: {type: string, format: date-time}, b: {type: string, format: ipv4}}}`, `{a: "2026-01-31T12:00:00Z", b: 192.0.2.1}`},
		"a pattern":            {`{type: object, required: [a], properties: {a: {type: string, pattern: '^[a-c]{2}-(xy|z)[0-9]+$'}}}`, `{a: aa-xy1}`},
		"a quantity":           {`{type: object, required: [a], properties: {a: {type: string, pattern: '^[1-9][0-9]*(Mi|Gi|Ti)$'}}}`, `{a: 1Gi}`},
		"lengths":              {`{type: object, required: [a, b], properties: {a: {type: string, minLength: 9}, b: {type: string, maxLength: 3}}}`, `{a: examplexx, b: exa}`},
		"numbers":              {`{type: object, required: [a, b, c, d], properties: {a: {type: integer, minimum: 5}, b: {type: integer, maximum: -2}, c: {type: integer, multipleOf: 4}, d: {type: integer, minimum: 1, exclusiveMinimum: true}}}`, `{a: 5, b: -2, c: 4, d: 2}`},
		"fractions":            {`{type: object, required: [a], properties: {a: {type: number, minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true}}}`, `{a: 0.5}`},
		"integer or string":    {`{type: object, required: [a, b], properties: {a: {x-kubernetes-int-or-string: true}, b: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: '^([0-9]+)(Mi|Gi)$'}}}`, `{a: 1, b: 1Gi}`},
		"anything":             {`{type: object, required: [a, b], properties: {a: {x-kubernetes-preserve-unknown-fields: true}, b: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, `{a: {}, b: {}}`},
		"an embedded resource": {`{type: object, required: [a], properties: {a: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`, `{a: {apiVersion: v1, kind: ConfigMap, metadata: {name: example}}}`},
		"a list":               {`{type: object, required: [a], properties: {a: {type: array, items: {type: object, required: [key], properties: {key: {type: integer}}}}}}`, `{a: [{key: 1}]}`},
		"an empty list":        {`{type: object, required: [a], properties: {a: {type: array, maxItems: 0, items: {type: string}}}}`, `{a: []}`},
		"a set":                {`{type: object, required: [a], properties: {a: {type: array, minItems: 2, x-kubernetes-list-type: set, items: {type: string}}}}`, `{a: [example, example-2]}`},
		"a map of a list":      {`{type: object, required: [a], properties: {a: {type: array, minItems: 2, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: {type: object, required: [key], properties: {key: {type: string}}}}}}`, `{a: [{key: example}, {key: example-2}]}`},
		"free keys":            {`{type: object, required: [a], properties: {a: {type: object, additionalProperties: {type: boolean}}}}`, `{a: {example: false}}`},
		"one of":               {`{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [b]}, {required: [a]}]}`, `{b: example}`},
		"one of with a not":    {`{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a], not: {required: [b]}}, {required: [b], not: {required: [a]}}]}`, `{a: example}`},
		"any of deeper":        {`{type: object, required: [a], properties: {a: {type: object, properties: {x: {type: integer}, z: {type: integer}}}}, anyOf: [{properties: {a: {required: [z]}}}, {properties: {a: {required: [x]}}}]}`, `{a: {z: 1}}`},
		"all of":               {`{type: object, properties: {a: {type: string}, b: {type: integer}}, allOf: [{required: [a]}, {required: [b], properties: {b: {minimum: 7}}}]}`, `{a: example, b: 7}`},
		"a demand on values":   {`{type: object, required: [a], properties: {a: {type: string, anyOf: [{pattern: '^q+$'}, {pattern: '^r+$'}]}}}`, `{a: q}`},
		"some field":           {`{type: object, minProperties: 1, properties: {a: {type: string}, b: {type: string}}}`, `{a: example}`},
		"half a default":       {`{type: object, required: [a], properties: {a: {type: object, default: {x: 1}, required: [x, z], properties: {x: {type: integer}, z: {type: string}}}}}`, `{a: {x: 1, z: example}}`},
		"an excluded default":  {`{type: object, properties: {a: {type: string, default: x}, b: {type: string, default: z}}, not: {required: [a, b]}}`, `{a: x}`},
		"nothing":              {`{type: object, properties: {a: {type: string}}}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, r := define(t, spec(t, c.schema))
			got := manual.Build(d, r)
			for _, n := range got.Notes {
				if strings.HasPrefix(n, "not valid") {
					t.Error(n)
				}
			}
			want, err := yaml.JSONToYAML([]byte(`{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "example"}}`))
			if err != nil {
				t.Fatal(err)
			}
			body, err := yaml.Marshal(map[string]any{"spec": fields(t, c.want)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Manifest != string(want)+string(body) {
				t.Errorf("got\n%swant\n%s", got.Manifest, string(want)+string(body))
			}
		})
	}
}

// TestExamplesSayWhatTheyAreNot has schemas of which nothing valid can be made
// here: that is said, not hidden.
func TestExamplesSayWhatTheyAreNot(t *testing.T) {
	for schema, want := range map[string]string{
		`{type: object, required: [a], properties: {a: {type: string, pattern: '^x$', maxLength: 0}}}`:                                                 "not valid: spec.a",
		`{type: object, required: [a], properties: {a: {type: integer, minimum: 5, maximum: 3}}}`:                                                      "not valid: spec.a is 3, too small",
		`{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: has(self.a), message: a is wanted}]}`:                       "not checked: spec: a is wanted",
		`{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: has(self.a)}]}`:                                             "not checked: spec: has(self.a)",
		`{type: object, properties: {a: {type: string}}}`:                                                                                              "the spec has no required",
		`{type: object, required: [a], properties: {a: {type: array, minItems: 3, x-kubernetes-list-type: set, items: {type: boolean}}}}`:              "not valid: spec.a has two equal items",
		`{type: object, required: [a], properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf", message: no change}]}}}`:    "",
		`{type: object, required: [a], properties: {a: {type: array, items: {type: object, x-kubernetes-validations: [{rule: r, message: listed}]}}}}`: "not checked: spec.a[]: listed",
	} {
		d, r := define(t, spec(t, schema))
		got := strings.Join(manual.Build(d, r).Notes, "\n")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: notes %q, want %q", schema, got, want)
		}
	}
	d, r := define(t, nil)
	if got := manual.Build(d, r); !strings.Contains(got.Manifest, "kind: Thing") || len(got.Notes) != 1 {
		t.Errorf("without a schema: %v", got)
	}
}

// TestExampleIsBounded has lists in lists, each of many items, and alternatives
// within alternatives.
func TestExampleIsBounded(t *testing.T) {
	list, choice := any(map[string]any{"type": "string"}), any(map[string]any{"type": "string", "maxLength": int64(0), "minLength": int64(1)})
	for range 12 {
		list = map[string]any{"type": "array", "minItems": int64(16), "items": list}
		choice = map[string]any{"type": "object", "required": []any{"a"}, "properties": map[string]any{"a": choice}, "oneOf": []any{
			map[string]any{"required": []any{"b"}}, map[string]any{"required": []any{"c"}}, map[string]any{"required": []any{"d"}},
		}}
	}
	for _, v := range []any{list, choice} {
		d, r := define(t, map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "required": []any{"x"}, "properties": map[string]any{"x": v}}}})
		if got := manual.Build(d, r); len(got.Manifest) > 4<<20 {
			t.Errorf("%d bytes", len(got.Manifest))
		}
	}
}
