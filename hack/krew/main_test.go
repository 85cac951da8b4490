package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

const manifest = "../../plugins.yaml"

// checksums writes sums of archives that do not exist, except those in without.
func checksums(t *testing.T, excluded ...string) string {
	t.Helper()
	s, err := suite.Read(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i, p := range s.Platforms {
		name := s.Archive("v1.2.3", p)
		if !strings.Contains(strings.Join(excluded, " "), p.String()) {
			fmt.Fprintf(&text, "%064x  %s\n", i, name)
		}
	}
	path := filepath.Join(t.TempDir(), "checksums.txt")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGenerate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "krew", "plugins")
	var out bytes.Buffer
	err := run([]string{
		"--suite", manifest, "--version", "v1.2.3", "--checksums", checksums(t),
		"--download", "https://mirror.example.com/{version}/{archive}", "--out", folder,
	}, &out)
	if err != nil || !strings.Contains(out.String(), "7 manifests of v1.2.3") {
		t.Fatalf("%v: %s", err, &out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) != 7 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), "uri: https://mirror.example.com/v1.2.3/kubectl-sysop_v1.2.3_linux_amd64.tar.gz") {
		t.Errorf("%s, %v: want archives from the mirror", text, err)
	}
}

func TestRefuses(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "krew", "plugins")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--suite", manifest, "--version", "1.2", "--checksums", checksums(t), "--out", folder}, "version 1.2"},
		{[]string{"--suite", manifest, "--version", "v1.2.3", "--checksums", checksums(t, "darwin/arm64", "windows/amd64"), "--out", folder}, "darwin_arm64.tar.gz"},
		{[]string{"--suite", manifest, "--version", "v1.2.3", "--checksums", filepath.Join(folder, "no.txt"), "--out", folder}, "no.txt"},
		{[]string{"--suite", manifest, "--version", "v1.2.3", "--checksums", manifest, "--out", folder}, "plugins.yaml:1"},
		{[]string{"more"}, `unexpected argument "more"`},
	} {
		if err := run(c.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
		if _, err := os.Stat(filepath.Dir(folder)); !os.IsNotExist(err) {
			t.Errorf("%v: something was written: %v", c.args, err)
		}
	}
}
