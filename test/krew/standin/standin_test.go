package standin_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/krew/standin"
)

// shop is a root, and a server with one archive: tea.tar.gz, which has bin/tea and LICENSE.
type shop struct {
	t       *testing.T
	dir     string
	address string
	sum     string
	env     map[string]string
}

func newShop(t *testing.T) shop {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for name, mode := range map[string]int64{"bin/tea": 0o755, "LICENSE": 0o644} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: 3, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("tea")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tea.tar.gz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return shop{t, dir, server.URL, hex.EncodeToString(sum[:]), map[string]string{
		"KREW_ROOT": filepath.Join(dir, "root"), "KREW_OS": "linux", "KREW_ARCH": "amd64",
	}}
}

// manifest writes one, with old written new, and returns its path.
func (s shop) manifest(path, version, old, fresh string) string {
	s.t.Helper()
	text := fmt.Sprintf(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: brew-tea
spec:
  version: %s
  homepage: https://tea.example.com
  shortDescription: Brew tea
  caveats: |
    It is hot.
  platforms:
  - selector: {matchExpressions: [{key: os, operator: In, values: [linux, windows]}]}
    uri: %s/tea.tar.gz
    sha256: %s
    bin: bin/tea
`, version, s.address, s.sum)
	if !strings.Contains(text, old) {
		s.t.Fatalf("there is no %q", old)
	}
	path = filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, old, fresh, 1)), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// run runs a command and returns what it answers, and what it says besides.
func (s shop) run(args ...string) (out, errOut string, err error) {
	s.t.Helper()
	var o, e bytes.Buffer
	k, err := standin.New(func(name string) string { return s.env[name] }, &o, &e)
	if err != nil {
		s.t.Fatal(err)
	}
	err = k.Run(s.t.Context(), args)
	return o.String(), e.String(), err
}

func (s shop) must(args ...string) string {
	s.t.Helper()
	out, errOut, err := s.run(args...)
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, errOut)
	}
	return out + errOut
}

// refused wants an error, or what is told before it, to say why.
func (s shop) refused(want string, args ...string) {
	s.t.Helper()
	_, errOut, err := s.run(args...)
	if err == nil || !strings.Contains(errOut+err.Error(), want) {
		s.t.Errorf("%v: %v\n%swant %q", args, err, errOut, want)
	}
}

// commit makes the folder of an index a repository, or a commit in it.
func (s shop) commit(folder string) string {
	s.t.Helper()
	folder = filepath.Join(s.dir, folder)
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "--allow-empty", "-m", "index"}} {
		git := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			s.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return folder
}

func (s shop) root(parts ...string) string {
	return filepath.Join(append([]string{s.dir, "root"}, parts...)...)
}

func TestInstallRefuses(t *testing.T) {
	s := newShop(t)
	archive := filepath.Join(s.dir, "tea.tar.gz")
	for _, c := range []struct{ name, old, fresh, want string }{
		{"a rule of krew", "kind: Plugin", "kind: Plugins", "rule 2"},
		{"the sum of a download", s.sum, strings.Repeat("0a", 32), "checksum does not match, want: 0a0a"},
		{"a file of the disk", s.address, "file://" + s.dir, `unsupported protocol scheme "file"`},
		{"nothing there", "tea.tar.gz", "coffee.tar.gz", "404 Not Found"},
		{"another platform", "[linux, windows]", "[darwin]", "does not offer installation for this platform (linux/amd64)"},
		{"bin missing", "bin: bin/tea", "bin: tea", "cannot be found in extracted archive"},
		{"files that find nothing", "bin: bin/tea", "bin: bin/tea\n    files: [{from: x, to: .}]", `"x" finds nothing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s
			s.t = t
			s.refused(c.want, "install", "--manifest="+s.manifest("bad.yaml", "v1.0.0", c.old, c.fresh))
			if _, err := os.Lstat(s.root("bin", "kubectl-brew_tea")); !os.IsNotExist(err) {
				t.Errorf("it is linked: %v", err)
			}
			if _, err := os.Lstat(s.root("receipts", "brew-tea.yaml")); !os.IsNotExist(err) {
				t.Errorf("there is a receipt: %v", err)
			}
		})
	}
	good := s.manifest("good.yaml", "v1.0.0", "", "")
	wrong := s.manifest("wrong.yaml", "v1.0.0", s.sum, strings.Repeat("0a", 32))
	s.refused("checksum does not match", "install", "--manifest", wrong, "--archive", archive)
	s.refused("only with --manifest", "install", "--archive", archive)
	s.refused("not both", "install", "sysop", "--manifest", good)
	s.refused("name of a plugin", "install")
	s.refused("there is no index", "install", "sysop")
	s.refused("unknown command", "buy")
	if err := os.WriteFile(s.root("bin", "kubectl-brew_tea"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.refused("is not a symlink", "install", "--manifest", good)
}

func TestInstallByManifest(t *testing.T) {
	s := newShop(t)
	manifest := s.manifest("good.yaml", "v1.0.0", "", "")
	told := s.must("install", "--manifest="+manifest)
	if !strings.Contains(told, "Installed plugin: brew-tea") || !strings.Contains(told, " |  | It is hot.") {
		t.Errorf("told:\n%s", told)
	}
	if target, err := os.Readlink(s.root("bin", "kubectl-brew_tea")); err != nil || target != "../store/brew-tea/v1.0.0/bin/tea" {
		t.Errorf("link to %q, %v", target, err)
	}
	if info, err := os.Stat(s.root("bin", "kubectl-brew_tea")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("executable: %v, %v", info, err)
	}
	if text, err := os.ReadFile(s.root("receipts", "brew-tea.yaml")); err != nil || !strings.Contains(string(text), "name: detached") {
		t.Errorf("receipt %s, %v", text, err)
	}
	if told := s.must("install", "--manifest="+manifest); !strings.Contains(told, "it is already installed") {
		t.Errorf("the second time:\n%s", told)
	}
	// What krew asks for, although it has no need of it.
	s.refused("index is not initialized", "list")
	s.refused("index is not initialized", "uninstall", "brew-tea")
	if err := os.Mkdir(filepath.Join(s.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.must("index", "add", "empty", s.commit("empty"))
	if got := s.must("list"); got != "detached/brew-tea\n" {
		t.Errorf("list %q", got)
	}
	s.refused("does not exist in the plugin index", "upgrade", "brew-tea")
	s.must("uninstall", "brew-tea")
	s.refused("is not installed", "uninstall", "brew-tea")
	for _, gone := range []string{"bin/kubectl-brew_tea", "store/brew-tea", "receipts/brew-tea.yaml"} {
		if _, err := os.Lstat(s.root(gone)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", gone, err)
		}
	}
}

// krew's trap: it says that all is well.
func TestBinOutside(t *testing.T) {
	s := newShop(t)
	s.must("install", "--manifest="+s.manifest("bad.yaml", "v1.0.0", "bin: bin/tea", "bin: ../../tea"))
	if _, err := os.Lstat(s.root("bin", "kubectl-brew_tea")); !os.IsNotExist(err) {
		t.Errorf("it is linked: %v", err)
	}
}

func TestWindows(t *testing.T) {
	s := newShop(t)
	s.env["KREW_OS"] = "windows"
	s.must("install", "--manifest="+s.manifest("good.yaml", "v1.0.0", "", ""))
	if _, err := os.Lstat(s.root("bin", "kubectl-brew_tea.exe")); err != nil {
		t.Error(err)
	}
}

func TestIndex(t *testing.T) {
	s := newShop(t)
	s.manifest("index/plugins/brew-tea.yaml", "v1.0.0", "", "")
	index := s.commit("index")
	s.must("index", "add", "tea", index)
	s.refused("already exists", "index", "add", "tea", index)
	s.refused("invalid index name", "index", "add", "../tea", index)
	if got := s.must("index", "list"); !strings.Contains(got, "tea    "+index) {
		t.Errorf("indexes:\n%s", got)
	}
	s.refused("does not exist in the plugin index", "install", "brew-tea")
	s.must("install", "tea/brew-tea")
	if got := s.must("search", "brew"); !strings.Contains(got, "tea/brew-tea  Brew tea     yes") {
		t.Errorf("search:\n%s", got)
	}
	if got := s.must("info", "tea/brew-tea"); !strings.Contains(got, "SHA256: "+s.sum) || !strings.Contains(got, " | It is hot.") {
		t.Errorf("info:\n%s", got)
	}
	s.refused("newest version", "upgrade", "brew-tea")
	s.manifest("index/plugins/brew-tea.yaml", "v1.0.1", "", "")
	s.commit("index")
	if told := s.must("upgrade", "--no-update-index"); !strings.Contains(told, "already on the newest version") {
		t.Errorf("without an update:\n%s", told)
	}
	s.must("upgrade")
	if target, err := os.Readlink(s.root("bin", "kubectl-brew_tea")); err != nil || target != "../store/brew-tea/v1.0.1/bin/tea" {
		t.Errorf("link to %q, %v", target, err)
	}
	if _, err := os.Stat(s.root("store", "brew-tea", "v1.0.0")); !os.IsNotExist(err) {
		t.Errorf("the old version is there: %v", err)
	}
	s.refused("still plugins installed", "index", "remove", "tea")
	s.must("uninstall", "brew-tea")
	s.must("index", "remove", "tea")
	s.refused(`"tea" does not exist`, "index", "remove", "tea")
}

// The file of a manifest in an index has its name.
func TestIndexOfWrongName(t *testing.T) {
	s := newShop(t)
	s.manifest("index/plugins/tea.yaml", "v1.0.0", "", "")
	s.env["KREW_DEFAULT_INDEX_URI"] = s.commit("index")
	s.must("update")
	s.refused("rule 4", "install", "tea")
}
