package catalog_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

func csvFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/csv/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParseCSV holds the entry that is made against the one in testdata; -update writes it.
func TestParseCSV(t *testing.T) {
	im, err := catalog.ParseCSV(csvFile(t, "widget.csv.yaml"), csvFile(t, "widgets.crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := rewrite(t, im.Entry)
	const file = "testdata/csv/widget-operator.yaml"
	for _, w := range im.Warnings {
		got = append(got, ("# warning: " + w + "\n")...)
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := csvFile(t, "widget-operator.yaml"); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(im.Files) > 0 {
		t.Errorf("files: %v", im.Files)
	}
}

// TestCSVLost: what is not carried over is told, and nothing is told that is carried over.
func TestCSVLost(t *testing.T) {
	text := string(csvFile(t, "widget.csv.yaml"))
	for name, c := range map[string]struct {
		old, new string
		want     string
		inline   string
	}{
		"the definition":      {"", "", "the CRD of Widget.example.com is missing", ""},
		"webhook":             {"", "", "the webhook vwidget.example.com (ValidatingAdmissionWebhook) is not converted", ""},
		"API service":         {"", "", "the API service Metric.metrics.example.com v1 is not converted", ""},
		"order":               {"", "", "the versions that it replaces or skips are not converted: upgrades follow the order of", ""},
		"condition":           {"", "", "OPERATOR_CONDITION_NAME", ""},
		"example of others":   {"", "", "the example is a Gadget.example.com, which the version does not provide", ""},
		"example of no name":  {"", "", "the example, a Widget.example.com, has no name", ""},
		"image":               {"", "", `the image "not an image" is skipped`, ""},
		"part":                {"", "", `the part "Mystery" of Widget.example.com is skipped`, ""},
		"namespaces":          {"", "", "its support for single namespaces (installModes)", "olm.targetNamespaces: \"\"\n"},
		"own namespace":       {"{type: AllNamespaces, supported: true}", "{type: AllNamespaces, supported: false}", "it cannot watch all namespaces (installModes): it is configured to watch its own, widgets", "olm.targetNamespaces: widgets\n"},
		"no list of examples": {"alm-examples: |-\n      [", "alm-examples: |-\n      {[", "the annotation alm-examples is not a list", ""},
		"strategy":            {"strategy: deployment", "strategy: magic", `the install strategy is "magic"`, ""},
		"deployment":          {"selector: {matchLabels: {app: widget}}", "minReadySeconds: 1", `the deployment "widget-operator" is skipped`, "kind: ClusterRole\n"},
		"Kubernetes":          {"minKubeVersion: 1.25.0", "minKubeVersion: lots", `minKubeVersion is "lots"`, ""},
		"native":              {"maturity: stable", "nativeAPIs: [{group: apps, version: v1, kind: Deployment}]", "its requirement of Deployment.apps is not converted", ""},
	} {
		im, err := catalog.ParseCSV([]byte(strings.Replace(text, c.old, c.new, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(strings.Join(im.Warnings, "\n"), c.want) {
			t.Errorf("%s: %q is not told:\n%s", name, c.want, strings.Join(im.Warnings, "\n"))
		}
		if !strings.Contains(im.Entry.Versions[0].Source.Inline, c.inline) {
			t.Errorf("%s: %q is not in\n%s", name, c.inline, im.Entry.Versions[0].Source.Inline)
		}
	}
}

// TestCSVRefused: what makes no entry is refused, and said to be so.
func TestCSVRefused(t *testing.T) {
	text := string(csvFile(t, "widget.csv.yaml"))
	for name, c := range map[string]struct{ old, new, want string }{
		"kind":    {"kind: ClusterServiceVersion", "kind: Subscription", "kind ClusterServiceVersion"},
		"version": {"version: 1.2.3\n", "version: one\n", `spec.version is "one"`},
		"none":    {"version: 1.2.3\n", "", "it has no spec.version"},
		"idle":    {"      deployments:\n", "      others:\n", "it has no deployments"},
		"second":  {"apiVersion: op", "{}\n---\napiVersion: op", "expected one document, got a second one"},
		"name":    {"name: widget-operator.v1.2.3", "name: Widget_Operator.v1.2.3", "metadata.name is"},
		"YAML":    {"spec:\n", "spec: [\n", "not YAML"},
		"types":   {"displayName: Widget Operator", "displayName: [a]", "cannot unmarshal"},
		"aliases": {"provider: {name: Example}", "provider: &a {name: Example}\n  other: *a", "aliases, and content nested more than 100 deep, are not read"},
	} {
		_, err := catalog.ParseCSV([]byte(strings.Replace(text, c.old, c.new, 1)))
		if _, ok := errors.AsType[*catalog.InvalidError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, manifest := range map[string]string{"no object": "a: 1", "a list": "[1]", "binary": "{apiVersion: v1, kind: A, data: !!binary aGk=}", "alias": "{apiVersion: v1, kind: A, a: &a [1], b: *a}"} {
		if _, err := catalog.ParseCSV([]byte(text), []byte(manifest)); err == nil {
			t.Errorf("the manifest with %s was taken", name)
		}
	}
}

// TestCSVLarge: manifests that are large stand in a file of their own, which has its sum.
func TestCSVLarge(t *testing.T) {
	large := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {a: " + strings.Repeat("x", 300<<10) + "}\n"
	im, err := catalog.ParseCSV(csvFile(t, "widget.csv.yaml"), []byte(large))
	if err != nil {
		t.Fatal(err)
	}
	source := im.Entry.Versions[0].Source
	if len(source.Manifests) != 1 || source.Inline != "" || source.Manifests[0].Path != "widget-operator/1.2.3.yaml" || len(im.Files) != 1 {
		t.Fatalf("the source is %+v", source.Manifests)
	}
	folder := t.TempDir()
	if _, err := catalog.Add(folder, im.Entry, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder+"/widget-operator", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"", "#"} {
		if err := os.WriteFile(folder+"/widget-operator/1.2.3.yaml", append(im.Files["widget-operator/1.2.3.yaml"], change...), 0o644); err != nil {
			t.Fatal(err)
		}
		c, problems, err := catalog.Load(os.DirFS(folder), "mine")
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		wrong := 0
		for _, p := range c.Check() {
			if !p.Warning {
				wrong++
			}
		}
		if (wrong == 1) != (change != "") {
			t.Errorf("with %q at its end: %v", change, c.Check())
		}
	}
}

// FuzzCSV: no text makes it panic, and what it makes is an entry.
func FuzzCSV(f *testing.F) {
	f.Add(csvFile(f, "widget.csv.yaml"), csvFile(f, "widgets.crd.yaml"))
	f.Fuzz(func(t *testing.T, csv, manifest []byte) {
		im, err := catalog.ParseCSV(csv, manifest)
		if err != nil {
			if _, ok := errors.AsType[*catalog.InvalidError](err); !ok {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		text, err := im.Entry.YAML()
		var problems []strict.Problem
		if err == nil {
			_, problems = catalog.Parse(im.Entry.Name, text)
		}
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", err, problems)
		}
	})
}
