// Package krew_test installs the suite with krew, from archives as they are released: into an
// empty home, run through kubectl, completed, upgraded and uninstalled.
package krew_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
)

// The versions that archives are built of.
const (
	first  = "v0.1.0"
	second = "v0.2.0"
)

// world is what every test starts from. It is made once, and nobody changes it.
type world struct {
	suite suite.Suite
	host  suite.Platform
	// archives has a folder for each version, as a server of releases has.
	archives string
	versions map[string]published
	// tools is a directory with kubectl, kubectl-krew, and validate-krew-manifest, which the CI of
	// krew's index runs.
	tools string
}

var made world

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() { // every test needs the archives, and is left out
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "sysop-krew-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if made, err = makeWorld(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func makeWorld(ctx context.Context, dir string) (world, error) {
	w := world{
		host:     suite.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH},
		archives: filepath.Join(dir, "archives"), tools: filepath.Join(dir, "tools"),
	}
	var err error
	if w.suite, err = suite.Read("../../plugins.yaml"); err != nil {
		return w, err
	}
	binaries, err := build.All(ctx, os.Stderr)
	if err != nil {
		return w, err
	}
	if err := os.Mkdir(w.tools, 0o755); err != nil {
		return w, err
	}
	if err := os.Symlink(binaries.Path(build.Kubectl), filepath.Join(w.tools, "kubectl")); err != nil {
		return w, err
	}
	for file, command := range map[string]string{"kubectl-krew": "krew", "validate-krew-manifest": "validate-krew-manifest"} {
		krew := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(w.tools, file), "sigs.k8s.io/krew/cmd/"+command)
		krew.Dir, krew.Env = "tool", append(os.Environ(), "CGO_ENABLED=0")
		krew.Stdout, krew.Stderr = os.Stderr, os.Stderr
		if err := krew.Run(); err != nil {
			return w, fmt.Errorf("build %s: %w", command, err)
		}
	}
	if err := os.Mkdir(w.archives, 0o755); err != nil {
		return w, err
	}
	w.versions = map[string]published{}
	for _, version := range []string{first, second} {
		if w.versions[version], err = w.release(ctx, version); err != nil {
			return w, fmt.Errorf("release %s: %w", version, err)
		}
	}
	return w, nil
}
