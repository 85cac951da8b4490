package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// TestSystemPage reads the example of the page, and looks for every function of templates.
func TestSystemPage(t *testing.T) {
	examples := blocks(t, "system.md", "yaml")
	if len(examples) != 1 {
		t.Fatalf("%d examples", len(examples))
	}
	sys, problems := system.Parse("system.md", []byte(examples[0]))
	if sys == nil {
		t.Fatal(problems)
	}
	if got := len(sys.Apps); got != 4 {
		t.Errorf("%d apps", got)
	}
	page, err := os.ReadFile("system.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"toYaml", "indent", "nindent", "quote", "default", "required"} {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("the page does not tell of %s", word)
		}
	}
	for i := range sys.Regulation.Rules {
		if words := sys.Regulation.Rules[i].Words(); !strings.Contains(words, "; Recover when that has been over for ") {
			t.Errorf("in words: %s", words)
		}
	}
}
