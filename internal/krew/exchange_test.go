package krew

import (
	"os"
	"path/filepath"
	"testing"
)

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v: want %q", filepath.Base(path), got, err, want)
	}
}

// What was exchanged can be undone, whether or not there was something before.
func TestExchange(t *testing.T) {
	for _, before := range []bool{true, false} {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		if err := os.WriteFile(from, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		if before {
			if err := os.WriteFile(to, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		undo, err := exchange(from, to)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, to, "new")
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		holds(t, from, "new")
		if before {
			holds(t, to, "old")
		} else if _, err := os.Stat(to); !os.IsNotExist(err) {
			t.Errorf("something is where nothing was: %v", err)
		}
	}
}

func TestExchangeForNothing(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, "to")
	if err := os.WriteFile(to, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exchange(filepath.Join(dir, "from"), to); err == nil {
		t.Error("what there is not was put in its place")
	}
	holds(t, to, "old")
}
