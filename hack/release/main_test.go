package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestReleaseIsBuiltCheckedAndVerified follows docs/releasing.md with a small module: build,
// sha256sum, verify against the sums, licences; then the same with a wrong sum.
func TestReleaseIsBuiltCheckedAndVerified(t *testing.T) {
	root, out := filepath.Join(t.TempDir(), "checkout"), filepath.Join(t.TempDir(), "dist")
	if err := os.CopyFS(root, os.DirFS("../../internal/release/testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	suite := "name: tiny\nbinary: tiny\nlicense: MIT\nhomepage: h\nshortDescription: s\ndescription: d\ndownload: d\nplatforms: [linux/amd64, windows/amd64]\n"
	if err := os.WriteFile(filepath.Join(root, "plugins.yaml"), []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "all"}} {
		if output, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, output)
		}
	}
	platform := []string{"--root", root, "--platforms", "linux/amd64"}
	output := must(t, append([]string{"build", "--version", "v0.1.0", "--out", out}, platform...)...)
	if !strings.Contains(output, "tiny_v0.1.0_linux_amd64.tar.gz") || !strings.Contains(output, "built with go") {
		t.Errorf("build said %s", output)
	}
	sums := filepath.Join(out, "checksums.txt")
	if runtime.GOOS == "linux" {
		cmd := exec.Command("sha256sum", "--check", "--strict", "checksums.txt")
		cmd.Dir = out
		if output, err := cmd.CombinedOutput(); err != nil || strings.Count(string(output), ": OK\n") != 2 {
			t.Errorf("sha256sum: %v: %s", err, output)
		}
	}
	against := append([]string{"verify", "--version", "v0.1.0", "--against", sums}, platform...)
	if output := must(t, against...); strings.Count(output, "same\n") != 2 {
		t.Errorf("verify said %s", output)
	}
	if output := must(t, "licences", "--root", root); !strings.Contains(output, "stdlib") {
		t.Errorf("licences said %s", output)
	}
	b, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sums, append([]byte(strings.Repeat("0", 64)), b[64:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	err = run(t.Context(), against, &stdout, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "1 of 2 artifacts are different") || strings.Count(stdout.String(), "DIFFERENT\n") != 1 {
		t.Errorf("%v\n%s", err, &stdout)
	}
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v: %v: %s", args, err, &stderr)
	}
	return stdout.String()
}

func TestWrongWords(t *testing.T) {
	for want, args := range map[string][]string{
		"want one of build, verify, licences":   {"publish"},
		"want one of build":                     nil,
		"platform plan9/arm is not":             {"build", "--root", "../..", "--platforms", "plan9/arm"},
		"plugins.yaml":                          {"build", "--root", "."},
		"now: unexpected argument":              {"build", "--root", "../..", "now"},
		"expected vMAJOR.MINOR.PATCH":           {"build", "--root", "../..", "--version", "1.0"},
		"none.txt":                              {"verify", "--root", "../..", "--version", "v1.0.0", "--against", "none.txt"},
		"flag provided but not defined: -force": {"build", "--force"},
	} {
		if err := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if err := run(t.Context(), []string{"build", "--root", "../.."}, &bytes.Buffer{}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "want seconds since 1970") {
		t.Errorf("%v", err)
	}
}
