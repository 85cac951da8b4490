package cli

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// TestHelp holds the files of help against the commands: each belongs to one, with a short text
// and the headings that describe reads.
func TestHelp(t *testing.T) {
	files := map[string]bool{}
	eachCommand(New(command.Env{Now: time.Now}), func(c *cobra.Command) {
		files[strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "kubectl sysop "), " ", "_")] = true
		if c.Short == "" || strings.Contains(c.Long, "Examples:") || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short text %q, long text\n%s", c.CommandPath(), c.Short, c.Long)
		}
	})
	found, err := fs.Glob(helpTexts, "help/*.txt")
	if err != nil || len(found) < 50 {
		t.Fatalf("%d files of help: %v", len(found), err)
	}
	for _, file := range found {
		if name := strings.TrimSuffix(strings.TrimPrefix(file, "help/"), ".txt"); !files[name] && name != "kubectl-sysop" {
			t.Errorf("%s belongs to no command", file)
		}
	}
}

// TestHelpOfHistory holds the number in the help against the journal.
func TestHelpOfHistory(t *testing.T) {
	text, err := helpTexts.ReadFile("help/regulate_history.txt")
	if want := fmt.Sprintf("the last %d records", regulate.MaxHistory); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s\nhas no %q: %v", text, want, err)
	}
}
