// Package build builds the binaries of a test cluster from their Go modules,
// once, into a cache that every test and sandbox shares. It needs the go
// command and a module proxy, nothing else.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/filelock"
)

// CacheVariable names the environment variable that overrides where the cache is.
const CacheVariable = "SYSOP_CLUSTER_CACHE"

// keep is how long an unused build stays: another branch may come back to it.
const keep = 7 * 24 * time.Hour

// Binaries is a directory with every binary, and with the manifests that the
// modules themselves ship.
type Binaries struct{ Dir string }

// Path is where the binary is.
func (b Binaries) Path(name string) string { return filepath.Join(b.Dir, "bin", name) }

// Manifests is the directory of the YAML files that a module ships: one of the
// Manifest constants.
func (b Binaries) Manifests(name string) string { return filepath.Join(b.Dir, "manifests", name) }

// All returns the binaries, building them if the cache has no build of these
// very sources. What it does is told on log. The first build on a machine
// downloads some 400 modules and takes several minutes on two cores.
func All(ctx context.Context, log io.Writer) (Binaries, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return Binaries{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return Binaries{}, err
	}
	k, err := key(ctx, root)
	if err != nil {
		return Binaries{}, err
	}
	b := Binaries{Dir: filepath.Join(cache, k)}
	if b.ready() {
		return b, nil
	}
	unlock, err := filelock.Lock(ctx, filepath.Join(cache, "lock"), func() { fmt.Fprintln(log, "another process is building: waiting for it") })
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()
	if b.ready() { // built while this process waited
		return b, nil
	}
	if err := build(ctx, root, cache, b.Dir, log); err != nil {
		return Binaries{}, err
	}
	return b, prune(cache, k)
}

// ready says whether the build is there, and notes that it was used. A build
// appears as a whole, by a rename.
func (b Binaries) ready() bool {
	now := time.Now()
	return os.Chtimes(b.Dir, now, now) == nil
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

// build builds into a directory beside dir and then gives it its name.
func build(ctx context.Context, root, cache, dir string, log io.Writer) (err error) {
	start := time.Now()
	tmp, err := os.MkdirTemp(cache, ".building-")
	if err != nil {
		return fmt.Errorf("make a build directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	for i, t := range targets() {
		fmt.Fprintf(log, "building %s (%d of %d)\n", t, i+1, len(targets()))
		if err := t.build(ctx, root, filepath.Join(tmp, "bin"), log); err != nil {
			return err
		}
	}
	for _, m := range manifests() {
		if err := m.copy(ctx, root, filepath.Join(tmp, "manifests", m.name)); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("put the build in its place: %w", err)
	}
	fmt.Fprintf(log, "built in %s: %s\n", time.Since(start).Round(time.Second), dir)
	return nil
}

// prune removes what builds left behind: other keys that nobody used for a
// while, and directories of builds that were killed. The caller has the lock.
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

// goCommand is the go command in a directory below root. The tool modules are
// not part of anybody's workspace, and their flags are those of the key only; trimmed, as the
// Makefile compiles, so that what both need is compiled once.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath", "GOWORK=off", "GOOS=", "GOARCH=")
	return cmd
}
