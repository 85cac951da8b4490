package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

var (
	definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	claimResource      = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
)

// chart writes a chart without definitions beside the entries of the catalogue.
func (s *tea) chart(name, version, template string) {
	s.t.Helper()
	archive := repository.Archive(s.t, name, map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n", "templates/all.yaml": template,
	})
	if err := os.WriteFile(filepath.Join(s.catalog, name+"-"+version+".tgz"), archive, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// entry writes an entry of the catalogue that has one version.
func (s *tea) entry(name, version, requires string) {
	s.t.Helper()
	text := fmt.Sprintf(`apiVersion: sysop.dev/v1alpha1
kind: Operator
name: %[1]s
title: %[1]s
description: For tests.
source: [https://example.com/%[1]s]
versions:
- version: %[2]s
  namespace: %[1]s
%[3]s  source:
    chart: {path: %[1]s-%[2]s.tgz, name: %[1]s, version: %[2]s}
kinds:
- {kind: %[4]s, versions: [v1]}
`, name, version, requires, strings.ToUpper(name[:1])+strings.ReplaceAll(name[1:], "-", "")+"."+s.unit+".example.com")
	if err := os.WriteFile(filepath.Join(s.catalog, name+".yaml"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// defined fails the test unless a definition is there, or is not.
func (s *tea) defined(name string, want bool) {
	s.t.Helper()
	_, err := s.client.Resource(definitionResource).Get(s.t.Context(), name+"."+s.unit+".example.com", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	if is := err == nil; is != want {
		s.t.Errorf("definition %s is there: %t, want %t", name, is, want)
	}
}

func (s *tea) system(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.file, []byte(strings.ReplaceAll(text, "UNIT", s.unit)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// What an installation requires is known from what was written when it was made: by package, by
// API and by System, whatever catalogue is at hand today.
func TestGateDependants(t *testing.T) {
	t.Parallel()
	s := newTea(t, bare.Cluster(t), "needing", "")
	saucer, kettle := "saucer-"+s.unit, "kettle-"+s.unit
	s.chart(saucer, "1.0.0", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: saucer}\n")
	s.entry(saucer, "1.0.0", "  requires:\n  - {package: "+kettle+", version: '>=1 <2'}\n")
	with := func(args ...string) []string { return append(args, "--catalog", s.catalog, "--yes") }
	for _, name := range []string{kettle, "teapot-" + s.unit, saucer} {
		s.run(with("install", name)...).succeeds(t)
	}
	s.brew()
	s.run(s.args("install")...).succeeds(t) // the kettle is there already: it stays

	gone := []string{"uninstall", kettle, "-n", kettle, "--delete-crds", "--delete-data=" + kettle, "--yes"}
	words := []string{"teapot-" + s.unit + " 1.0.0", saucer + " 1.0.0", "the System tea in tea-" + s.unit, "needs " + kettle, "nothing was written"}
	s.refused(words, gone...)
	s.defined("kettles", true)

	// The catalogue has other versions by now, which need nothing; and a later kettle.
	s.entry(saucer, "2.0.0", "")
	s.chart(saucer, "2.0.0", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: saucer}\n")
	s.entry("teapot-"+s.unit, "2.0.0", "")
	s.chart("teapot-"+s.unit, "2.0.0", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: teapot}\n")
	s.refused(words, append(gone, "--catalog", s.catalog)...)
	s.chart(kettle, "2.0.0", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kettle}\n")
	s.entry(kettle, "2.0.0", "")
	for _, file := range []string{saucer, "teapot-" + s.unit} {
		if err := os.Remove(filepath.Join(s.catalog, file+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	s.refused([]string{saucer, kettle, "<2"}, with("upgrade", kettle+"@2.0.0")...)
	s.defined("kettles", true)

	for _, name := range []string{saucer, "teapot-" + s.unit} {
		s.run("uninstall", name, "-n", name, "--yes").succeeds(t)
	}
	s.run("uninstall", "tea", "-n", "tea-"+s.unit, "--yes").succeeds(t)
	s.run(gone...).succeeds(t)
	s.defined("kettles", false)
}

// An operator that a System has no more stays while others need it.
func TestGateDropped(t *testing.T) {
	t.Parallel()
	s := newTea(t, bare.Cluster(t), "dropped", "")
	const two = "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: tea, namespace: tea-UNIT}\nspec:\n%s  apps:\n" +
		"  - name: cup\n    roots: [configmap/cup]\n    resources:\n    - {apiVersion: v1, kind: ConfigMap, metadata: {name: cup}}\n"
	s.system(fmt.Sprintf(two, "  operators: [{name: kettle-UNIT}]\n"))
	s.run(s.args("install")...).succeeds(t)
	s.run("install", "teapot-"+s.unit, "--catalog", s.catalog, "--yes").succeeds(t)
	s.system(fmt.Sprintf(two, ""))
	r := s.run(s.args("upgrade")...).succeeds(t)
	if !strings.Contains(r.stderr, "teapot-"+s.unit) {
		t.Errorf("it does not say who needs the kettle:\n%s", r.stderr)
	}
	if got := helmList(t, s.c, "kettle-"+s.unit); len(got) != 1 {
		t.Errorf("the kettle went, and the teapot needs it: %q", got)
	}
}

// Whatever takes data away asks for the same: --delete-data, and the name.
func TestGateData(t *testing.T) {
	t.Parallel()
	s := newTea(t, bare.Cluster(t), "gating", "")
	kettles := schema.GroupVersionResource{Group: s.unit + ".example.com", Version: "v1", Resource: "kettles"}
	const some = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: tea, namespace: tea-UNIT}
spec:
  operators: [{name: kettle-UNIT}]
  apps:
  - name: cup
    roots: [configmap/cup]
    resources:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: cup}}
`
	const more = some + `  - name: water
    operator: kettle-UNIT
    roots: [kettle.UNIT.example.com/water]
    resources:
    - {apiVersion: UNIT.example.com/v1, kind: Kettle, metadata: {name: water}, spec: {cups: 2}}
    - apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: water}
      spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
	there := func(want bool) {
		t.Helper()
		for _, r := range []schema.GroupVersionResource{kettles, claimResource} {
			_, err := s.client.Resource(r).Namespace("tea-"+s.unit).Get(t.Context(), "water", metav1.GetOptions{})
			if is := err == nil; is != want {
				t.Errorf("%s water is there: %t, want %t: %v", r.Resource, is, want, err)
			}
		}
	}
	words := []string{"Kettle." + s.unit + ".example.com/tea-" + s.unit + "/water", "PersistentVolumeClaim/tea-" + s.unit + "/water", "--delete-data=tea"}
	s.system(some)
	s.run(s.args("install")...).succeeds(t)
	s.system(more)
	s.run(s.args("upgrade", "--wait=false", "--force")...).succeeds(t)
	there(true)
	s.refused(words, "rollback", "tea", "1", "-n", "tea-"+s.unit, "--yes")
	s.refused(words, "rollback", "tea", "1", "-n", "tea-"+s.unit, "--yes", "--delete-data")
	s.refused(words, "uninstall", "tea", "-n", "tea-"+s.unit, "--yes")
	s.refused([]string{"expected --delete-data=tea"}, "uninstall", "tea", "-n", "tea-"+s.unit, "--yes", "--delete-data=water")
	s.system(some)
	s.refused(words, s.args("upgrade")...)
	s.refused([]string{"expected --delete-data=tea"}, s.args("upgrade", "--delete-data=cup")...)
	there(true)
	s.run(s.args("upgrade", "--delete-data=tea")...).succeeds(t)
	there(false)

	s.system(more)
	s.run(s.args("upgrade", "--wait=false", "--force")...).succeeds(t)
	s.run("rollback", "tea", "1", "-n", "tea-"+s.unit, "--yes", "--delete-data=tea").succeeds(t)
	there(false)
	s.run(s.args("upgrade", "--wait=false", "--force")...).succeeds(t)
	there(true)
	s.run("uninstall", "tea", "-n", "tea-"+s.unit, "--yes", "--delete-data=tea").succeeds(t)
	there(false)

	kettle := "kettle-" + s.unit
	s.refused([]string{"kettles." + s.unit + ".example.com", "--delete-data=" + kettle}, "uninstall", kettle, "-n", kettle, "--delete-crds", "--yes")
	s.defined("kettles", true)
	s.run("uninstall", kettle, "-n", kettle, "--delete-crds", "--delete-data="+kettle, "--yes").succeeds(t)
	s.defined("kettles", false)
}

// Who may not read is told so, in a line: it is not said that nothing is installed.
func TestGateRights(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	boss := newTea(t, c, "forbidden", "")
	kettle := "kettle-" + boss.unit
	boss.run("install", kettle, "--catalog", boss.catalog, "--yes").succeeds(t)
	kubeconfig, err := c.User("gate-stranger")
	if err != nil {
		t.Fatal(err)
	}
	s := newTea(t, c, boss.unit, kubeconfig)
	lines := func(r result) int { return strings.Count(strings.TrimSpace(r.stderr), "\n") + 1 }
	for _, args := range [][]string{
		{"history", kettle, "-n", kettle},
		{"history", kettle, "--catalog", s.catalog},
		{"uninstall", kettle, "-n", kettle, "--yes"},
		{"rollback", kettle, "-n", kettle, "--yes"},
		{"upgrade", kettle, "--catalog", s.catalog, "--yes"},
		{"install", kettle, "--catalog", s.catalog, "--yes"},
		{"uninstall", kettle, "--catalog", s.catalog, "--yes"},
	} {
		r := s.run(args...)
		s.failed(r, "may not")
		if strings.Contains(r.stderr, "not installed") || strings.Contains(r.stderr, "was installed") || strings.Contains(r.stderr, "several") {
			t.Errorf("%v says more than it knows:\n%s", args, r.stderr)
		}
		if n := lines(r); n > 6 {
			t.Errorf("%v says it in %d lines:\n%s", args, n, r.stderr)
		}
	}
	// With the releases and the journal alone, the definitions are what is missing: one line.
	if _, err := c.Apply(t.Context(), []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "gate-" + s.unit},
			"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets", "configmaps", "namespaces"}, "verbs": []any{"get", "list"}}},
		}},
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "gate-" + s.unit},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "gate-" + s.unit},
			"subjects": []any{map[string]any{"kind": "User", "name": "gate-stranger", "apiGroup": "rbac.authorization.k8s.io"}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	r := s.run("uninstall", kettle, "-n", kettle, "--dry-run=client")
	s.failed(r, "customresourcedefinitions.apiextensions.k8s.io")
	if n := strings.Count(r.stderr, "you may not read customresourcedefinitions.apiextensions.k8s.io"); n != 1 {
		t.Errorf("the cause is said %d times:\n%s", n, r.stderr)
	}
}

