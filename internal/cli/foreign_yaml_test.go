package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

// bombFile is a file of YAML whose aliases are many times what it holds.
func bombFile(t *testing.T, head string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString(head + "a: &a " + strings.Repeat("x", 64<<10) + "\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "k%d: *a\n", i)
	}
	name := filepath.Join(t.TempDir(), "bomb.yaml")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestValuesGrowWithinBounds: what aliases add to a file of values is bounded.
func TestValuesGrowWithinBounds(t *testing.T) {
	o := &installer.Values{Files: []string{bombFile(t, "")}}
	if _, err := o.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "expand to far more") || !strings.Contains(err.Error(), "bomb.yaml") {
		t.Errorf("%v", err)
	}
	name := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(name, []byte("a: &a {b: 1}\nc: *a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Files = []string{name}
	values, err := o.Read(t.Context())
	if err != nil || fmt.Sprint(values) != "map[a:map[b:1] c:map[b:1]]" {
		t.Errorf("%v %v", values, err)
	}
}

// TestNameInWritesNothingOut: the name of an entry is read without writing aliases out, and what
// is no name is none.
func TestNameInWritesNothingOut(t *testing.T) {
	bomb, err := os.ReadFile(bombFile(t, "name: hello\n"))
	if err != nil {
		t.Fatal(err)
	}
	allocated := testing.AllocsPerRun(1, func() {
		if got := catalog.EntryName(bomb); got != "hello" {
			t.Errorf("%q", got)
		}
	})
	if allocated > 100_000 {
		t.Errorf("%.0f allocations", allocated)
	}
	for text, want := range map[string]string{"name: x\n": "x", "name: [x]\n": "", "name: &a x\nb: *a\n": "x", "b: *c\n": "", "": "", "- name: x\n": ""} {
		if got := catalog.EntryName([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
