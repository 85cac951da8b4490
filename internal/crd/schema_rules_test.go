package crd

import (
	"slices"
	"strings"
	"testing"
)

// schemaCase is a pair of schemas of spec.f that trips a rule, and only it; and, for a rule
// that is unsafe, a twin much like it that is safe.
type schemaCase struct {
	rule    string
	was, is string
	twinWas string
	twinIs  string
	field   string // spec.f, unless given
	says    string
}

func schemaCases() []schemaCase {
	return append(append(shapeCases(), limitCases()...), mapCases()...)
}

func shapeCases() []schemaCase {
	return []schemaCase{
		{rule: fieldRemoved, was: "{type: string}", is: "", twinWas: "", twinIs: "{type: string}"},
		{rule: fieldAdded, was: "", is: "{type: string, maxLength: 1}"},
		{rule: fieldAdded, was: "", is: "{type: string, default: a}"},
		{
			rule: openFieldConstrained, was: "{type: object, x-kubernetes-preserve-unknown-fields: true}", is: "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", field: "spec.f.a",
			twinWas: "{type: object}", twinIs: "{type: object, properties: {a: {type: string}}}",
		},
		{
			rule: requiredAdded, was: "{type: object, properties: {a: {type: string}}}", is: "{type: object, required: [a], properties: {a: {type: string}}}", field: "spec.f.a",
			twinWas: "{type: object, properties: {a: {type: string, default: x}}}", twinIs: "{type: object, required: [a], properties: {a: {type: string, default: x}}}",
		},
		{rule: requiredDefaulted, was: "{type: object, properties: {a: {type: string, default: x}}}", is: "{type: object, required: [a], properties: {a: {type: string, default: x}}}", field: "spec.f.a", says: "default x"},
		{rule: requiredRelaxed, was: "{type: object, required: [a], properties: {a: {type: string}}}", is: "{type: object, properties: {a: {type: string}}}", field: "spec.f.a"},
		{rule: typeChanged, was: "{type: string}", is: "{type: integer}", says: "it was string, it is integer", twinWas: "{type: string}", twinIs: "{type: string, title: t}"},
		{rule: typeChanged, was: "{type: integer}", is: "{type: number}", twinWas: "{type: integer, minimum: 1}", twinIs: "{type: integer, minimum: 1.0}"},
		{rule: intOrStringChanged, was: "{type: integer}", is: "{x-kubernetes-int-or-string: true}", says: "integer or string", twinWas: "{x-kubernetes-int-or-string: true}", twinIs: "{x-kubernetes-int-or-string: true, description: d}"},
		{rule: nullableWithdrawn, was: "{type: string, nullable: true}", is: "{type: string}", twinWas: "{type: string, nullable: false}", twinIs: "{type: string}"},
		{rule: nullableGranted, was: "{type: string}", is: "{type: string, nullable: true}"},
		{rule: pruningStarted, was: "{type: object, x-kubernetes-preserve-unknown-fields: true}", is: "{type: object}", twinWas: "{type: object}", twinIs: "{type: object, x-kubernetes-preserve-unknown-fields: true}"},
		{rule: pruningEnded, was: "{type: object}", is: "{type: object, x-kubernetes-preserve-unknown-fields: true}"},
		{
			rule: embeddedChanged, was: "{type: object, x-kubernetes-preserve-unknown-fields: true}", is: "{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}",
			twinWas: "{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}", twinIs: "{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true, properties: {kind: {type: string}}}",
		},
		{rule: defaultAdded, was: "{type: string}", is: "{type: string, default: a}", says: "it was not given, it is a", twinWas: "", twinIs: "{type: string, default: a}"},
		{
			rule: defaultAdded, was: "{type: object, maxProperties: 2}", is: "{type: object, maxProperties: 2, properties: {a: {type: string, default: x}}}", field: "spec.f.a",
			twinWas: "{type: object, maxProperties: 2}", twinIs: "{type: object, maxProperties: 2, properties: {a: {type: string}}}",
		},
		{rule: defaultChanged, was: "{type: integer, default: 1}", is: "{type: integer, default: 2}", says: "it was 1, it is 2", twinWas: "{type: number, default: 1}", twinIs: "{type: number, default: 1.0}"},
		{rule: defaultRemoved, was: "{type: object, default: {}}", is: "{type: object}", says: "it was {}", twinWas: "{type: object, default: {}}", twinIs: "{type: object, default: {}, title: t}"},
		{rule: enumAdded, was: "{type: string}", is: "{type: string, enum: [a]}", twinWas: "{type: string, enum: [a]}", twinIs: "{type: string}"},
		{rule: enumTightened, was: "{type: string, enum: [a, b]}", is: "{type: string, enum: [a]}", says: `["b"] is no longer accepted`, twinWas: "{type: string, enum: [a, b]}", twinIs: "{type: string, enum: [c, b, a]}"},
		{rule: enumRelaxed, was: "{type: string, enum: [a]}", is: "{type: string, enum: [a, b]}"},
		{rule: enumRelaxed, was: "{type: string, enum: [a]}", is: "{type: string}"},
	}
}

