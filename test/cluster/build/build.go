// Package build builds the binaries of a test cluster from their Go modules,
// once, into a cache that every test and sandbox shares. It needs the go
// command and a module proxy, nothing else.
package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// CacheVariable names the environment variable that overrides where the cache is.
const CacheVariable = "SYSOP_CLUSTER_CACHE"

// keep is how long an unused build stays: another branch may come back to it.
const keep = 7 * 24 * time.Hour

// Binaries is a directory with every binary, and with the manifests that the
// modules themselves ship.
type Binaries struct {
	Dir string

	// older has the control plane of the version that KubernetesVariable names.
	older string
}

// Path returns the path of the binary.
func (b Binaries) Path(name string) string {
	dir := b.Dir
	if b.older != "" && slices.Contains(controlPlane(), name) {
		dir = b.older
	}
	return filepath.Join(dir, "bin", name)
}

// Manifests returns the directory of the YAML files that a module ships: one of the Manifest
// constants.
func (b Binaries) Manifests(name string) string { return filepath.Join(b.Dir, "manifests", name) }

// All returns the binaries of a cluster, and builds them if the cache has no build of these sources. It reports
// progress on log. The first build on a machine downloads some 400 modules and takes several
// minutes on two cores. With KubernetesVariable the control plane is of another version.
func All(ctx context.Context, log io.Writer) (Binaries, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return Binaries{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return Binaries{}, err
	}
	older, err := findOlder(ctx, root, cache, log)
	if err != nil {
		return Binaries{}, err
	}
	dir, err := current().find(ctx, root, cache, log)
	return Binaries{Dir: dir, older: older}, err
}

// WithPrometheus returns the binaries of a Prometheus server. Only tests of metrics over time need
// it, so nothing else waits for its build.
func WithPrometheus(ctx context.Context, log io.Writer) (Binaries, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return Binaries{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return Binaries{}, err
	}
	dir, err := prometheus().find(ctx, root, cache, log)
	return Binaries{Dir: dir}, err
}

// cacheDir makes the directory that holds a directory for each build.
func cacheDir() (string, error) {
	dir := os.Getenv(CacheVariable)
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache directory: %w", err)
		}
		dir = filepath.Join(user, "kubectl-sysop", "cluster")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache directory: %w", err)
	}
	return dir, nil
}

// prune removes leftovers of builds: other keys that were not used for a while, and directories of
// killed builds. The caller has the lock.
func prune(cache, current string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return fmt.Errorf("prune the cache: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || e.Name() == current || time.Since(info.ModTime()) < keep {
			continue
		}
		if err := os.RemoveAll(filepath.Join(cache, e.Name())); err != nil {
			return fmt.Errorf("prune the cache: %w", err)
		}
	}
	return nil
}

// goCommand returns the go command in a directory below root. The tool modules are in no workspace,
// and their flags are only those of the key; trimmed, as in the Makefile, so that common packages
// are compiled once.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath", "GOWORK=off", "GOOS=", "GOARCH=")
	return cmd
}
