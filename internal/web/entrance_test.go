package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEntranceIsRemoved removes a file that no browser has used, and one that is not there.
func TestEntranceIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var e entrance
	e.remove()
	name, err := e.write(`http://127.0.0.1:1/#token="><script>`)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), "<script>") {
		t.Errorf("%s %v", text, err)
	}
	e.remove()
	e.remove()
	if _, err := os.Stat(filepath.Dir(name)); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
}
