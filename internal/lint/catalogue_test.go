package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/skeleton"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/catalog"
)

const (
	entries   = "../../catalog"
	skeletons = "../../catalog/testdata/fields"
)

// definitions are those of the skeletons, of each kind that of the newest release first.
func definitions(t *testing.T) *lint.Definitions {
	t.Helper()
	files, err := skeleton.ReadAll(os.DirFS(skeletons))
	if err != nil {
		t.Fatal(err)
	}
	var defs lint.Definitions
	for _, newest := range []bool{true, false} {
		for _, f := range files {
			if f.Newest() != newest {
				continue
			}
			for _, k := range f.Kinds {
				defs.Add(k.Definition)
			}
		}
	}
	return &defs
}

func TestCatalogue(t *testing.T) {
	defs := definitions(t)
	names, _ := filepath.Glob(filepath.Join(entries, "*.yaml"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		e, problems := catalog.Parse(strings.TrimSuffix(filepath.Base(name), ".yaml"), text)
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		for _, f := range lint.Entry(defs, &e, lint.ReadDocument(text)) {
			fmt.Printf("%v %s:%d:%d: %s\n", f.Unknown, filepath.Base(name), f.Line, f.Column, f.Message)
		}
	}
}
