package release

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// tiny is the suite of testdata/tiny, for the platforms of the real one.
func tiny(t *testing.T) Options {
	t.Helper()
	s, err := suite.Read("../../plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "checkout")
	if err := os.CopyFS(root, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	return Options{
		Suite:   suite.Suite{Name: "tiny", Binary: "tiny", License: "MIT", Platforms: s.Platforms},
		Version: "v1.2.3", Root: root, Out: filepath.Join(t.TempDir(), "dist"),
	}
}

// commit makes a checkout of a folder, with a commit of a time.
func commit(t *testing.T, root string, at time.Time, args ...string) {
	t.Helper()
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "all"}, args...),
	} {
		cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE="+at.Format(time.RFC3339))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTwoBuildsAreEqual builds a small module for all platforms: in two folders whose paths
// have different lengths, from files of other times and modes, and with a build cache that is
// empty for the second. The way is the same as that of the plugin itself.
func TestTwoBuildsAreEqual(t *testing.T) {
	o := tiny(t)
	commit(t, o.Root, noon)
	first, err := Build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Epoch.Equal(noon) || len(first.Artifacts) != 2*len(o.Suite.Platforms) {
		t.Fatalf("%+v", first)
	}
	second := tiny(t)
	second.Root = moved(t, second.Root)
	commit(t, second.Root, noon)
	second.Cache = t.TempDir()
	second.Work = filepath.Join(t.TempDir(), "a-folder-whose-path-is-of-another-length", "and-deeper")
	if err := os.MkdirAll(second.Work, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "TZ": "Asia/Tokyo", "LANG": "tr_TR.UTF-8", "GOFLAGS": "-ldflags=-X=example.org/tiny/internal/cli.Version=other -tags=other",
		"GOAMD64": "v3", "GOEXPERIMENT": "nogreenteagc", "CGO_ENABLED": "1", "GODEBUG": "http2client=0",
	} {
		t.Setenv(name, value)
	}
	sums, err := ReadChecksums(filepath.Join(o.Out, Checksums))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Verify(t.Context(), second, sums)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(first.Artifacts) {
		t.Errorf("%d artifacts were compared of %d", len(rows), len(first.Artifacts))
	}
	for _, row := range rows {
		if !row.Same() || row.Size == 0 {
			t.Errorf("%s: first %s, then %s", row.Name, row.First, row.Second)
		}
	}
}

// moved is a copy of a folder under a longer path, with other times and modes of files.
func moved(t *testing.T, root string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "another", "place", "with", "a", "longer", "path")
	if err := os.CopyFS(to, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return errors.Join(os.Chtimes(path, noon, noon), os.Chmod(path, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestChangesAreRefusedUnlessAllowed(t *testing.T) {
	o := tiny(t)
	commit(t, o.Root, noon)
	write(t, filepath.Join(o.Root, "new.txt"), "x")
	_, err := Build(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "new.txt") || !strings.Contains(err.Error(), "--allow-dirty") {
		t.Errorf("%v", err)
	}
	o.AllowDirty = true
	write(t, filepath.Join(o.Root, ".gitignore"), "/ignored\n")
	write(t, filepath.Join(o.Root, "ignored"), "x")
	dir := t.TempDir()
	if _, err := takeSource(t.Context(), o, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"new.txt": true, "go.mod": true, "cmd/tiny/main.go": true, "ignored": false, ".git": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsBuiltIsTheCommit(t *testing.T) {
	o := tiny(t)
	write(t, filepath.Join(o.Root, ".gitignore"), "/cmd/tiny/more.go\n")
	commit(t, o.Root, noon)
	write(t, filepath.Join(o.Root, "cmd/tiny/more.go"), "package main\n\nfunc init() { println(`not committed`) }\n")
	dir := t.TempDir()
	if _, err := takeSource(t.Context(), o, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cmd/tiny/more.go")); err == nil {
		t.Error("what git ignores would be built too")
	}
}

func TestATagElsewhereIsRefused(t *testing.T) {
	o := tiny(t)
	commit(t, o.Root, noon)
	if _, err := git(t.Context(), o.Root, "tag", o.Version); err != nil {
		t.Fatal(err)
	}
	if _, err := takeSource(t.Context(), o, t.TempDir()); err != nil {
		t.Errorf("the tag is at the commit: %v", err)
	}
	commit(t, o.Root, noon, "--allow-empty")
	if _, err := takeSource(t.Context(), o, t.TempDir()); err == nil || !strings.Contains(err.Error(), "tag v1.2.3 is at commit") {
		t.Errorf("%v", err)
	}
}

func TestWithoutGitATimeIsWanted(t *testing.T) {
	o := tiny(t)
	if _, err := Build(t.Context(), o); err == nil || !strings.Contains(err.Error(), "git") {
		t.Errorf("%v", err)
	}
	o.AllowDirty = true
	if _, err := takeSource(t.Context(), o, t.TempDir()); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("%v", err)
	}
	o.Epoch = noon
	dir := t.TempDir()
	if at, err := takeSource(t.Context(), o, dir); err != nil || !at.Equal(noon) {
		t.Errorf("%v, %v", at, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "internal/cli/version.go")); err != nil {
		t.Error(err)
	}
}

func TestVersionsThatAreNone(t *testing.T) {
	for _, version := range []string{"", "1.2.3", "v1.2", "v01.2.3", "latest"} {
		o := tiny(t)
		o.Version = version
		if _, err := Build(t.Context(), o); err == nil || !strings.Contains(err.Error(), "expected vMAJOR.MINOR.PATCH") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// TestWhatWasThereStays stops builds in the middle: by an error in the code, a file that is
// missing, and the end of the context.
func TestWhatWasThereStays(t *testing.T) {
	for name, spoil := range map[string]func(root string) context.Context{
		"code": func(root string) context.Context {
			write(t, filepath.Join(root, "cmd/tiny/main.go"), "package main\n\nfunc main() { nothing() }\n")
			return t.Context()
		},
		"file": func(root string) context.Context {
			if err := os.Remove(filepath.Join(root, "NOTICE")); err != nil {
				t.Fatal(err)
			}
			return t.Context()
		},
		"stopped": func(string) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := tiny(t)
			o.AllowDirty, o.Epoch = true, noon
			for _, p := range o.Suite.Platforms {
				if p.String() == host() {
					o.Platforms = []suite.Platform{p}
				}
			}
			earlier := strings.Repeat("0", 64) + "  tiny_v1.0.0_linux_amd64.tar.gz\n"
			if err := os.Mkdir(o.Out, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(o.Out, Checksums), earlier)
			write(t, filepath.Join(o.Out, "tiny_v1.0.0_linux_amd64.tar.gz"), "old")
			if _, err := Build(spoil(o.Root), o); err == nil {
				t.Fatal("it was built")
			}
			b, err := os.ReadFile(filepath.Join(o.Out, Checksums))
			if err != nil || string(b) != earlier {
				t.Errorf("%s, %v", b, err)
			}
			if files, _ := filepath.Glob(filepath.Join(filepath.Dir(o.Out), "*")); len(files) != 1 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

func TestAnEarlierReleaseIsReplacedAndNothingElse(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	put := func(name string) func(string) (Release, error) {
		return func(dir string) (Release, error) {
			write(t, filepath.Join(dir, name), name)
			return Release{}, WriteChecksums(filepath.Join(dir, Checksums), []Artifact{{Name: name, SHA256: strings.Repeat("0", 64)}})
		}
	}
	for _, name := range []string{"one.zip", "two.zip"} {
		if err := replaceable(out); err != nil {
			t.Fatal(err)
		}
		if _, err := stage(out, put(name)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 2 || entries[1].Name() != "two.zip" {
		t.Errorf("%v, %v", entries, err)
	}
	write(t, filepath.Join(out, "thesis.tex"), "x")
	if err := replaceable(out); err == nil || !strings.Contains(err.Error(), "thesis.tex") || !strings.Contains(err.Error(), "--out") {
		t.Errorf("%v", err)
	}
}

func TestLinkerFlagsAreThoseOfTheMakefile(t *testing.T) {
	b, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "LDFLAGS := -s -w -X github.com/kubectl-sysop/kubectl-sysop/internal/cli.Version=$(VERSION)"; !bytes.Contains(b, []byte(want)) {
		t.Errorf("the Makefile has no %s", want)
	}
}

func TestWhatIsDifferentIsTold(t *testing.T) {
	o := tiny(t)
	linux, windows := suite.Platform{OS: "linux", Arch: "amd64"}, suite.Platform{OS: "windows", Arch: "amd64"}
	o.Platforms = []suite.Platform{linux}
	same, other, missing, elsewhere := o.Suite.Archive(o.Version, linux), BillName(o.Suite, o.Version, linux), "more.zip", o.Suite.Archive(o.Version, windows)
	first := chosen(o, map[string]string{same: "1", other: "2", missing: "3", elsewhere: "4"})
	rows := compare(first, Release{Artifacts: []Artifact{{Name: same, SHA256: "1"}, {Name: other, SHA256: "x"}}})
	verdicts := map[string]bool{}
	for _, row := range rows {
		verdicts[row.Name] = row.Same()
	}
	if len(verdicts) != 3 || !verdicts[same] || verdicts[other] || verdicts[missing] {
		t.Errorf("%v", verdicts)
	}
}
