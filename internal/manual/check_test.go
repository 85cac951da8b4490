package manual_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ schema, spec, want string }{
		{database, `{owner: me, auth: {secret: s}}`, ""},
		{database, `{owner: me, auth: {secret: s, realm: r}, size: 1Gi, anything: [1], open: {x: 1}, labels: {a: b}, limits: {cpu: 1, memory: 1Gi}, matrix: [[1, 2.5]]}`, ""},
		{database, `{owner: me, auth: {}}`, "spec.auth.secret is required"},
		{database, `{owner: me, auth: {secret: s, method: plain}}`, `spec.auth.method is "plain", not one of scram, md5`},
		{database, `{owner: 1, auth: {secret: s}}`, "spec.owner is of type integer, not string"},
		{database, `{owner: me, auth: {secret: s}, replica: 1}`, "spec.replica is not in the schema"},
		{database, `{owner: me, auth: {secret: s}, replicas: -1}`, "spec.replicas is -1, too small"},
		{database, `{owner: me, auth: {secret: s}, replicas: null}`, "spec.replicas is null"},
		{database, `{owner: me, auth: {secret: s}, size: true}`, "spec.size is of type boolean, not integer or string"},
		{database, `{owner: me, auth: {secret: s}, since: today}`, `spec.since is "today", which is not a valid date-time`},
		{database, `{owner: me, auth: {secret: s}, labels: {a: 1}}`, "spec.labels.a is of type integer"},
		{database, `{owner: me, auth: {secret: s}, users: [{name: a}, {}]}`, "spec.users[1].name is required"},
		{database, `{owner: me, auth: {secret: s}, shards: {a: {x: 1}}}`, "spec.shards.a.x is not in the schema"},
		{`{type: object, minProperties: 1, maxProperties: 1, additionalProperties: true}`, `{}`, "spec has fewer than 1 fields"},
		{`{type: object, minProperties: 1, maxProperties: 1, additionalProperties: true}`, `{a: 1, b: 2}`, "spec has more than 1 fields"},
		{`{properties: {a: {nullable: true, type: string}}}`, `{a: null}`, ""},
		{`{properties: {a: {type: string, pattern: "^x"}}}`, `{a: z}`, `spec.a is "z", which does not match ^x`},
		{`{properties: {a: {type: string, minLength: 2}}}`, `{a: "é"}`, "spec.a is shorter than 2 characters"},
		{`{properties: {a: {type: string, maxLength: 1}}}`, `{a: "éé"}`, "spec.a is longer than 1 characters"},
		{`{properties: {a: {type: array, maxItems: 1, items: {}}}}`, `{a: [1, 2]}`, "spec.a has more than 1 items"},
		{`{properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: {type: object, properties: {key: {type: string}, v: {type: string}}}}}}`, `{a: [{key: x, v: z}, {key: x}]}`, "spec.a has two equal items"},
		{`{properties: {a: {type: number, maximum: 1, exclusiveMaximum: true}}}`, `{a: 1}`, "spec.a is 1, too large"},
		{`{properties: {a: {type: integer, multipleOf: 3}}}`, `{a: 4}`, "spec.a is 4, not a multiple of 3"},
		{`{oneOf: [{required: [a]}, {required: [b]}]}`, `{a: 1, b: 1}`, "spec matches 2 of its alternatives, not one"},
		{`{anyOf: [{required: [a]}, {required: [b]}]}`, `{c: 1}`, "spec matches none of its alternatives"},
		{`{allOf: [{required: [a]}]}`, `{c: 1}`, "spec.a is required"},
		{`{not: {required: [a]}}`, `{a: 1}`, "spec matches what its schema forbids"},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}`, `{b: 1, a: x}`, ""},
	} {
		object := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "x", "labels": map[string]any{}}, "spec": fields(t, c.spec)}
		got := strings.Join(manual.Check(spec(t, c.schema), object), "\n")
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s by %s: got %q, want %q", c.spec, strings.TrimSpace(c.schema), got, c.want)
		}
	}
}
