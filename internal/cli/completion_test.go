package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestCompletionOnWindows writes what Windows runs: command files, which say by themselves
// which command is meant.
func TestCompletionOnWindows(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"kubectl-sysop.exe", "kubectl-sysop_graph.exe"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var out, talk bytes.Buffer
	o := &completionOptions{
		env: Env{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &talk}, Getenv: func(string) string { return dir }},
		dir: dir, aliases: true, windows: true,
	}
	for range 2 {
		if err := o.install(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.String(), "linked "); n != 12 || strings.Count(out.String(), "is there ") != n || talk.Len() > 0 {
		t.Errorf("%s%s", out.String(), talk.String())
	}
	for name, want := range map[string]string{
		"kubectl_complete-sysop.cmd":       "@\"%~dp0kubectl-sysop.exe\" __complete %*\r\n",
		"kubectl_complete-sysop_graph.cmd": "@\"%~dp0kubectl-sysop_graph.exe\" __complete %*\r\n",
		"kubectl-sysop_stacks.cmd":         "@\"%~dp0kubectl-sysop.exe\" stacks %*\r\n",
		"kubectl_complete-sysop_check.cmd": "@\"%~dp0kubectl-sysop.exe\" __complete check %*\r\n",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q (%v), want %q", name, text, err, want)
		}
	}
	if err := o.uninstall(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestCompletionIsWhole holds that links that cannot all be written are not written.
func TestCompletionIsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, pluginName), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	o := &completionOptions{env: Env{Getenv: os.Getenv}, dir: dir, aliases: true}
	all := o.links(dir, pluginName)
	done, err := o.writeAll(t.Context(), dir, append(all[:3:3], link{name: "no/such/folder", target: pluginName}))
	if !errors.Is(err, fs.ErrNotExist) || len(done) != 3 {
		t.Errorf("%d links, and %v", len(done), err)
	}
	o.takeBack(dir, done)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
}