func limitCases() []schemaCase {
	return []schemaCase{
		{rule: boundAdded, was: "{type: string}", is: "{type: string, minLength: 1}", says: "minLength", twinWas: "{type: string}", twinIs: "{type: string, minLength: 0}"},
		{rule: boundAdded, was: "{type: integer}", is: "{type: integer, minimum: 0}", twinWas: "{type: integer, minimum: 0}", twinIs: "{type: integer}"},
		{rule: minimumRaised, was: "{type: integer, minimum: 1}", is: "{type: integer, minimum: 2}", says: "it was 1, it is 2", twinWas: "{type: integer, minimum: 2}", twinIs: "{type: integer, minimum: 1}"},
		{rule: minimumRaised, was: "{type: integer, minimum: 1}", is: "{type: integer, minimum: 1, exclusiveMinimum: true}", twinWas: "{type: integer, minimum: 1}", twinIs: "{type: integer, minimum: 0, exclusiveMinimum: true}"},
		{rule: minimumRaised, was: "{type: array, minItems: 1, items: {type: string}}", is: "{type: array, minItems: 2, items: {type: string}}", twinWas: "{type: array, minItems: 2, items: {type: string}}", twinIs: "{type: array, minItems: 1, items: {type: string}}"},
		{rule: minimumRaised, was: "{type: object, minProperties: 1}", is: "{type: object, minProperties: 2}", twinWas: "{type: object, minProperties: 1}", twinIs: "{type: object}"},
		{rule: maximumLowered, was: "{type: number, maximum: 1.5}", is: "{type: number, maximum: 1}", twinWas: "{type: number, maximum: 1}", twinIs: "{type: number, maximum: 1.5}"},
		{rule: maximumLowered, was: "{type: number, maximum: 1}", is: "{type: number, maximum: 1, exclusiveMaximum: true}", twinWas: "{type: number, maximum: 1, exclusiveMaximum: true}", twinIs: "{type: number, maximum: 1}"},
		{rule: maximumLowered, was: "{type: string, maxLength: 2}", is: "{type: string, maxLength: 1}", twinWas: "{type: string, maxLength: 2}", twinIs: "{type: string, maxLength: 3}"},
		{rule: boundRelaxed, was: "{type: string, maxLength: 2}", is: "{type: string}"},
		{rule: boundRelaxed, was: "{type: number, multipleOf: 2}", is: "{type: number}"},
		{rule: multipleChanged, was: "{type: integer, multipleOf: 2}", is: "{type: integer, multipleOf: 3}", twinWas: "{type: integer, multipleOf: 2}", twinIs: "{type: integer}"},
		{rule: uniqueAdded, was: "{type: array, items: {type: string}}", is: "{type: array, uniqueItems: true, items: {type: string}}", twinWas: "{type: array, uniqueItems: true, items: {type: string}}", twinIs: "{type: array, items: {type: string}}"},
		{rule: patternChanged, was: "{type: string, pattern: a}", is: "{type: string, pattern: b}", twinWas: "{type: string, pattern: a}", twinIs: "{type: string}"},
		{rule: patternChanged, was: "{type: string}", is: "{type: string, pattern: b}", twinWas: "{type: string}", twinIs: "{type: string, description: b}"},
		{rule: patternRemoved, was: "{type: string, pattern: a}", is: "{type: string}"},
		{rule: formatChanged, was: "{type: string}", is: "{type: string, format: date-time}", says: "a format was added", twinWas: "{type: string, format: date-time}", twinIs: "{type: string}"},
		{rule: formatRemoved, was: "{type: integer, format: int32}", is: "{type: integer}"},
		{rule: descriptionsChanged, was: "{type: integer, description: a}", is: "{type: integer, description: b}", field: "-"},
	}
}

