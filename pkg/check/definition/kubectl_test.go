package definition

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

// definitionText is a definition of shops, of which parts are replaced.
const definitionText = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.test.example.org}
spec:
  group: test.example.org
  scope: Namespaced
  names: {plural: shops, singular: shop, kind: Shop, listKind: ShopList}
  versions:
  - name: v1beta1
    served: true
    storage: false
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}, status: {type: object}}}}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {replicas: {type: integer}}}, status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}}}}
`

func TestDefinitionAsItIs(t *testing.T) {
	scale := func(paths string) string { return "subresources: {status: {}, scale: {" + paths + "}}" }
	const v1 = "    storage: true\n    subresources: {status: {}}"
	for _, tt := range []struct{ name, rule, old, new, want string }{
		{"schemas", "crd-schema", "", "", "fine"},
		{"an old version without", "crd-schema", "    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}, status: {type: object}}}}\n", "", "warning "},
		{"a version without that is not served", "crd-schema", "served: true\n    storage: false\n    subresources: {status: {}}\n    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}, status: {type: object}}}}\n", "served: false\n    storage: false\n", "fine"},
		{"any fields at all", "crd-schema", "{type: object, properties: {spec: {type: object}, status: {type: object}}}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "warning x-kubernetes-preserve-unknown-fields: true"},
		{"no fields at all", "crd-schema", "{type: object, properties: {spec: {type: object}, status: {type: object}}}", "{type: object}", "fine"},

		{"structural", "crd-structural", "", "", "fine"},
		{"the server says no", "crd-structural", "spec:\n  group", "status: {conditions: [{type: NonStructuralSchema, status: 'True', message: no type}]}\nspec:\n  group", "error no type"},
		{"the server says yes", "crd-structural", "spec:\n  group", "status: {conditions: [{type: NonStructuralSchema, status: 'False'}]}\nspec:\n  group", "fine"},
		{"nothing pruned", "crd-structural", "spec:\n  group", "spec:\n  preserveUnknownFields: true\n  group", "warning true"},
		{"a type in anyOf", "crd-structural", "replicas: {type: integer}}}, status", "replicas: {anyOf: [{type: integer}, {type: string}]}}}, status", "error "},
		{"integers or texts", "crd-structural", "replicas: {type: integer}}}, status", "replicas: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}}}, status", "fine"},

		{"closed", "crd-open-spec", "", "", "fine"},
		{"an open spec", "crd-open-spec", "properties: {replicas: {type: integer}}}, status", "x-kubernetes-preserve-unknown-fields: true}, status", "warning true"},
		{"an open part", "crd-open-spec", "replicas: {type: integer}}}, status", "values: {type: object, x-kubernetes-preserve-unknown-fields: true}}}, status", "fine"},
		{"an open status", "crd-open-spec", "status: {type: object, properties: {replicas", "status: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {replicas", "fine"},

		{"no columns", "crd-printer-columns", "", "", "info "},
		{"columns of the old version", "crd-printer-columns", "storage: false\n", "storage: false\n    additionalPrinterColumns: [{name: A, type: string, jsonPath: .spec.a}]\n", "info "},
		{"columns of the newest", "crd-printer-columns", "storage: true\n", "storage: true\n    additionalPrinterColumns: [{name: A, type: string, jsonPath: .spec.replicas}]\n", "fine"},
		{"a column to nowhere", "crd-printer-paths", "storage: true\n", "storage: true\n    additionalPrinterColumns: [{name: A, type: string, jsonPath: .status.phase}]\n", "warning .status.phase"},

		{"short enough", "crd-short-names", "", "", "fine"},
		{"long", "crd-short-names", "plural: shops", "plural: warehouses", "info "},
		{"long with a short name", "crd-short-names", "plural: shops", "shortNames: [wh], plural: warehouses", "fine"},
		{"no category", "crd-categories", "", "", "info "},
		{"a category", "crd-categories", "plural: shops", "categories: [shopping], plural: shops", "fine"},
		{"a name of a built-in kind", "crd-names-clash", "plural: shops", "shortNames: [svc], plural: shops", "info svc"},
		{"a name of its own", "crd-names-clash", "plural: shops", "shortNames: [shp], plural: shops", "fine"},

		{"status apart", "crd-status", "", "", "fine"},
		{"status not apart", "crd-status", v1, "    storage: true", "warning "},
		{"status pruned", "crd-status", ", status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}", "", "info "},
		{"status kept by an open root", "crd-status", "{type: object, properties: {spec: {type: object}, status: {type: object}}}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "fine"},

		{"not scaled", "crd-scale", "", "", "info "},
		{"not scaled, of another type", "crd-scale", "replicas: {type: integer}}}, status", "replicas: {type: object}}}, status", ""},
		{"scaled", "crd-scale", v1, "    storage: true\n    " + scale("specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector"), "fine"},
		{"no selector", "crd-scale", v1, "    storage: true\n    " + scale("specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas"), "info "},
		{"paths to nowhere", "crd-scale", v1, "    storage: true\n    " + scale("specReplicasPath: .spec.replicas, statusReplicasPath: .status.nodes, labelSelectorPath: .status.labels"), "warning .status.labels; warning .status.nodes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := definitionText
			if tt.old != "" {
				if text = strings.Replace(text, tt.old, tt.new, 1); text == definitionText {
					t.Fatalf("%q is not there", tt.old)
				}
			}
			d := checktest.Read(t, operator.Find, text).Definitions[0]
			got := said(t, d, tt.rule)
			if tt.rule == "crd-structural" && strings.HasPrefix(got, tt.want) {
				return // The words are the server's.
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDescribed(t *testing.T) {
	fields := func(n, described int) string {
		var b strings.Builder
		for i := range n {
			text := ""
			if i < described {
				text = ", description: A field."
			}
			b.WriteString("f" + strings.Repeat("x", i) + ": {type: string" + text + "}\n")
		}
		return b.String()
	}
	// The spec itself does not count.
	for _, tt := range []struct {
		n, described int
		want         string
	}{{10, 10, "fine"}, {10, 8, "fine"}, {10, 7, "info"}, {10, 5, "info"}, {10, 4, "warning"}, {10, 0, "warning"}, {1, 0, "warning"}, {1, 1, "fine"}, {0, 0, ""}} {
		if got := said(t, schemaDefinition(t, "Shop", fields(tt.n, tt.described)), "crd-described"); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%d of %d: got %q, want %s", tt.described, tt.n, got, tt.want)
		}
	}
	inside := "size: {type: string, description: A size.}\ntolerations: {type: array, description: Taints., items: {type: object, properties: {key: {type: string}, operator: {type: string}, effect: {type: string}, value: {type: string}, tolerationSeconds: {type: integer}}}}\nname: {type: string, description: A name.}\nport: {type: string, description: A port.}\n"
	if got := said(t, schemaDefinition(t, "Shop", inside), "crd-described"); got != "fine" {
		t.Errorf("fields of a type of Kubernetes count: %q", got)
	}
}

func TestFieldNames(t *testing.T) {
	for spec, want := range map[string]string{
		"fooBar: {type: string}":                                      "fine",
		"foo_bar: {type: string}":                                     "info spec.foo_bar",
		"FooBar: {type: string}":                                      "info spec.FooBar",
		"foo-bar: {type: string}":                                     "info spec.foo-bar",
		"\"-Xmx\": {type: string}":                                    "fine",
		"$ref: {type: string}":                                        "fine",
		"x-kubernetes-things: {type: string}":                         "fine",
		"hosts: {type: object, additionalProperties: {type: string}}": "fine",
		"a: {type: array, items: {type: object, properties: {b_c: {type: string}}}}": "info spec.a[].b_c",
	} {
		if got := said(t, schemaDefinition(t, "Shop", spec+"\n"), "crd-field-names"); got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

// TestPreferred takes the most stable version that is served, and not the first.
func TestPreferred(t *testing.T) {
	d := checktest.Read(t, operator.Find, definitionText).Definitions[0]
	if got := preferred(d).Name; got != "v1" {
		t.Errorf("got %s, want v1", got)
	}
	d.CRD.Spec.Versions[1].Served = false
	if got := preferred(d).Name; got != "v1beta1" {
		t.Errorf("v1 is not served: got %s, want v1beta1", got)
	}
	d.CRD.Spec.Versions[0].Served = false
	if got := preferred(d); got != nil {
		t.Errorf("none is served: got %s", got.Name)
	}
	// Of a definition that serves nothing no rule falls over.
	d.Check(Rules())
}
