package crd

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definitionCase is a pair of definitions that trips a rule; also are others that come along of
// necessity. The twin is much like it and safe.
type definitionCase struct {
	rule             string
	also             []string
	was, is          func(*testing.T, *unstructured.Unstructured)
	twinWas, twinIs  func(*testing.T, *unstructured.Unstructured)
	version, message string
}

func set(m map[string]any, key string, value any) { m[key] = value }

func inSpec(key string, value any) func(*testing.T, *unstructured.Unstructured) {
	return func(_ *testing.T, u *unstructured.Unstructured) { set(specAt(u), key, value) }
}

func inNames(key string, value any) func(*testing.T, *unstructured.Unstructured) {
	return func(_ *testing.T, u *unstructured.Unstructured) {
		set(specAt(u)["names"].(map[string]any), key, value)
	}
}

func inVersion(key string, value any) func(*testing.T, *unstructured.Unstructured) {
	return func(_ *testing.T, u *unstructured.Unstructured) { set(versionAt(u, 0), key, value) }
}

// second adds v2, with a field a.
func second(served, storage bool, spec string) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, u *unstructured.Unstructured) {
		addVersion(t, u, "v2", served, storage, spec)
		if storage {
			set(versionAt(u, 0), "storage", false)
		}
	}
}

func all(edits ...func(*testing.T, *unstructured.Unstructured)) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, u *unstructured.Unstructured) {
		for _, e := range edits {
			e(t, u)
		}
	}
}

func wasStored(names ...string) func(*testing.T, *unstructured.Unstructured) {
	return func(_ *testing.T, u *unstructured.Unstructured) { stored(u, names...) }
}

// schemaless leaves the first version without a schema.
func schemaless(_ *testing.T, u *unstructured.Unstructured) { delete(versionAt(u, 0), "schema") }

