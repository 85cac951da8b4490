package health_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// BenchmarkCluster judges 10,000 objects by all the rules of the catalogue, which are
// compiled once: half of them built-in kinds as their types, half custom resources. It is
// to take less than 500 ms of one CPU.
func BenchmarkCluster(b *testing.B) {
	var custom []object.Object
	for _, k := range readCases(b) {
		custom = append(custom, k.object())
	}
	typed := typedFixtures(b)
	judge := health.NewEvaluator(snapshotTime, catalogRules()...)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 5_000 {
			judge.Evaluate(custom[i%len(custom)])
			judge.Evaluate(typed[i%len(typed)])
		}
	}
}

// typedFixtures are the objects of testdata/kinds that have a Go type.
func typedFixtures(t testing.TB) []object.Object {
	t.Helper()
	files, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []object.Object
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(data, &u.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		gvk := u.GroupVersionKind()
		body, err := scheme.Scheme.New(gvk)
		if err != nil {
			continue // the definitions and API services, which client-go has no type for
		}
		if err := yaml.Unmarshal(data, body); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, object.Object{
			Ref:     object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()},
			Version: gvk.Version, Meta: u, Body: body,
		})
	}
	if len(out) < 80 {
		t.Fatalf("only %d of %d fixtures have a type", len(out), len(files))
	}
	return out
}
