package krew_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// home is a user who has kubectl and krew, and nothing else.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, ".krew")
	path := []string{filepath.Join(root, "bin"), made.tools, "/usr/bin", "/bin"}
	if git, err := exec.LookPath("git"); err == nil {
		path = append(path, filepath.Dir(git))
	}
	return home{t, dir, []string{
		"HOME=" + dir, "PATH=" + strings.Join(path, string(os.PathListSeparator)),
		"KUBECONFIG=" + filepath.Join(dir, "no-cluster"), "TMPDIR=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "KREW_NO_UPGRADE_CHECK=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
}

// path is a file in the home.
func (h home) path(parts ...string) string {
	return filepath.Join(append([]string{h.dir}, parts...)...)
}

type result struct {
	code        int
	out, errOut string
}

// command is a command as it would be typed in the home's folder. The file is searched on
// the PATH of the home.
func (h home) command(name string, args ...string) *exec.Cmd {
	h.t.Helper()
	// env looks in the PATH that it is given, not in that of the test.
	cmd := exec.CommandContext(h.t.Context(), "/usr/bin/env", append([]string{name}, args...)...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return cmd
}

func (h home) try(line string) result {
	h.t.Helper()
	words := strings.Fields(line)
	cmd := h.command(words[0], words[1:]...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatalf("%s: %v", line, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// run wants the command to end with 0, and returns what it answers.
func (h home) run(line string) string {
	h.t.Helper()
	r := h.try(line)
	if r.code != 0 {
		h.t.Fatalf("%s: exit code %d\n%s%s", line, r.code, r.out, r.errOut)
	}
	return r.out
}

// refused wants the command to fail and to say why.
func (h home) refused(line, want string) {
	h.t.Helper()
	if r := h.try(line); r.code == 0 || !strings.Contains(r.errOut, want) {
		h.t.Errorf("%s: exit code %d, want another and %q\n%s%s", line, r.code, want, r.out, r.errOut)
	}
}

// files are all files and links below a folder of the home, in order.
func (h home) files(parts ...string) []string {
	h.t.Helper()
	dir := h.path(parts...)
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err = filepath.Rel(dir, path)
		all = append(all, path)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func (h home) write(path string, text []byte) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// archive puts the archive of a version into the home.
func (h home) archive(version string) string {
	h.t.Helper()
	name := made.suite.Archive(version, made.host)
	if err := os.Link(filepath.Join(made.archives, version, name), h.path(name)); err != nil {
		h.t.Fatal(err)
	}
	return name
}

// onlyHost is the suite as it is released for this platform alone, at an address.
func onlyHost(address string) suite.Suite {
	s := made.suite
	s.Platforms = []suite.Platform{made.host}
	if address != "" {
		s.Download = address + "/{version}/{archive}"
	}
	return s
}

// manifests writes those of a version to a directory of the home.
func (h home) manifests(s suite.Suite, version, folder string) {
	h.t.Helper()
	files, err := krew.Generate(s, version, made.versions[version].sums)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range files {
		h.write(h.path(folder, f.Name), f.Text)
	}
}

// serve serves the releases.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(made.archives)))
	t.Cleanup(server.Close)
	return server.URL
}

// publish makes the folder index a git repository with the manifests of a version, as an index
// is published.
func (h home) publish(s suite.Suite, version, index string) {
	h.t.Helper()
	h.manifests(s, version, filepath.Join(index, "plugins"))
	h.run("git init --quiet " + index)
	h.run("git -C " + index + " add plugins")
	h.run("git -C " + index + " commit --quiet -m " + version)
}
