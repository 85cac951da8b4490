package pages

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A kubectl without a cluster: it runs the plugin, and nothing else.
const offline = `#!/bin/sh
if [ "${1-}" = sysop ]; then
  shift
  exec kubectl-sysop "$@"
fi
echo "error: kubectl ${1-}: this page is run without a cluster: only kubectl sysop is known (mark the block cluster)" >&2
exit 1
`

// furnish creates the directories of a session: bin for the PATH, home, tmp, and work with copies
// of the files that a page may use. They are copies so that no page can write into the checkout.
func (r Runner) furnish(dir, root string) error {
	for _, name := range []string{"bin", "home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"kubectl-sysop", "kubectl_complete-sysop"} {
		if err := link(r.Plugin, filepath.Join(dir, "bin", name)); err != nil {
			return err
		}
	}
	kubectl := filepath.Join(dir, "bin", "kubectl")
	if r.Kubectl != "" {
		if err := link(r.Kubectl, kubectl); err != nil {
			return err
		}
	} else if err := os.WriteFile(kubectl, []byte(offline), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"examples", "catalog", "docs"} {
		if err := copyFolder(filepath.Join(dir, "work", name), filepath.Join(root, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func link(target, name string) error {
	target, err := filepath.Abs(target)
	if err != nil {
		return err
	}
	return os.Symlink(target, name)
}

// copyFolder copies the regular files below a directory, except tests and testdata.
func copyFolder(to, from string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, filepath.FromSlash(name)), 0o755)
		case !d.Type().IsRegular() || path.Ext(name) == ".go":
			return nil
		}
		b, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, filepath.FromSlash(name)), b, 0o644)
	})
}

// environment returns the whole environment of the session: of the caller's it has only the PATH.
func (r Runner) environment(dir string) []string {
	kubeconfig := r.Kubeconfig
	if kubeconfig == "" {
		kubeconfig = filepath.Join(dir, "home", "no-cluster")
	}
	return slices.Concat([]string{
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"PATH=" + strings.Join([]string{filepath.Join(dir, "bin"), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"KUBECONFIG=" + kubeconfig,
		"LC_ALL=C.UTF-8", "NO_COLOR=1", "TZ=UTC",
		// By default the race detector sleeps a second before a process exits.
		"GORACE=atexit_sleep_ms=0",
	}, r.Env)
}
