package krew_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

func generated(names ...string) []krew.GeneratedFile {
	var files []krew.GeneratedFile
	for _, n := range names {
		files = append(files, krew.GeneratedFile{Name: n, Text: []byte(krew.Header + n)})
	}
	return files
}

// listing is every file below a folder.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWriteIndex(t *testing.T) {
	dir := t.TempDir()
	plugins := filepath.Join(dir, "krew", "plugins")
	if err := krew.WriteIndex(plugins, generated("a.yaml", "b.yaml"), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := krew.WriteIndex(plugins, generated("b.yaml", "c.yaml"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, dir), []string{"krew/checksums.txt", "krew/plugins/b.yaml", "krew/plugins/c.yaml"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if sums, err := os.ReadFile(filepath.Join(dir, "krew", "checksums.txt")); err != nil || string(sums) != "two" {
		t.Errorf("sums %q, %v", sums, err)
	}
}

func TestWriteIndexKeepsWhatIsNotGenerated(t *testing.T) {
	dir := t.TempDir()
	plugins := filepath.Join(dir, "plugins")
	if err := os.Mkdir(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(plugins, "mine.yaml")
	if err := os.WriteFile(mine, []byte("kind: Plugin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := krew.WriteIndex(plugins, generated("a.yaml"), nil); err == nil || !strings.Contains(err.Error(), mine) {
		t.Errorf("error %v, want it to name %s", err, mine)
	}
	if got, want := listing(t, dir), []string{"plugins/mine.yaml"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}
