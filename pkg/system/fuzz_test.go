package system_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// FuzzSystem: whatever is written, nothing panics, problems have a place in the text, and
// what is read is written so that it reads the same.
func FuzzSystem(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, name := range append(files, "../../examples/demo-system.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	head := "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: a}\nspec:\n  apps:\n  - name: w\n    roots: [d/w]\n"
	for _, s := range []string{
		"", "{", "a: &a [*a]", "\x00", "\ufeff{}", "---\n---\n", "[1,2]", "spec: {apps: [{name: a, on: {Stop: [{}]}}]}",
		head, head + "    resources:\n    - template: \"{{range 99999999999}}{{end}}\"\n",
		head + "    resources:\n    - template: \"{{define `a`}}{{template `a`}}{{end}}{{template `a`}}\"\n",
		head + "    on: {Stop: [{annotate: {\"a\": \" x\\n y \\u2028\\t\\e\"}}]}\n",
		head + "  values: {a: 1e300, b: 0x1F, c: 0.10, d: 2001-01-01, e: .5, f: \"<<\", g: [], h: {}, i: -0.0, j: 1e+3, \"k \": \" \"}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + bytes.Count(text, []byte("\u0085")) + bytes.Count(text, []byte("\u2028")) + bytes.Count(text, []byte("\u2029")) + 2
		s, problems := system.Parse("f", text)
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
				t.Errorf("problem %+v is in no place of %q", p, text)
			}
		}
		if (s == nil) == (len(problems) == 0) {
			t.Fatalf("%q: a system %v with problems %v", text, s, problems)
		}
		if s != nil {
			same(t, s)
		}
	})
}
