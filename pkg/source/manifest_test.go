package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// written makes files below a folder, which it returns.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %}\n"
	list      = "# two of them\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: one\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: two\n"
)

func configMapOf(name string) string { return strings.ReplaceAll(configMap, "%", name) }

// builtInKinds are what a server without custom resources has.
func builtInKinds() *object.Kinds { return object.NewKinds(builtIn()) }

func batchOf(t *testing.T, namespace string, names ...string) *Batch {
	t.Helper()
	docs, err := ReadManifests(names, true, strings.NewReader(configMapOf("standard")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBatch(docs, builtInKinds(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestManifests: every object has its place, in the order of the files.
func TestManifests(t *testing.T) {
	dir := written(t, map[string]string{
		"b.yaml":       list,
		"a.json":       `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "namespace": "dropped"}}`,
		"c/d.yml":      "---\n# nothing\n---\n" + configMapOf("three") + "---\n" + strings.ReplaceAll(configMapOf("four"), "}", ", namespace: other}"),
		"c/readme.txt": "no manifest",
	})
	var got []string
	for _, m := range batchOf(t, "mine", dir, "-").Manifests {
		got = append(got, strings.TrimPrefix(m.Origin, dir+string(filepath.Separator))+" "+m.Ref.String())
	}
	want := []string{
		"a.json:1 Namespace/shop", "b.yaml:5 Secret/mine/one", "b.yaml:9 Deployment.apps/mine/two",
		"c/d.yml:4 ConfigMap/mine/three", "c/d.yml:8 ConfigMap/other/four", "standard input:1 ConfigMap/mine/standard",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestManifestsOfAFolder: without -R what is below is not read.
func TestManifestsOfAFolder(t *testing.T) {
	dir := written(t, map[string]string{"a.yaml": configMapOf("a"), "below/b.yaml": configMapOf("b")})
	docs, err := ReadManifests([]string{dir}, false, nil)
	if err != nil || len(docs) != 1 {
		t.Errorf("%d documents, %v; want the one of a.yaml", len(docs), err)
	}
}

// TestBatchDefines: what the batch defines is a kind of it, in its scope.
func TestBatchDefines(t *testing.T) {
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.org}\nspec: {group: example.org, scope: Cluster, names: {kind: Shop, plural: shops}, versions: [{name: v1, served: true, storage: true}]}\n"
	dir := written(t, map[string]string{
		"a.yaml": "apiVersion: example.org/v1\nkind: Shop\nmetadata: {name: one, namespace: dropped}\n---\n" + crd + "---\napiVersion: other.org/v1\nkind: Other\nmetadata: {name: two}\n",
	})
	b := batchOf(t, "mine", dir)
	shop, other := b.Manifests[0], b.Manifests[2]
	if gk := (schema.GroupKind{Group: "example.org", Kind: "Shop"}); !b.Defines(gk) || shop.Ref.Namespace != "" || !shop.Served || shop.Resource.Plural != "shops" {
		t.Errorf("Shop: defined %v, %+v", b.Defines(gk), shop)
	}
	if other.Served || other.Ref.Namespace != "" {
		t.Errorf("Other is served by nobody: %+v", other)
	}
	if !b.Kinds.NotServed(other.Ref.GroupKind()) {
		t.Error("that nobody serves Other was forgotten")
	}
}

// TestGeneratedNames: each has one of its own, the same every time.
func TestGeneratedNames(t *testing.T) {
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: run-}\n"
	dir := written(t, map[string]string{"a.yaml": job + "---\n" + job})
	b := batchOf(t, "mine", dir)
	if a, b := b.Manifests[0].Ref.Name, b.Manifests[1].Ref.Name; a != "run-00000" || b != "run-00001" {
		t.Errorf("names %s and %s", a, b)
	}
}

// TestWrongManifests: what cannot be a batch says where, and what to do.
func TestWrongManifests(t *testing.T) {
	for name, test := range map[string]struct {
		files      map[string]string
		file       string // in the folder; all of it where it is empty
		want, hint string
	}{
		"twice":             {map[string]string{"a.yaml": configMapOf("a"), "b.yaml": "\n\n" + configMapOf("a")}, "", "b.yaml:3: ConfigMap/mine/a occurs a second time (first at ", ""},
		"no kind":           {map[string]string{"a.yaml": "metadata: {name: a}"}, "", "a.yaml:1: document 1: no apiVersion and kind", ""},
		"no name":           {map[string]string{"a.yaml": list + "---\napiVersion: v1\nkind: Pod\nspec: {}\n"}, "", "a.yaml:14: document 2: Pod without metadata.name", ""},
		"no text":           {map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: on}\n"}, "", "metadata.name is not a string: put it in quotes", ""},
		"not YAML":          {map[string]string{"a.yaml": configMapOf("a") + "---\nkind: [\n"}, "", "a.yaml:", ""},
		"a template":        {map[string]string{"a.yaml": "kind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n"}, "", "a.yaml:", "helm template"},
		"a templated name":  {map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"{{ .Release.Name }}-web\"\n"}, "", "the template of a name", "helm template"},
		"a kustomization":   {map[string]string{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": configMapOf("a")}, "", "a kustomization", "kubectl kustomize"},
		"that file":         {map[string]string{"kustomization.yaml": "resources: [a.yaml]"}, "kustomization.yaml", "a kustomization", "kubectl kustomize"},
		"by its kind":       {map[string]string{"k.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"}, "", "a kustomization", "kubectl kustomize"},
		"a chart":           {map[string]string{"Chart.yaml": "name: a", "templates/a.yaml": "{{ if }}"}, "", "a Helm chart", "helm template"},
		"no file":           {nil, "none.yaml", "there is no ", "-f takes files"},
		"empty":             {map[string]string{"a.yaml": "# nothing\n"}, "", "it has no object", ""},
		"an empty list":     {map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems: []\n"}, "", "there is nothing to apply", ""},
		"no such file":      {map[string]string{"a.txt": "x"}, "", "no .yaml, .yml or .json file", ""},
		"only below":        {map[string]string{"below/a.txt": "x"}, "", "no .yaml, .yml or .json file", ""},
		"a snapshot":        {map[string]string{"a.yaml": "apiVersion: sysop.dev/v1alpha1\nkind: Snapshot\nobjects: 0\n...\n"}, "", "a snapshot", "--from"},
		"a list of no item": {map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems: [7]\n"}, "", "not an object", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := written(t, test.files)
			docs, err := ReadManifests([]string{filepath.Join(dir, test.file)}, true, nil)
			if err == nil {
				_, err = NewBatch(docs, builtInKinds(), "mine")
			}
			refused, ok := errors.AsType[*ManifestError](err)
			if !ok {
				t.Fatalf("error %v, want a ManifestError", err)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(refused.Hint, test.hint) || test.hint == "" && refused.Hint != "" {
				t.Errorf("%v (hint: %s), want %s (hint: %s)", err, refused.Hint, test.want, test.hint)
			}
		})
	}
}

// TestQuotedMarks: what has marks of another program's templates and is YAML is taken.
func TestQuotedMarks(t *testing.T) {
	dir := written(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  rule: \"{{ $labels.instance }} is down\"\n"})
	if b := batchOf(t, "mine", dir); len(b.Manifests) != 1 {
		t.Errorf("%d objects", len(b.Manifests))
	}
}

// TestBatchScopes: a kind that the cluster does not serve yet is scoped as it is known to be;
// of one that nobody knows, an object is where it says.
func TestBatchScopes(t *testing.T) {
	known := BuiltInKinds().Knowing(object.Resource{Group: "cert.example", Kind: "Certificate", Namespaced: true}, object.Resource{Group: "cert.example", Kind: "ClusterIssuer"})
	docs, err := Parse("batch.yaml", strings.NewReader(`
{apiVersion: cert.example/v1, kind: Certificate, metadata: {name: a}}
---
{apiVersion: cert.example/v1, kind: ClusterIssuer, metadata: {name: b, namespace: dropped}}
---
{apiVersion: example.org/v1, kind: Gadget, metadata: {name: c}}
---
{apiVersion: example.org/v1, kind: Gadget, metadata: {name: d, namespace: there}}
`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBatch(docs, known, "shop")
	if err != nil {
		t.Fatal(err)
	}
	want := "Certificate.cert.example/shop/a ClusterIssuer.cert.example/b Gadget.example.org/c Gadget.example.org/there/d"
	var got []string
	for _, m := range b.Manifests {
		if m.Served || m.Object.GetNamespace() != m.Ref.Namespace {
			t.Errorf("%s: served %v, in namespace %q", m.Ref, m.Served, m.Object.GetNamespace())
		}
		got = append(got, m.Ref.String())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
