package regulate

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var updateManifests = flag.Bool("update-manifests", false, "write testdata/manifests.yaml anew")

func TestManifests(t *testing.T) {
	s, w := rightsSystem()
	in := WatchDeployment{System: s, World: w, Kinds: rightKinds, Namespace: "prod", Image: "registry.example.com/kubectl-sysop:v1", Version: "v1", Replicas: 2, Reads: []WatchedResource{
		{Group: "apps", Resource: "deployments", Namespace: "prod"},
		{Group: "apps", Resource: "statefulsets", Namespace: "data"},
		{Resource: "pods", Namespace: "prod"},
		{Resource: "secrets", Namespace: "prod"},
		{Resource: "secrets"},
		{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		{Group: "apps", Resource: "deployments", Namespace: "prod"},
	}}
	var b strings.Builder
	for _, m := range Manifests(in) {
		text, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
		for line := range strings.Lines(m.Comment) {
			b.WriteString("# " + strings.TrimSuffix(line, "\n") + "\n")
		}
		b.Write(text)
	}
	name := filepath.Join("testdata", "manifests.yaml")
	if *updateManifests {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil { //nolint:gosec // testdata
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v: it is not as in %s:\n%s", err, name, b.String())
	}
}
