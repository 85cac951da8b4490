package manual_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
)

// database is the schema of a spec with one of everything.
const database = `
type: object
required: [owner, auth]
properties:
  owner: {type: string, description: "Who it belongs to. More of that."}
  auth:
    type: object
    required: [secret]
    properties:
      secret: {type: string, description: "Name of the Secret, e.g. one by hand. It must exist."}
      method: {type: string, enum: [scram, md5]}
      realm: {type: string, description: Deep and free.}
  replicas: {type: integer, default: 1, minimum: 0}
  image: {type: string}
  nothing: {type: string}
  old: {type: string, description: "Deprecated: use image."}
  size: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
  anything: {x-kubernetes-preserve-unknown-fields: true}
  open: {type: object, x-kubernetes-preserve-unknown-fields: true, description: Whatever.}
  resource: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  since: {type: string, format: date-time}
  labels: {type: object, additionalProperties: {type: string}}
  limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
  matrix: {type: array, items: {type: array, items: {type: number}}}
  users:
    type: array
    items:
      type: object
      required: [name]
      properties:
        name: {type: string}
        role: {type: string, default: reader}
  shards:
    type: object
    additionalProperties:
      type: object
      properties:
        weight: {type: integer, default: 1}
  "odd.key": {type: boolean, default: false}
  modes: {type: array, items: {type: string, enum: [fast, safe, ""]}}
`

func show(all []manual.Field) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s", f.Path, f.Type)
		if f.Required {
			b.WriteString(" required")
		}
		if f.OptionalParent != "" {
			b.WriteString(" in " + f.OptionalParent)
		}
		if f.Default != "" {
			b.WriteString(" default " + f.Default)
		}
		if f.Enum != nil {
			b.WriteString(" of " + strings.Join(f.Enum, "|"))
		}
		if f.HiddenFields > 0 {
			fmt.Fprintf(&b, " +%d", f.HiddenFields)
		}
		if f.Description != "" {
			b.WriteString(" - " + f.Description)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestFieldsWorthSetting(t *testing.T) {
	got, omitted, err := manual.Fields(spec(t, database), manual.FieldSelection{})
	if err != nil {
		t.Fatal(err)
	}
	want := `spec.auth: object required +1
spec.auth.secret: string required - Name of the Secret, e.g. one by hand.
spec.owner: string required - Who it belongs to.
spec.anything: any
spec.auth.method: string of scram|md5
spec.image: string
spec.labels: map of string
spec.limits: map of integer or string
spec.matrix: [][]number
spec.modes: []string of fast|safe|""
spec.nothing: string
spec.open: any object - Whatever.
spec.replicas: integer default 1
spec.resource: object (any resource)
spec.shards: map of object
spec.shards.*.weight: integer default 1
spec.since: string (date-time)
spec.size: integer or string
spec.users: []object +1
spec.users[].role: string default "reader"
spec["odd.key"]: boolean default false
`
	if show(got) != want || omitted != 3 {
		t.Errorf("%d left out, got\n%swant\n%s", omitted, show(got), want)
	}
}

func TestAllFields(t *testing.T) {
	got, omitted, err := manual.Fields(spec(t, database), manual.FieldSelection{All: true})
	if err != nil || omitted != 0 || len(got) != 24 {
		t.Errorf("%d fields, %d left out, %v", len(got), omitted, err)
	}
	for _, want := range []string{"spec.auth.realm: string - Deep and free.\n", "spec.old: string - Deprecated: use image.\n", "spec.users[].name: string required in spec.users\n"} {
		if !strings.Contains(show(got), want) {
			t.Errorf("no %q in\n%s", want, show(got))
		}
	}
}

func TestFieldsBelowAPath(t *testing.T) {
	for path, want := range map[string]string{
		"spec.auth":          "spec.auth spec.auth.method spec.auth.realm spec.auth.secret",
		"spec.users":         "spec.users spec.users[].name spec.users[].role",
		"spec.users[]":       "spec.users spec.users[].name spec.users[].role",
		"spec.users.name":    "spec.users[].name",
		"spec.users[0].name": "spec.users[].name",
		"spec.shards.*":      "spec.shards.*.weight",
		`spec["odd.key"]`:    `spec["odd.key"]`,
		"status":             "status",
		"spec.image":         "spec.image",
		"spec.au":            "error: spec has no field au",
		"spec.image.x":       "error: spec.image has no fields",
		"spec.image[]":       "error: spec.image is not a list",
		"metadata.name":      "error: does not have it",
		"spec.anything.deep": "error: does not have it",
		"spec.":              "error: missing",
	} {
		got, _, err := manual.Fields(spec(t, database), manual.FieldSelection{Path: path})
		if wrong, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: error %v, want %s", path, err, wrong)
			}
			continue
		}
		var paths []string
		for _, f := range got {
			paths = append(paths, f.Path)
		}
		if strings.Join(paths, " ") != want {
			t.Errorf("%s: got %v, %v, want %s", path, paths, err, want)
		}
	}
	got, _, _ := manual.Fields(spec(t, database), manual.FieldSelection{Path: "spec.owner"})
	if want := "Who it belongs to. More of that."; got[0].Description != want {
		t.Errorf("description %q, want %q", got[0].Description, want)
	}
}

// TestFieldsAreBounded has more fields than one wants to read: what stands first
// is not decided by the alphabet.
func TestFieldsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("type: object\nrequired: [zone]\nproperties:\n  zone: {type: string}\n  replicas: {type: integer}\n  tier: {type: string, enum: [a, b]}\n")
	for i := range 90 {
		fmt.Fprintf(&b, "  a%02d: {type: string, description: One of many.}\n", i)
	}
	got, omitted, err := manual.Fields(spec(t, b.String()), manual.FieldSelection{})
	if err != nil || len(got) != 40 || omitted != 53 || got[0].Path != "spec.zone" {
		t.Fatalf("%d fields, %d left out, %v", len(got), omitted, err)
	}
	for _, want := range []string{"spec.replicas", "spec.tier"} {
		if !slices.ContainsFunc(got, func(f manual.Field) bool { return f.Path == want }) {
			t.Errorf("no %s", want)
		}
	}
}

func TestFieldsOfWhatHasNoSpec(t *testing.T) {
	schema := fields(t, `
type: object
required: [data]
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  data: {type: object, required: [key], properties: {key: {type: string}}}
  status: {type: object, properties: {phase: {type: string}}}
`)
	got, omitted, err := manual.Fields(schema, manual.FieldSelection{})
	if want := "data: object required\ndata.key: string required\n"; show(got) != want || omitted != 0 || err != nil {
		t.Errorf("%d left out, %v, got\n%s", omitted, err, show(got))
	}
	if got, omitted, err := manual.Fields(nil, manual.FieldSelection{}); len(got)+omitted != 0 || err != nil {
		t.Errorf("of no schema: %v, %d, %v", got, omitted, err)
	}
}
