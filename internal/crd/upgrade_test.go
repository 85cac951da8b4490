package crd

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func objects(all ...*unstructured.Unstructured) []*unstructured.Unstructured { return all }

func TestJudge(t *testing.T) {
	loose := "{type: object, properties: {num: {type: integer}, s: {type: string}}}"
	for name, c := range map[string]struct {
		was, is                  string
		live                     []*unstructured.Unstructured
		reasons, forced, open    int
		brokenField, refusedSays string
	}{
		"nothing changes":              {was: loose, is: loose, live: objects(widget(t, "a", "{num: 1}"))},
		"unsafe, and nothing is there": {was: loose, is: "{type: object, properties: {num: {type: integer, minimum: 3}, s: {type: string}}}", reasons: 1},
		"unsafe, and all fit":          {was: loose, is: "{type: object, properties: {num: {type: integer, minimum: 3}, s: {type: string}}}", live: objects(widget(t, "a", "{num: 3}")), reasons: 1},
		"unsafe, and one breaks": {
			was: loose, is: "{type: object, properties: {num: {type: integer, minimum: 3}, s: {type: string}}}", live: objects(widget(t, "a", "{num: 3}"), widget(t, "b", "{num: 2}")), reasons: 2, forced: 1,
			brokenField: "spec.num", refusedSays: "Widget.example.org/shop/b: spec.num",
		},
		"a field that is lost":  {was: loose, is: "{type: object, properties: {num: {type: integer}}}", live: objects(widget(t, "a", "{s: x}")), reasons: 2, forced: 1, brokenField: "spec.s", refusedSays: "spec.s is dropped"},
		"broken before already": {was: "{type: object, properties: {num: {type: integer, maximum: 1}}}", is: "{type: object, properties: {num: {type: integer, maximum: 1}, m: {type: integer}}}", live: objects(widget(t, "a", "{num: 5}"))},
		"a rule in CEL":         {was: loose, is: strings.Replace(loose, "{type: integer}", "{type: integer, x-kubernetes-validations: [{rule: self > 1}]}", 1), live: objects(widget(t, "a", "{num: 1}")), reasons: 1, open: 1},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := CheckUpgrade(widgets(t, c.was), widgets(t, c.is), c.live)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Concat(v.Refused, v.Unsafe); len(got) != c.reasons {
				t.Errorf("reasons %q, want %d", got, c.reasons)
			}
			if got := v.Refused; len(got) != c.forced || c.refusedSays != "" && !strings.Contains(got[0], c.refusedSays) {
				t.Errorf("with force %q, want %d with %q", got, c.forced, c.refusedSays)
			}
			if len(v.UnevaluatedRules) != c.open {
				t.Errorf("undecided %q, want %d", v.UnevaluatedRules, c.open)
			}
			if c.brokenField != "" && (len(v.Broken) != 1 || v.Broken[0].Field != c.brokenField) {
				t.Errorf("broken %+v, want %s", v.Broken, c.brokenField)
			}
		})
	}
}

// A downgrade to a definition without a stored version is refused, whoever forces it.
func TestJudgeDowngrade(t *testing.T) {
	current := widgets(t, emptySpec)
	second(true, true, emptySpec)(t, current)
	stored(current, "v1", "v2")
	v, err := CheckUpgrade(current, widgets(t, emptySpec), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Refused; len(got) != 1 || !strings.Contains(got[0], "v2: objects may be stored in this version (status.storedVersions has v1, v2)") {
		t.Errorf("reasons %q", got)
	}
}

func TestRestorable(t *testing.T) {
	former := widgets(t, emptySpec)
	both := widgets(t, emptySpec)
	second(true, true, emptySpec)(t, both)
	migrated := both.DeepCopy()
	stored(migrated, "v2")
	untouched := widgets(t, emptySpec)
	second(true, false, emptySpec)(t, untouched)
	stored(untouched, "v1")
	elsewhere := widgets(t, emptySpec)
	specAt(elsewhere)["scope"] = "Cluster"
	for name, c := range map[string]struct {
		former, current *unstructured.Unstructured
		why             string
	}{
		"the same":               {former, former, ""},
		"the other way":          {both, former, ""},
		"a version not stored":   {former, untouched, ""},
		"a storage version":      {former, both, "stored in v2"},
		"a migrated one":         {former, migrated, "remove v2 from status.storedVersions"},
		"another scope":          {former, elsewhere, "spec.scope is Cluster, and was Namespaced"},
		"nothing to be put back": {nil, both, "it is empty"},
	} {
		if ok, reason := Restorable(c.former, c.current); ok != (c.why == "") || !strings.Contains(reason, c.why) {
			t.Errorf("%s: %v, %q, want %q", name, ok, reason, c.why)
		}
	}
}

func TestValidateExisting(t *testing.T) {
	definition := widgets(t, `
{type: object, required: [num], properties: {
  num: {type: integer, default: 3, maximum: 4},
  s: {type: string, format: date-time},
  either: {x-kubernetes-int-or-string: true},
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}},
  other: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true},
  rules: {type: array, items: {type: object, properties: {host: {type: string}}}}}}`)
	for spec, want := range map[string][]string{
		"{}":                              nil,
		"{num: null}":                     nil,
		"{num: 5}":                        {"spec.num"},
		"{num: x}":                        {"spec.num"},
		"{s: today}":                      {"spec.s"},
		"{either: 1}":                     nil,
		"{either: a}":                     nil,
		"{either: []}":                    {"spec.either"},
		"{set: [a, b]}":                   nil,
		"{set: [a, a]}":                   {"spec.set[1]"},
		"{rules: [{host: a}, {port: 1}]}": {"spec.rules[1].port"},
		"{other: {a: 1}}":                 {"spec.other"},
		"{other: {kind: A, apiVersion: v1, more: 1}}": nil,
	} {
		broken, err := ValidateExisting(definition, objects(widget(t, "a", spec)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range broken {
			got = append(got, b.Field)
			if !strings.HasPrefix(b.Message, "Widget.example.org/shop/a: ") {
				t.Errorf("%s: message %q", spec, b.Message)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %v", spec, broken, want)
		}
	}
	gone := widget(t, "a", "{}")
	gone.SetAPIVersion("example.org/v9")
	if broken, err := ValidateExisting(definition, objects(gone)); err != nil || len(broken) != 1 || !strings.Contains(broken[0].Message, "version v9") {
		t.Errorf("a version that is not there: %+v, %v", broken, err)
	}
	gone.SetAPIVersion("example.com/v1")
	if _, err := ValidateExisting(definition, objects(gone)); err == nil || !strings.Contains(err.Error(), "not one of its objects") {
		t.Errorf("an object of another group: %v", err)
	}
	if _, err := ValidateExisting(widgets(t, "{type: object, properties: {a: {}}}"), objects(widget(t, "a", "{}"))); err == nil || !strings.Contains(err.Error(), "v1 in the CRD widgets.example.org") {
		t.Errorf("a schema that is not structural: %v", err)
	}
}
