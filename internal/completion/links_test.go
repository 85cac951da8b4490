package completion

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
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
	o := &Links{Dir: dir, Aliases: true, Windows: true}
	for _, written := range []int{12, 0} {
		if got, err := o.Install(t.Context()); err != nil || got.Dir != dir || len(got.Files) != 12 || len(got.Written) != written {
			t.Fatalf("%+v, %v", got, err)
		}
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
	if got, err := o.Uninstall(); err != nil || len(got.Written) != 12 {
		t.Fatalf("%+v, %v", got, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestCompletionIsWhole holds that links that cannot all be written are not written.
func TestCompletionIsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, PluginName), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	o := &Links{Dir: dir, Aliases: true}
	all := o.links(dir, PluginName)
	done, err := o.writeAll(t.Context(), dir, append(all[:3:3], link{name: "no/such/folder", target: PluginName}))
	if !errors.Is(err, fs.ErrNotExist) || len(done) != 3 {
		t.Errorf("%d links, and %v", len(done), err)
	}
	o.takeBack(dir, done)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
}
