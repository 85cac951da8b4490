package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// TestNewcomer does what README says, from top to bottom, in a fresh clone and with a fresh
// home: as somebody who has Go, git, make and kubectl, and has never been here. The sandbox of
// that home is not the one of who runs the tests.
//
// What modules, compiler and control plane keep of former builds is kept: else it would take
// a quarter of an hour. "make test" is what this test is part of, so make is only asked what
// it would do.
func TestNewcomer(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster: left out by -short")
	}
	n := newNewcomer(t)
	readme, err := pages.Parse(n.clone, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	script := n.script(t, readme)
	n.endSandbox(t)
	start := time.Now()
	cmd, output, err := n.bash(t.Context(), script)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Logf("%s, CPU %s", time.Since(start).Round(time.Second), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second))
	n.after(t, output)
}

// newcomer is who walks the path.
type newcomer struct {
	clone, home, bin string
	env              []string
}

func newNewcomer(t *testing.T) newcomer {
	t.Helper()
	dir := t.TempDir()
	n := newcomer{clone: filepath.Join(dir, "kubectl-sysop"), home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "gobin")}
	tools := filepath.Join(dir, "tools")
	for _, folder := range []string{n.home, n.bin, tools} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binaries, err := cluster.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binaries.Path(build.Kubectl), filepath.Join(tools, "kubectl")); err != nil {
		t.Fatal(err)
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	n.env = []string{
		"HOME=" + n.home, "GOBIN=" + n.bin, "LANG=C.UTF-8", "TERM=dumb",
		"PATH=" + strings.Join([]string{n.bin, tools, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"SYSOP_CACHE=" + orElse("SYSOP_CACHE", filepath.Join(caches, "kubectl-sysop")),
		build.CacheVariable + "=" + orElse(build.CacheVariable, filepath.Dir(binaries.Dir)),
	}
	n.env = append(n.env, goSettings(t)...)
	n.cloned(t, filepath.Join(dir, "origin"))
	return n
}

func orElse(variable, value string) string {
	if v := os.Getenv(variable); v != "" {
		return v
	}
	return value
}

// prelude is read before the commands of the page. A newcomer copies the line that "make
// sandbox" prints; this one does, too.
const prelude = `set -eu -o pipefail
make() {
  if [ "${1-}" = test ]; then
    command make --dry-run test > /dev/null
    return
  fi
  command make "$@" | tee "$HOME/made"
  eval "$(grep '^export KUBECONFIG=' "$HOME/made" || true)"
}
`

// script are the commands of the page for a newcomer: all but those that other tests run and
// those of other tools. What stands before the first block of theirs shows what the tool is,
// and there is nothing yet to run it with. Each block says first where it is.
func (n newcomer) script(t *testing.T, readme pages.Page) string {
	t.Helper()
	var out strings.Builder
	out.WriteString(prelude)
	begun := false
	for _, b := range readme.Blocks {
		mine := b.Elsewhere == t.Name()
		begun = begun || mine
		switch {
		case !begun:
		case b.File != "":
			fmt.Fprintf(&out, "mkdir -p \"$(dirname '%s')\"\ncat > '%[1]s' <<'END OF FILE'\n%sEND OF FILE\n", b.File, b.Text)
		case !b.Commands() || b.Elsewhere != "" && !mine || b.Foreign != "":
		default:
			fmt.Fprintf(&out, "echo 'README.md:%d' >&2\n%s", b.Line, commands(b))
		}
	}
	text := out.String()
	for _, line := range []string{"make demo", "make test", "make sandbox", "make sandbox-down", "make install"} {
		if !strings.Contains(strings.ReplaceAll(text, ")", "\n")+"\n", line+"\n") && !strings.Contains(text, line+" ") {
			t.Errorf("README.md does not tell the newcomer of %q, in a block that this test runs", line)
		}
	}
	return text + "kubectl sysop version\nkubectl __complete sysop hea\n"
}

// commands is the script of a block.
func commands(b pages.Block) string {
	var lines []string
	for line := range strings.Lines(b.Text) {
		if b.Language == "console" {
			next, goesOn := strings.CutPrefix(line, "> ")
			first, begins := strings.CutPrefix(line, "$ ")
			switch {
			case begins:
				lines = append(lines, first)
			case goesOn && len(lines) > 0:
				lines[len(lines)-1] += next
			}
			continue
		}
		lines = append(lines, line)
	}
	if b.Fails && b.Language == "console" {
		last := &lines[len(lines)-1]
		*last = "if " + strings.TrimSuffix(*last, "\n") + "; then echo 'it has to fail' >&2; exit 1; fi\n"
	} else if b.Fails {
		return "if ( set -e\n" + strings.Join(lines, "") + "); then echo 'it has to fail' >&2; exit 1; fi\n"
	}
	return strings.Join(lines, "")
}

// bash runs a script in the clone. Its output ends with what failed.
func (n newcomer) bash(ctx context.Context, script string) (*exec.Cmd, string, error) {
	ctx, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = n.clone, n.env
	cmd.SysProcAttr = supervise.Detached() // one group, to be ended as one
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 10 * time.Second
	text, err := cmd.CombinedOutput()
	return cmd, string(text), err
}

// hangs is far more than the path takes on a slow machine where everything was built before.
var hangs = timeout.Scaled(15 * time.Minute)

// endSandbox ends the newcomer's sandbox after the test, however that ends: it is done by a
// process that waits for the end of a pipe, which a test binary that is killed ends as well.
func (n newcomer) endSandbox(t *testing.T) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", "cat > /dev/null; exec make sandbox-down")
	cmd.Dir, cmd.Env, cmd.Stdin = n.clone, n.env, r
	cmd.SysProcAttr = supervise.Detached()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() {
		_ = w.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("end the newcomer's sandbox: %v\n%s", err, &said)
		}
		makeRemovable(t, n.home)
	})
}

// makeRemovable lets the folder of the test be removed: caches of modules are read-only.
func makeRemovable(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(name, 0o755)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// after looks at what the newcomer has in the end.
func (n newcomer) after(t *testing.T, output string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(n.home, ".cache/kubectl-sysop/sandbox/sandbox")); runtime.GOOS == "linux" && !os.IsNotExist(err) {
		t.Errorf("README does not end the sandbox: %v", err)
	}
	for _, want := range []string{"Moodle/moodle-1", "is up. Use it:", "kubectl-sysop ", "\nhealth\t"} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in\n%s", want, output)
		}
	}
	for _, name := range []string{"kubectl-sysop", "kubectl_complete-sysop"} {
		if info, err := os.Stat(filepath.Join(n.bin, name)); err != nil || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("make install: %s is not there, or cannot be run: %v", name, err)
		}
	}
}