// Flux's labels count also where it runs in another cluster, and serves nothing here.
func TestGateFlux(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	s := newShop(t, c)
	s.patch("apps", "v1", "deployments", "web", `{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"web","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}}`)
	before := s.images()
	r := s.regulate("stop", "web", "--yes")
	said := r.stdout + r.stderr
	if !strings.Contains(said, "Kustomization") || !strings.Contains(said, "flux-system/web") || !strings.Contains(said, "gitops") {
		t.Errorf("exit code %d, no word of the Kustomization, or of a way out:\n%s", r.code, said)
	}
	if err := s.freeAll(before); err != nil {
		t.Error(err)
	}
}

// A name of --catalog, or of a catalogue of the settings, is known wherever one is read.
func TestGateCatalogues(t *testing.T) {
	t.Parallel()
	s := newTea(t, bare.Cluster(t), "known", "")
	kettle := "kettle-" + s.unit
	s.brew()
	s.run(s.args("install")...).succeeds(t)
	validate := []string{"system", "validate", s.file}
	s.failed(s.run(validate...), "the catalog has no operator")
	s.run(append(validate, "--catalog", s.catalog)...).succeeds(t)
	s.run(append(validate, "--catalog", s.catalog, "--offline")...).succeeds(t)

	settings := filepath.Join(s.home, ".config", "kubectl-sysop", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: sysop.dev/v1alpha1\nkind: Config\ncatalogs:\n- address: " + filepath.Join(s.home, "missing.tar") + "\n- address: " + s.catalog + "\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(text, "- address: "+filepath.Join(s.home, "missing.tar")+"\n", "", 1))
	for _, args := range [][]string{validate, append(validate, "--offline"), {"history", kettle}, {"diff", kettle}, {"catalog", "show", kettle}} {
		s.run(args...).succeeds(t)
	}
	// One that cannot be read does not hide the others from what only has to be found.
	write(text)
	s.run("history", kettle).succeeds(t)
	for _, args := range [][]string{{"install", "kettle"}, {"diff", "kettle"}, {"catalog", "outdated", "kettle"}, {"upgrade", kettle + "@"}, {"history", "kettle"}} {
		if r := s.run(append([]string{"__complete"}, args...)...); !strings.Contains(r.stdout, kettle) {
			t.Errorf("%v is not completed to %s:\n%s", args, kettle, r.stdout)
		}
	}
}
