package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The shortest program compiles, and writes what the page says.
func TestShortestProgram(t *testing.T) {
	programs, inputs, outputs := blocks(t, "library.md", "go"), blocks(t, "library.md", "yaml"), blocks(t, "library.md", "text")
	if len(programs) != 1 || len(inputs) != 1 || len(outputs) != 1 {
		t.Fatalf("%d programs, %d inputs, %d outputs", len(programs), len(inputs), len(outputs))
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(programs[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", file)
	cmd.Stdin = strings.NewReader(inputs[0])
	got, err := cmd.CombinedOutput()
	if err != nil || string(got) != outputs[0] {
		t.Errorf("%v: it writes\n%s", err, got)
	}
}

// Each package of the library has its place in the table, and none is named that is not there.
func TestLibraryTable(t *testing.T) {
	text, err := os.ReadFile("library.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.ContainsAny(cells[1], "`-") {
			continue
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			named[strings.TrimSpace(name)] = true
		}
	}
	delete(named, "packages")
	folders, err := os.ReadDir("../pkg")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if !named[f.Name()] {
			t.Errorf("the table says nothing of %s", f.Name())
		}
		delete(named, f.Name())
	}
	if len(named) > 0 {
		t.Errorf("no packages: %v", named)
	}
}

// What the page says of the weight of pkg/graph holds.
func TestLibraryWeight(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "../pkg/graph").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(list))
	if len(all) < 140 || len(all) > 180 {
		t.Errorf("pkg/graph brings %d packages, and the page says about 160", len(all))
	}
	for _, p := range all {
		if strings.Contains(p, "helm.sh") || strings.Contains(p, "cobra") || p == "k8s.io/client-go/rest" {
			t.Errorf("pkg/graph brings %s", p)
		}
	}
}