func fields(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func webhook(name string, extra ...any) map[string]any {
	client := fields("service", fields("name", name, "namespace", "ops"))
	for i := 0; i < len(extra); i += 2 {
		client[extra[i].(string)] = extra[i+1]
	}
	return fields("strategy", "Webhook", "webhook", fields("conversionReviewVersions", []any{"v1"}, "clientConfig", client))
}

const emptySpec = "{type: object}"

func definitionCases() []definitionCase {
	return append(wholeCases(), versionCases()...)
}

func wholeCases() []definitionCase {
	const spec = "{type: object}"
	return []definitionCase{
		{rule: scopeChanged, is: inSpec("scope", "Cluster"), twinIs: inNames("singular", "widget"), message: "spec.scope: another scope: it was Namespaced, it is Cluster"},
		{rule: groupChanged, is: inSpec("group", "example.com"), twinIs: inNames("shortNames", []any{"wi"})},
		{rule: nameChanged, is: inNames("plural", "things"), twinIs: inNames("categories", []any{"all"})},
		{rule: nameChanged, is: func(_ *testing.T, u *unstructured.Unstructured) { u.SetName("things.example.org") }, twinIs: func(_ *testing.T, u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }},
		{rule: kindChanged, also: []string{aliasesChanged, listKindChanged}, is: inNames("kind", "Thing"), twinIs: inNames("listKind", "WidgetList")},
		{rule: listKindChanged, is: inNames("listKind", "Widgets"), twinIs: inNames("listKind", "WidgetList")},
		{rule: aliasesChanged, is: inNames("shortNames", []any{"wi"})},
		{
			rule: conversionChanged, was: second(true, false, spec), is: all(second(true, false, spec), inSpec("conversion", webhook("a"))), message: "None, it is Webhook",
			twinWas: second(true, false, spec), twinIs: all(second(true, false, spec), inSpec("conversion", fields("strategy", "None"))),
		},
		{rule: conversionUnused, is: inSpec("conversion", webhook("a"))},
		{rule: webhookChanged, was: inSpec("conversion", webhook("a")), is: inSpec("conversion", webhook("b"))},
		{rule: unknownChange, is: inSpec("tomorrow", true), twinIs: inSpec("preserveUnknownFields", false)},
		{rule: unknownChange, is: inVersion("tomorrow", "x"), twinIs: inVersion("deprecated", false), version: "v1"},
		{rule: unknownChange, is: schemaless, twinIs: inVersion("tomorrow", ""), version: "v1"},
		{rule: pruningStarted, was: inSpec("preserveUnknownFields", true), twinIs: inSpec("preserveUnknownFields", true)},
	}
}

func versionCases() []definitionCase {
	const field = "{type: object, properties: {a: {type: string}}}"
	scale := fields("specReplicasPath", ".spec.n", "statusReplicasPath", ".status.n")
	other := fields("specReplicasPath", ".spec.m", "statusReplicasPath", ".status.n")
	selector := fields("specReplicasPath", ".spec.n", "statusReplicasPath", ".status.n", "labelSelectorPath", ".status.s")
	unserved := all(second(true, true, emptySpec), inVersion("served", false))
	v2alone := func(t *testing.T, u *unstructured.Unstructured) {
		second(true, true, emptySpec)(t, u)
		specAt(u)["versions"] = specAt(u)["versions"].([]any)[1:]
	}
	return []definitionCase{
		{
			rule: storedVersionRemoved, was: all(unserved, wasStored("v1", "v2")), is: v2alone, version: "v1", message: "status.storedVersions has v1, v2",
			twinWas: all(unserved, wasStored("v2")), twinIs: v2alone,
		},
		{rule: versionRemoved, was: all(second(true, true, emptySpec), wasStored("v2")), is: v2alone, version: "v1", twinWas: all(unserved, wasStored("v2")), twinIs: v2alone},
		{rule: unservedRemoved, was: all(unserved, wasStored("v2")), is: v2alone, version: "v1"},
		{rule: versionUnserved, is: inVersion("served", false), version: "v1", twinWas: inVersion("served", false), twinIs: inVersion("served", false)},
		{rule: versionServed, was: inVersion("served", false), version: "v1"},
		{rule: versionAdded, is: second(true, false, emptySpec), version: "v2"},
		{rule: versionLossy, also: []string{versionAdded}, is: second(true, false, field), version: "v2", message: "spec.a in v2", twinIs: all(second(true, false, field), inSpec("conversion", webhook("a")))},
		{rule: storageVersionChanged, was: second(true, false, emptySpec), is: second(true, true, emptySpec)},
		{
			rule: storageIncompatible, also: []string{storageVersionChanged}, version: "v2", message: "spec.a in v2",
			was: all(second(true, false, emptySpec), withField), is: all(second(true, true, emptySpec), withField),
			twinWas: second(true, false, field), twinIs: second(true, true, field),
		},
		{rule: statusWithdrawn, was: inVersion("subresources", fields("status", fields())), version: "v1", twinIs: inVersion("subresources", fields("status", fields()))},
		{rule: statusAdded, is: inVersion("subresources", fields("status", fields())), version: "v1"},
		{rule: scaleWithdrawn, was: inVersion("subresources", fields("scale", scale)), version: "v1", twinIs: inVersion("subresources", fields("scale", scale))},
		{
			rule: scaleChanged, was: inVersion("subresources", fields("scale", scale)), is: inVersion("subresources", fields("scale", other)), version: "v1", message: "specReplicasPath",
			twinWas: inVersion("subresources", fields("scale", scale)), twinIs: inVersion("subresources", fields("scale", selector)),
		},
		{rule: scaleAdded, was: inVersion("subresources", fields("scale", scale)), is: inVersion("subresources", fields("scale", selector)), version: "v1"},
		{rule: selectableRemoved, was: inVersion("selectableFields", []any{fields("jsonPath", ".spec.a")}), version: "v1", message: "spec.a in v1", twinIs: inVersion("selectableFields", []any{fields("jsonPath", ".spec.a")})},
		{rule: selectableAdded, is: inVersion("selectableFields", []any{fields("jsonPath", ".spec.a")}), version: "v1"},
		{rule: columnsChanged, is: inVersion("additionalPrinterColumns", []any{fields("name", "A", "type", "string", "jsonPath", ".spec.a")}), version: "v1"},
		{rule: deprecationChanged, is: inVersion("deprecated", true), version: "v1"},
	}
}

func withField(_ *testing.T, u *unstructured.Unstructured) {
	schema := versionAt(u, 0)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	spec := schema["properties"].(map[string]any)["spec"].(map[string]any)
	spec["properties"] = fields("a", fields("type", "string"))
}

// Each rule of definitions and versions is tripped by a minimal pair, and what is much like it
// and safe is called safe.
func TestDefinitionRules(t *testing.T) {
	build := func(t *testing.T, edit func(*testing.T, *unstructured.Unstructured)) *unstructured.Unstructured {
		u := widgets(t, emptySpec)
		if edit != nil {
			edit(t, u)
		}
		return u
	}
	for _, c := range definitionCases() {
		t.Run(c.rule, func(t *testing.T) {
			changes := compared(t, build(t, c.was), build(t, c.is))
			want := append([]string{c.rule}, c.also...)
			slices.Sort(want)
			if got := rulesOf(changes); !slices.Equal(got, want) {
				t.Fatalf("rules %v, want %v: %+v", got, want, changes)
			}
			for _, change := range changes {
				if change.Rule == c.rule && (change.Version != c.version || !strings.Contains(change.Message, c.message)) {
					t.Errorf("change %+v, want version %q and %q", change, c.version, c.message)
				}
			}
			if len(unsafeOf(changes)) == 0 {
				return
			}
			if c.twinIs == nil && c.twinWas == nil {
				t.Fatal("an unsafe rule without a safe twin")
			}
			if harm := unsafeOf(compared(t, build(t, c.twinWas), build(t, c.twinIs))); len(harm) > 0 {
				t.Errorf("the twin is unsafe: %+v", harm)
			}
		})
	}
}
