package examples_test

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// The manifest of the shop is valid, and names its objects.
func TestSystem(t *testing.T) {
	text, err := os.ReadFile("system/system.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, problems := system.Parse("system.yaml", text)
	for _, p := range problems {
		t.Error(p)
	}
	objects, err := os.ReadFile("system/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]bool{}
	for doc := range strings.SplitSeq(string(objects), "\n---\n") {
		var o struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		members[strings.ToLower(o.Kind)+"/"+o.Metadata.Name] = o.Metadata.Namespace == s.Namespace
	}
	roots := 0
	for _, app := range s.Apps {
		for _, r := range app.Roots {
			roots++
			if !members[r.Type+"/"+r.Name] {
				t.Errorf("line %d: %s/%s is not among the objects, or in another namespace", r.Line, r.Type, r.Name)
			}
		}
	}
	if roots != 6 {
		t.Errorf("%d roots, want 6", roots)
	}
}
