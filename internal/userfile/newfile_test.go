package userfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestClaim: without links, too, a file gets a name that nobody has, and no other one.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	temp, name := filepath.Join(dir, "temp"), filepath.Join(dir, "name")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("the file holds %q, %v; want %q", got, err, want)
		}
	}
	write(temp, "first")
	if err := Claim(temp, name); err != nil {
		t.Fatal(err)
	}
	holds("first")
	write(temp, "second")
	if err := Claim(temp, name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	holds("first")
	other := filepath.Join(dir, "other")
	if err := Claim(filepath.Join(dir, "gone"), other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to name: %v", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is left behind: %v", err)
	}
}
