package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modulePath is the module that this package belongs to.
const modulePath = "github.com/kubectl-sysop/kubectl-sysop"

// key returns a digest of everything that affects the build.
func (r recipe) key(ctx context.Context, root string) (string, error) {
	h := sha256.New()
	version, err := goCommand(ctx, root, "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("ask the go command for its version: %w", err)
	}
	fmt.Fprintf(h, "%s%+v%+v", version, r.targets, r.manifests)
	for _, dir := range r.sources {
		files, err := filesIn(filepath.Join(root, dir))
		if err != nil {
			return "", fmt.Errorf("read the sources: %w", err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return "", fmt.Errorf("read the sources: %w", err)
			}
			name, err := filepath.Rel(root, f)
			if err != nil {
				return "", fmt.Errorf("read the sources: %w", err)
			}
			fmt.Fprintf(h, "\n%s %d\n%s", filepath.ToSlash(name), len(b), b)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// filesIn lists the files that go into a build, tests excepted, sorted.
func filesIn(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		base := d.Name()
		if base == "go.mod" || base == "go.sum" || strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") {
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// moduleRoot finds the checkout: the directory at or above the current one
// whose go.mod is this module's. A test runs in its package's directory.
func moduleRoot(ctx context.Context) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	if root, ok := rootAbove(dir); ok {
		return root, nil
	}
	out, err := goCommand(ctx, dir, "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	if root, ok := rootAbove(filepath.Dir(strings.TrimSpace(string(out)))); ok {
		return root, nil
	}
	return "", errors.New("find the module: run this inside a checkout of " + modulePath)
}

// rootAbove skips the go.mod of other modules, including the tool modules.
func rootAbove(dir string) (string, bool) {
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && slices.Contains(strings.Split(strings.ReplaceAll(string(b), "\r", ""), "\n"), "module "+modulePath) {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}
