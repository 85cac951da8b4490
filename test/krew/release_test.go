package krew_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// release makes the archive of a version for this platform.
func (w world) release(ctx context.Context, version string) error {
	dir := filepath.Join(w.archives, version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X github.com/kubectl-sysop/kubectl-sysop/internal/cli.Version="+version, "-o", bin, "../../cmd/kubectl-sysop")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, w.suite.Archive(version, w.host)))
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	t := tar.NewWriter(z)
	for name, from := range map[string]string{w.suite.Executable(w.host): bin, "LICENSE": "../../LICENSE"} {
		b, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		t.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(b)), Typeflag: tar.TypeReg})
		t.Write(b)
	}
	t.Close()
	z.Close()
	os.Remove(bin)
	return f.Close()
}
