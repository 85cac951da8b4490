package chart

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helm "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func load(t *testing.T, name string) *Chart {
	t.Helper()
	var files []*archive.BufferedFile
	dir := filepath.Join("testdata", name)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files = append(files, &archive.BufferedFile{Name: filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := pack("chart", files)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(data, name, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func options() Options {
	return Options{Release: "shop", Namespace: "store", Kubernetes: "v1.34.2", Labels: map[string]string{"sysop.dev/run": "r1"}, Annotations: map[string]string{"note": "n"}}
}

func rendered(t *testing.T, c *Chart, opts Options) *Rendered {
	t.Helper()
	r, err := Render(t.Context(), c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func refs(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, o := range objects {
		all = append(all, object.RefOf(o).String())
	}
	return all
}

func hookRefs(hooks []Hook) []string {
	var all []string
	for _, h := range hooks {
		all = append(all, object.RefOf(h.Object).String())
	}
	return all
}

func equal(t *testing.T, name string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", name, got, want)
	}
}

// dryRun has Helm itself render a chart, with the post-renderer.
func dryRun(t *testing.T, c *Chart, opts Options, planned *Rendered) (*release.Release, error) {
	t.Helper()
	caps, err := Capabilities(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	cfg := action.NewConfiguration()
	cfg.CustomTemplateFuncs = EngineFuncs(false)
	i := action.NewInstall(cfg)
	i.DryRunStrategy = action.DryRunClient
	i.ReleaseName, i.Namespace = opts.Release, opts.Namespace
	i.KubeVersion = &caps.KubeVersion
	i.APIVersions = caps.APIVersions
	i.SkipSchemaValidation = true
	if planned != nil {
		i.PostRenderer = NewPostRenderer(c, opts, planned)
	}
	rel, err := i.Run(c.Copy(), copyValues(opts.Values))
	if err != nil {
		return nil, err
	}
	return rel.(*release.Release), nil
}

func TestRenderAgreesWithHelm(t *testing.T) {
	tricky, err := FromManifests("tricky", "1.0.0", trickyObjects(t))
	if err != nil {
		t.Fatal(err)
	}
	charts := []*Chart{tricky}
	for _, name := range []string{"plain", "definitions", "hooks", "parent", "lookup", "schema"} {
		charts = append(charts, load(t, name))
	}
	for _, c := range charts {
		t.Run(c.Name(), func(t *testing.T) {
			opts := options()
			opts.ImageRegistry = "mirror.test"
			r := rendered(t, c, opts)
			rel, err := dryRun(t, c, opts, r)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := readFile("manifest", rel.Manifest, growth())
			if err != nil {
				t.Fatal(err)
			}
			if len(docs) != len(r.Objects) {
				t.Fatalf("Helm has %d objects, the plan %d", len(docs), len(r.Objects))
			}
			for i, d := range docs {
				same(t, d.object, r.Objects[i])
			}
			hooks := map[object.Ref]*unstructured.Unstructured{}
			for _, h := range slices.Concat(r.Hooks, r.Tests) {
				hooks[object.RefOf(h.Object)] = h.Object
			}
			if len(rel.Hooks) != len(hooks) {
				t.Errorf("Helm has %d hooks, the plan %d", len(rel.Hooks), len(hooks))
			}
			for _, h := range rel.Hooks {
				docs, err := readFile("hook", h.Manifest, growth())
				if err != nil || len(docs) != 1 {
					t.Fatal(docs, err)
				}
				same(t, docs[0].object, hooks[object.RefOf(docs[0].object)])
			}
			if size, err := recordSize(rel); err != nil || max(size-r.Record, r.Record-size) > 300+size/50 {
				t.Errorf("the record has %d bytes, %d were planned (%v)", size, r.Record, err)
			}
			if rel.Info.Notes != r.Notes {
				t.Errorf("notes: Helm has %q, the plan %q", rel.Info.Notes, r.Notes)
			}
			if strings.Contains(rel.Manifest, filenameAnnotation) {
				t.Error("the annotation of the post-renderer is left in the manifest")
			}
			// Without a post-renderer, Helm's text must mean the same objects (and the
			// parted ones besides): the instrumented templates write what the plain ones do.
			bare, err := dryRun(t, c, opts, nil)
			if err != nil {
				t.Fatal(err)
			}
			docs, err = readFile("manifest", bare.Manifest, growth())
			if err != nil {
				t.Fatal(err)
			}
			plain := opts
			plain.ImageRegistry, plain.Labels, plain.Annotations = "", nil, nil
			p, err := part(docs, nil, Options{Namespace: opts.Namespace, Bounds: DefaultBounds})
			if err != nil {
				t.Fatal(err)
			}
			q := rendered(t, c, plain)
			if len(p.out.Objects) != len(q.Objects) {
				t.Fatalf("Helm writes %d objects, the plan has %d", len(p.out.Objects), len(q.Objects))
			}
			for i, o := range p.out.Objects {
				same(t, o, q.Objects[i])
			}
		})
	}
}

func same(t *testing.T, got, want *unstructured.Unstructured) {
	t.Helper()
	if want == nil {
		t.Fatalf("%s is not planned", object.RefOf(got))
	}
	a, errA := yaml.Marshal(got.Object)
	b, errB := yaml.Marshal(want.Object)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("Helm has\n%s\nthe plan has\n%s", a, b)
	}
}

func TestRenderPlain(t *testing.T) {
	r := rendered(t, load(t, "plain"), options())
	equal(t, "objects", refs(r.Objects), []string{
		"ServiceAccount/store/shop", "ConfigMap/store/shop-one", "ConfigMap/store/shop-two",
		"ClusterRole.rbac.authorization.k8s.io/shop", "Service/elsewhere/shop", "Deployment.apps/store/shop",
	})
	equal(t, "images", r.Images, []string{"busybox", "quay.io/shop/web:1.0"})
	data, _, _ := unstructured.NestedStringMap(r.Objects[1].Object, "data")
	want := map[string]string{"braces": "{{ kept }}", "text": "line 0\nline 1\nline 2\n", "inner": "<0><1>store", "answer": "yes"}
	for k, v := range want {
		if data[k] != v {
			t.Errorf("data.%s is %q, want %q", k, data[k], v)
		}
	}
	if l := r.Objects[1].GetLabels(); l["app"] != "shop" || l["sysop.dev/run"] != "r1" {
		t.Errorf("labels are %v", l)
	}
	if r.Notes != "Thank you for shop.\n" {
		t.Errorf("notes are %q", r.Notes)
	}
	if r.Record < 500 || r.Record > 20000 {
		t.Errorf("the record has %d bytes", r.Record)
	}
}

func TestRenderDefinitions(t *testing.T) {
	c := load(t, "definitions")
	r := rendered(t, c, options())
	equal(t, "definitions", refs(r.Definitions), []string{
		"CustomResourceDefinition.apiextensions.k8s.io/gadgets.example.com", "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com",
	})
	equal(t, "namespaces", refs(r.Namespaces), []string{"Namespace/more"})
	equal(t, "objects", refs(r.Objects), []string{"Secret/more/s", "Gadget.example.com/one", "Widget.example.com/store/one"})
	caps, err := Capabilities(c, options())
	if err != nil {
		t.Fatal(err)
	}
	if !caps.APIVersions.Has("example.com/v1/Gadget") || caps.APIVersions.Has("example.com/v1alpha1") || caps.KubeVersion.Version != "v1.34.2" {
		t.Errorf("capabilities are %v", caps)
	}
	if common.DefaultCapabilities.APIVersions.Has("example.com/v1/Gadget") {
		t.Error("Helm's defaults were changed")
	}
	// A definition that is not known leaves the question open; who knows is asked.
	opts := options()
	opts.Values = map[string]any{"without": true}
	r = rendered(t, c, opts)
	if got := refs(r.Objects)[2]; got != "Widget.example.com/one" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "use.yaml, document 2") {
		t.Errorf("got %s, %q", got, r.Warnings)
	}
}

func TestRenderHooks(t *testing.T) {
	r := rendered(t, load(t, "hooks"), options())
	equal(t, "objects", refs(r.Objects), []string{"ServiceAccount/store/migrate"})
	equal(t, "hooks", hookRefs(r.Hooks), []string{"ServiceAccount/store/migrate", "Job.batch/store/migrate"})
	equal(t, "tests", hookRefs(r.Tests), []string{"Pod/store/try"})
	job := r.Hooks[1]
	equal(t, "events", job.Events, []string{"pre-install", "pre-upgrade"})
	equal(t, "deletes", job.Deletes, []string{"before-hook-creation", "hook-succeeded"})
	if job.Weight != 5 || len(r.Images) != 1 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "crd-install") {
		t.Errorf("weight %d, images %q, warnings %q", job.Weight, r.Images, r.Warnings)
	}
}

func TestRenderSubcharts(t *testing.T) {
	c := load(t, "parent")
	for _, tt := range []struct {
		name   string
		values map[string]any
		want   []string
	}{
		{"defaults", nil, []string{"ConfigMap/store/child", "ConfigMap/store/parent"}},
		{"tag", map[string]any{"tags": map[string]any{"extra": true}}, []string{"ConfigMap/store/child", "ConfigMap/store/second", "ConfigMap/store/parent"}},
		{"again", nil, []string{"ConfigMap/store/child", "ConfigMap/store/parent"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := options()
			opts.Values = tt.values
			r := rendered(t, c, opts)
			equal(t, "objects", refs(r.Objects), tt.want)
			if (len(r.Definitions) == 1) != (tt.values != nil) {
				t.Errorf("definitions of subcharts are %v", refs(r.Definitions))
			}
		})
	}
	if got, _, _ := unstructured.NestedString(rendered(t, c, options()).Objects[1].Object, "data", "color"); got != "blue" {
		t.Errorf("the imported value is %q", got)
	}
}

func TestSchemaFetchesNothing(t *testing.T) {
	c := load(t, "schema")
	r := rendered(t, c, options())
	equal(t, "warnings", r.Warnings, []string{
		"schema/values.schema.json refers to file:///etc/hostname, which is not fetched: values are not checked against it",
		"schema/values.schema.json refers to http://127.0.0.1:9/schema.json, which is not fetched: values are not checked against it",
		"schema/values.schema.json refers to https://127.0.0.1:9/hidden.json, which is not fetched: values are not checked against it",
	})
	opts := options()
	opts.Values = map[string]any{"size": 10}
	if _, err := Render(t.Context(), c, opts); err == nil || !strings.Contains(err.Error(), "/size") {
		t.Errorf("a value that is against the schema gives %v", err)
	}
	if !bytes.Contains(c.Helm.Schema, []byte("127.0.0.1")) {
		t.Error("the schema of the chart was changed")
	}
}

func TestLookupFindsNothing(t *testing.T) {
	r := rendered(t, load(t, "lookup"), options())
	data, _, _ := unstructured.NestedStringMap(r.Objects[0].Object, "data")
	if data["found"] != "0" || data["host"] != "" || data["random"] != "8" {
		t.Errorf("data is %v", data)
	}
}

func TestPostRendererRefusesOtherObjects(t *testing.T) {
	c := load(t, "random")
	r := rendered(t, c, options())
	_, err := dryRun(t, c, options(), r)
	if err == nil || !strings.Contains(err.Error(), "it lacks "+refs(r.Objects)[0]) || !strings.Contains(err.Error(), "not planned") {
		t.Errorf("other objects give %v", err)
	}
}

func TestPostRendererSetsValues(t *testing.T) {
	c, opts := load(t, "plain"), options()
	r := rendered(t, c, opts)
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "store", Name: "shop"}
	opts.Set = map[object.Ref][]FieldValue{ref: {
		{Field: "spec.template.spec.containers[0].image", Value: "late:1"},
		{Field: `metadata.annotations["a.b/c"]`, Value: "x"},
		{Field: "spec.strategy.type", Value: "Recreate"},
		{Field: "spec.template.spec.containers[0].envFrom[0].secretRef.name", Value: "first"},
		{Field: "spec.template.spec.containers[0].envFrom[1].configMapRef.name", Value: "second"},
	}}
	rel, err := dryRun(t, c, opts, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"image: late:1", "a.b/c: x", "type: Recreate", "- secretRef:\n            name: first\n", "- configMapRef:\n            name: second\n"} {
		if !strings.Contains(rel.Manifest, want) {
			t.Errorf("%q is not in the manifest", want)
		}
	}
	for path, want := range map[string]string{
		"spec.template.spec.containers[7].image": "[7] is beyond the end",
		"spec.template.spec.containers[].image":  "expected an index",
		"spec.template.spec.containers.image":    "image needs an object",
		"spec.replicas.x":                        "x needs an object",
		"spec.*.x":                               "name the field",
	} {
		opts.Set = map[object.Ref][]FieldValue{ref: {{Field: path, Value: int64(1)}}}
		if _, err := dryRun(t, c, opts, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", path, err, want)
		}
	}
	opts.Set = map[object.Ref][]FieldValue{{Kind: "Pod", Name: "no"}: nil}
	if _, err := Render(t.Context(), c, opts); err == nil || !strings.Contains(err.Error(), "Pod/no") {
		t.Errorf("a value for nobody gives %v", err)
	}
}

func TestRewriteImage(t *testing.T) {
	for image, want := range map[string]string{
		"nginx":                     "m.test/library/nginx",
		"nginx:1@sha256:ab":         "m.test/library/nginx:1@sha256:ab",
		"shop/web:2":                "m.test/shop/web:2",
		"docker.io/nginx":           "m.test/library/nginx",
		"docker.io/shop/web":        "m.test/shop/web",
		"quay.io/a/b@sha256:cd":     "m.test/a/b@sha256:cd",
		"localhost/a":               "m.test/a",
		"registry.test:5000/a/b:1":  "m.test/a/b:1",
		"registry.k8s.io/pause:3.9": "m.test/pause:3.9",
	} {
		if got := RewriteImage(image, "m.test/"); got != want {
			t.Errorf("%s is rewritten to %s, want %s", image, got, want)
		}
	}
}

func TestRenderUpgrade(t *testing.T) {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {v: '{{ .Release.IsUpgrade }} {{ .Release.IsInstall }} {{ .Release.Revision }} {{ .Capabilities.KubeVersion.Minor }}'}\n"
	c, err := Load(chartOf(t, map[string]string{"templates/t.yaml": text, "Chart.yaml": meta + "kubeVersion: '>=1.30.0-0'\n"}), "", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	opts := options()
	opts.Upgrade, opts.Revision = true, 7
	if got, _, _ := unstructured.NestedString(rendered(t, c, opts).Objects[0].Object, "data", "v"); got != "true false 7 34" {
		t.Errorf("the template was told %q", got)
	}
	for change, want := range map[string]func(*Options){
		"requires Kubernetes >=1.30.0-0": func(o *Options) { o.Kubernetes = "v1.29.9" },
		`version of Kubernetes "new"`:    func(o *Options) { o.Kubernetes = "new" },
		`name of the release "Not One"`:  func(o *Options) { o.Release = "Not One" },
	} {
		opts := options()
		want(&opts)
		if _, err := Render(t.Context(), c, opts); err == nil || !strings.Contains(err.Error(), change) {
			t.Errorf("got %v, want %q", err, change)
		}
	}
}

// TestRecordKeepsTheChart renders the chart as Helm reads it back from a release's record.
func TestRecordKeepsTheChart(t *testing.T) {
	objects := trickyObjects(t)
	c, err := FromManifests("tricky", "1.0.0", objects)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c.Helm)
	if err != nil {
		t.Fatal(err)
	}
	var stored helm.Chart
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	checkVerbatim(t, &Chart{Helm: &stored}, objects)
}

func TestRenderLeavesTheChartAlone(t *testing.T) {
	for _, name := range []string{"parent", "plain", "schema", "definitions"} {
		c := load(t, name)
		before, err := json.Marshal(c.Helm)
		if err != nil {
			t.Fatal(err)
		}
		subs := len(c.Helm.Dependencies())
		opts := options()
		opts.Values = map[string]any{"tags": map[string]any{"extra": true}, "size": int64(4)}
		values := copyValues(opts.Values)
		first := rendered(t, c, opts)
		second := rendered(t, c, opts)
		after, err := json.Marshal(c.Helm)
		if err != nil || !bytes.Equal(before, after) || len(c.Helm.Dependencies()) != subs {
			t.Errorf("%s was changed (%v)", name, err)
		}
		if !reflect.DeepEqual(opts.Values, values) {
			t.Errorf("the values are %v now", opts.Values)
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s is rendered in two ways", name)
		}
	}
}

func TestLoadKeepsBytes(t *testing.T) {
	c := load(t, "parent")
	data := c.Save()
	again, err := Load(data, "x", Limits{})
	if err != nil || !bytes.Equal(again.Save(), data) || again.Digest != c.Digest || !strings.HasPrefix(c.Digest, "sha256:") {
		t.Errorf("saved and loaded, the digest is %v, was %s (%v)", again, c.Digest, err)
	}
	equal(t, "objects", refs(rendered(t, again, options()).Objects), refs(rendered(t, c, options()).Objects))
}
