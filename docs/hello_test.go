package docs_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
)

// The example that readers are sent to is what the pages make step by step.
func TestHello(t *testing.T) {
	const example = "../examples/hello/"
	for _, test := range []struct{ page, file, example string }{
		{"install.md", "party.yaml", "party.yaml"},
		{"catalog.md", "hello-catalogue/charts/hello/Chart.yaml", "catalogue/charts/hello/Chart.yaml"},
		{"catalog.md", "hello-catalogue/charts/hello/values.yaml", "catalogue/charts/hello/values.yaml"},
		{"catalog.md", "hello-catalogue/charts/hello/templates/operator.yaml", "catalogue/charts/hello/templates/operator.yaml"},
		{"catalog.md", "hello-catalogue/charts/hello/crds/greetings.yaml", "catalogue/charts/hello/crds/greetings.yaml"},
	} {
		want, err := os.ReadFile(path.Join(example, test.example))
		if err != nil {
			t.Fatal(err)
		}
		if got := file(t, test.page, test.file); got != withoutHead(string(want)) {
			t.Errorf("%s of %s is not %s%s:\n%s", test.file, test.page, example, test.example, got)
		}
	}
	// The entry of the example has both versions, as the page writes them.
	entry, err := os.ReadFile(example + "catalogue/hello.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hello-catalogue/hello.yaml", "hello-1.1.0.yaml"} {
		_, version, ok := strings.Cut(file(t, "catalog.md", name), "versions:\n- ")
		if !ok || !strings.Contains(string(entry), version) {
			t.Errorf("the version of %s is not in the example:\n%s", name, version)
		}
	}
}

// file is the text of a file that a page makes.
func file(t *testing.T, page, name string) string {
	t.Helper()
	p, err := pages.Parse(".", page)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range p.Blocks {
		if b.File == name {
			return b.Text
		}
	}
	t.Fatalf("%s makes no file %s", page, name)
	return ""
}

// withoutHead leaves out the comment with which a file begins.
func withoutHead(text string) string {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}
