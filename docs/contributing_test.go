package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
)

// TestContributing walks through CONTRIBUTING.md in a copy of the checkout: it writes the files
// that the page has, runs its commands, and looks for the edge that the rule makes.
func TestContributing(t *testing.T) {
	page, err := pages.Parse("..", "CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := checkoutCopy(t)
	files, commands := 0, 0
	for _, b := range page.Blocks {
		switch {
		case b.File != "":
			files++
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(b.File)), []byte(b.Text), 0o600); err != nil {
				t.Fatal(err)
			}
		case b.Elsewhere == t.Name() && b.Language == "sh":
			commands++
			bash(t, dir, b.Text)
		case b.Elsewhere == t.Name():
			var want []string
			for line := range strings.Lines(b.Text) {
				if command, ok := strings.CutPrefix(line, "$ "); ok {
					commands++
					got := bash(t, dir, command)
					want = strings.Split(got, "\n")
					continue
				}
				if len(want) == 0 || strings.TrimRight(want[0], " ") != strings.TrimRight(line, " \n") {
					t.Errorf("the page has\n%swhere the command writes\n%s", line, strings.Join(want, "\n"))
					break
				}
				want = want[1:]
			}
		}
	}
	if files != 3 || commands != 3 {
		t.Errorf("%d files and %d commands: want 3 and 3", files, commands)
	}
}

// checkoutCopy copies the files that git knows.
func checkoutCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		content, err := os.ReadFile(filepath.Join("..", name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bash runs a script in a folder; it must end with 0.
func bash(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}