func mapCases() []schemaCase {
	const list = "{type: array, items: {type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}}}"
	return []schemaCase{
		{rule: listTypeChanged, was: list + "}", is: list + ", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}", says: "it was atomic, it is map", twinWas: list + "}", twinIs: list + ", x-kubernetes-list-type: atomic}"},
		{
			rule: listMapKeysChanged, was: list + ", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}", is: list + ", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b]}",
			twinWas: list + ", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]}", twinIs: list + ", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b, a]}",
		},
		{rule: mapTypeChanged, was: "{type: object}", is: "{type: object, x-kubernetes-map-type: atomic}", twinWas: "{type: object}", twinIs: "{type: object, x-kubernetes-map-type: granular}"},
		{rule: additionalTightened, was: "{type: object, additionalProperties: {type: string}}", is: "{type: object}", field: "spec.f.*", twinWas: "{type: object}", twinIs: "{type: object, additionalProperties: {type: string}}"},
		{rule: additionalTightened, was: "{type: object, additionalProperties: true}", is: "{type: object, additionalProperties: {type: string}}", field: "spec.f.*", twinWas: "{type: object, additionalProperties: {type: string}}", twinIs: "{type: object, additionalProperties: true}"},
		{rule: additionalTightened, was: "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}", is: "{type: object, additionalProperties: true}", field: "spec.f.*", twinWas: "{type: object, additionalProperties: {type: integer}}", twinIs: "{type: object, additionalProperties: true}"},
		{rule: maximumLowered, was: "{type: object, additionalProperties: {type: string, maxLength: 9}}", is: "{type: object, additionalProperties: {type: string, maxLength: 8}}", field: "spec.f.*", twinWas: "{type: object, additionalProperties: {type: string, maxLength: 8}}", twinIs: "{type: object, additionalProperties: {type: string, maxLength: 9}}"},
		{rule: patternChanged, was: "{type: array, items: {type: string}}", is: "{type: array, items: {type: string, pattern: x}}", field: "spec.f[]", twinWas: "{type: array, items: {type: string, pattern: x}}", twinIs: "{type: array, items: {type: string}}"},
		{rule: additionalRelaxed, was: "{type: object}", is: "{type: object, additionalProperties: {type: string}}", field: "spec.f.*"},
		{rule: validationAdded, was: "{type: integer}", is: "{type: integer, x-kubernetes-validations: [{rule: self > 1}]}", says: "self > 1", twinWas: "{type: integer, x-kubernetes-validations: [{rule: self > 1}]}", twinIs: "{type: integer}"},
		{rule: validationRemoved, was: "{type: integer, x-kubernetes-validations: [{rule: self > 1}]}", is: "{type: integer}"},
		{rule: validationReworded, was: "{type: integer, x-kubernetes-validations: [{rule: self > 1}]}", is: "{type: integer, x-kubernetes-validations: [{rule: self > 1, message: more than one}]}"},
		{rule: compositionChanged, was: "{type: integer}", is: "{type: integer, anyOf: [{minimum: 1}, {maximum: -1}]}", says: "anyOf", twinWas: "{type: integer, anyOf: [{minimum: 1}]}", twinIs: "{type: integer, anyOf: [{minimum: 1.0}]}"},
		{rule: unknownChange, was: "{type: string}", is: "{type: string, x-kubernetes-tomorrow: true}", field: "spec.f.x-kubernetes-tomorrow", twinWas: "{type: string}", twinIs: "{type: string, x-kubernetes-tomorrow: false}"},
	}
}

// Each rule of schemas is tripped by a minimal pair, alone, and says where; what is much like
// it and safe is called safe.
func TestSchemaRules(t *testing.T) {
	for _, c := range schemaCases() {
		t.Run(c.rule+"/"+c.is, func(t *testing.T) {
			changes := compared(t, fieldDefinition(t, c.was), fieldDefinition(t, c.is))
			if len(changes) != 1 || changes[0].Rule != c.rule {
				t.Fatalf("changes %+v, want one of %s", changes, c.rule)
			}
			change := changes[0]
			want := c.field
			switch want {
			case "":
				want = "spec.f"
			case "-":
				want = ""
			}
			if change.Field != want || change.Version != "v1" || !strings.HasPrefix(change.Message, strings.TrimPrefix(want+" in v1: ", " in ")) || !strings.Contains(change.Message, c.says) {
				t.Errorf("change %+v, want field %s and %q", change, want, c.says)
			}
			if change.Severity == Safe {
				return
			}
			if c.twinWas == "" && c.twinIs == "" {
				t.Fatal("an unsafe rule without a safe twin")
			}
			if harm := unsafeOf(compared(t, fieldDefinition(t, c.twinWas), fieldDefinition(t, c.twinIs))); len(harm) > 0 {
				t.Errorf("the twin is unsafe: %+v", harm)
			}
		})
	}
}

// No rule is without a case, and no case without a rule; names are told once.
func TestRulesAreTested(t *testing.T) {
	var tested []string
	for _, c := range schemaCases() {
		tested = append(tested, c.rule)
	}
	for _, c := range definitionCases() {
		tested = append(tested, c.rule)
	}
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.Description == "" || r.Why == "" || r.Severity != Safe && r.Severity != Unsafe || r.Final && r.Severity == Safe {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
		if !slices.Contains(tested, r.ID) {
			t.Errorf("nothing trips %s", r.ID)
		}
	}
	for _, id := range tested {
		if !seen[id] {
			t.Errorf("%s is no rule", id)
		}
	}
}
