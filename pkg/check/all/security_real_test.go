package all

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

var updateSecurity = flag.Bool("update-security", false, "write what is found in testdata/security anew")

// TestSecurityOfRealOperators holds what is found of operators as they are published
// against what was confirmed by hand in their manifests.
func TestSecurityOfRealOperators(t *testing.T) {
	rules := slices.DeleteFunc(Rules(), func(r check.Rule) bool { return r.Category != check.Security || strings.HasPrefix(r.ID, "crd-sets-") })
	files, err := filepath.Glob("../testdata/security/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, s := range checktest.Read(t, operator.Find, string(text)).Subjects(rules) {
				fmt.Fprintf(&b, "%s %s\n", s.Scope, s.Name)
				for _, r := range s.Results {
					for _, f := range r.Findings {
						fmt.Fprintf(&b, "  %s %s: %s %s = %q\n    %s\n", f.Severity, r.Rule.ID, f.Object, f.Field, f.Value, f.Message)
					}
					for _, o := range r.Unknowns {
						fmt.Fprintf(&b, "  open %s: %s: %s\n", r.Rule.ID, o.Object, o.Reason)
					}
				}
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *updateSecurity {
				if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}
