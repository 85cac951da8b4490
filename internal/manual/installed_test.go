package manual_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		crd  string
		want manual.InstallerLabels
	}{
		"none": {`{metadata: {name: x}}`, manual.InstallerLabels{}},
		"the Operator Lifecycle Manager": {
			`{metadata: {annotations: {operatorframework.io/installed-alongside-2: ops/b.v2, operatorframework.io/installed-alongside-1: ops/a.v1, operatorframework.io/installed-alongside-3: odd, operatorframework.io/installed-alongside-4: a/b/c}}}`,
			manual.InstallerLabels{ServiceVersions: []object.Ref{
				{Group: "operators.coreos.com", Kind: "ClusterServiceVersion", Namespace: "ops", Name: "a.v1"},
				{Group: "operators.coreos.com", Kind: "ClusterServiceVersion", Namespace: "ops", Name: "b.v2"},
			}},
		},
		"Helm": {
			`{metadata: {annotations: {meta.helm.sh/release-name: cm, meta.helm.sh/release-namespace: ops}, labels: {helm.sh/chart: cm-1.2.3, app.kubernetes.io/name: cert-manager, app.kubernetes.io/instance: cm, app.kubernetes.io/version: v1}}}`,
			manual.InstallerLabels{Release: "cm", ReleaseNamespace: "ops", Chart: "cm-1.2.3", Name: "cert-manager", Instance: "cm", Version: "v1"},
		},
		"a webhook": {
			`{spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: ops, name: hook, path: /convert}}}}}}`,
			manual.InstallerLabels{Webhook: object.Ref{Kind: "Service", Namespace: "ops", Name: "hook"}},
		},
		"a webhook of old": {
			`{spec: {conversion: {webhookClientConfig: {service: {namespace: ops, name: hook}}}}}`,
			manual.InstallerLabels{Webhook: object.Ref{Kind: "Service", Namespace: "ops", Name: "hook"}},
		},
		"what is of no type that is wanted": {`{metadata: {annotations: {meta.helm.sh/release-name: 1}, labels: []}, spec: text}`, manual.InstallerLabels{}},
	} {
		if got := manual.MarksOf(manual.NewDefinition(fields(t, c.crd))); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestPublishedExamples(t *testing.T) {
	d, r := define(t, spec(t, `{type: object, required: [size], properties: {size: {type: integer}}}`))
	for examples, want := range map[string]string{
		``: "",
		`[{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "their"}, "spec": {"size": 3}, "status": {}}]`:                "name: a\nspec:\n  size: 3",
		`[{"apiVersion": "example.com/v1", "kind": "Other"}, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "b"}, "spec": {"size": 1}}]`: "name: b",
		`[{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"size": "3"}}]`:                                                  "note: spec.size is of type string",
		`[{"apiVersion": "example.com/v1", "kind": "Thing", "spec": {}}, {"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"size": 1, "x": 1}}]`:        "note: spec.x is not in the schema",
		`[{"apiVersion": "example.com/v0", "kind": "Thing", "spec": {"size": 3}}]`:                                                                               "",
		`[{"apiVersion": "other.com/v1", "kind": "Thing", "spec": {"size": 3}}]`:                                                                                 "",
		`[1, null, "x"]`: "",
		`{`:              "note: are not JSON",
	} {
		csv := map[string]any{"metadata": map[string]any{"name": "thing.v1", "annotations": map[string]any{"alm-examples": examples}}}
		got, notes := manual.Published(csv, d, r)
		if note, ok := strings.CutPrefix(want, "note: "); ok {
			if got.Object != nil || !strings.Contains(strings.Join(notes, "\n"), note) {
				t.Errorf("%s: notes %q, want %q", examples, notes, note)
			}
			continue
		}
		if !strings.Contains(got.Manifest, want) || want == "" && got.Manifest != "" || strings.Contains(got.Manifest, "namespace") || strings.Contains(got.Manifest, "status") {
			t.Errorf("%s: got %q, want %q", examples, got.Manifest, want)
		}
	}
}

func TestServiceVersions(t *testing.T) {
	csv := fields(t, `{spec: {version: 1.2.3, customresourcedefinitions: {owned: [{name: a.x}, {name: b.x}], required: [{name: c.x}]}, install: {spec: {deployments: [{name: one}, {}]}}}}`)
	if !manual.Owns(csv, "b.x") || manual.Owns(csv, "c.x") || manual.Owns(nil, "") {
		t.Error("owns")
	}
	if got := manual.Deployments(csv); !reflect.DeepEqual(got, []string{"one"}) || manual.ServiceVersion(csv) != "1.2.3" {
		t.Errorf("%v, %s", got, manual.ServiceVersion(csv))
	}
}

func TestSelects(t *testing.T) {
	workload := fields(t, `{spec: {template: {metadata: {labels: {a: x, b: z}}}}}`)
	for selector, want := range map[string]bool{`{a: x}`: true, `{a: x, b: z}`: true, `{a: q}`: false, `{c: x}`: false, `{}`: false} {
		if got := manual.Selects(map[string]any{"spec": map[string]any{"selector": fields(t, selector)}}, workload); got != want {
			t.Errorf("%s: %v", selector, got)
		}
	}
}

func TestDefinition(t *testing.T) {
	d := manual.NewDefinition(fields(t, `
metadata: {name: things.example.com}
spec:
  versions:
  - {name: v1alpha1, served: false, storage: false}
  - {name: v1beta1, served: true, storage: false, deprecated: true, deprecationWarning: use v1}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {description: A thing.}}
    additionalPrinterColumns:
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    - {name: Why, type: string, jsonPath: .status.why, priority: 1, description: "What it is. And more."}
status: {storedVersions: [v1beta1, v1]}
`))
	r := d.Resource(object.Resource{Kind: "Thing", Version: "v1"})
	want := []manual.Version{{Name: "v1alpha1"}, {Name: "v1beta1", Served: true, WasStored: true, Deprecated: true, Warning: "use v1"}, {Name: "v1", Served: true, Stored: true}}
	if !reflect.DeepEqual(r.Versions, want) || r.Description != "A thing." || r.Definition != "things.example.com" {
		t.Errorf("got %+v", r)
	}
	columns := []manual.Column{{Name: "Age", Type: "date", Path: ".metadata.creationTimestamp"}, {Name: "Why", Type: "string", Path: ".status.why", Description: "What it is.", Wide: true}}
	if got := d.Columns("v1"); !reflect.DeepEqual(got, columns) {
		t.Errorf("columns %+v", got)
	}
	if got := d.Served(); !reflect.DeepEqual(got, []string{"v1beta1", "v1"}) {
		t.Errorf("served %v", got)
	}
	old := manual.NewDefinition(fields(t, `{spec: {version: v1, validation: {openAPIV3Schema: {description: Old.}}, additionalPrinterColumns: [{name: A, type: string, JSONPath: .a}]}}`))
	if got := old.Columns("v1"); len(got) != 1 || got[0].Path != ".a" || old.Schema("v1")["description"] != "Old." {
		t.Errorf("of v1beta1: %v, %v", got, old.Schema("v1"))
	}
	var none manual.Definition
	if none.Known() || none.Schema("v1") != nil || len(none.Columns("v1")) > 0 {
		t.Error("nothing says something")
	}
}
