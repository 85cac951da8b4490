package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goSettings are those by which the go command finds what it has, and fetches what it has
// not: a fresh home has none of what "go env -w" wrote.
func goSettings(t *testing.T) (env []string) {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE", "GOTOOLCHAIN", "GOFLAGS"}
	text, err := exec.CommandContext(t.Context(), "go", append([]string{"env", "-json"}, names...)...).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	settings := map[string]string{}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		env = append(env, name+"="+settings[name])
	}
	return env
}

// cloned makes a clone of the checkout as it is now, committed or not.
func (n newcomer) cloned(t *testing.T, origin string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v: the newcomer's path begins with a git clone, so this folder has to be one", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if err := copied(filepath.Join(root, name), filepath.Join(origin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-C", origin, "init", "--quiet"},
		{"-C", origin, "add", "--all"},
		{"-C", origin, "-c", "user.name=newcomer", "-c", "user.email=newcomer@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "as it is now"},
		{"clone", "--quiet", origin, n.clone},
	} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Env = append(os.Environ(), "HOME="+n.home, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if text, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
}

// copied copies a file with its mode. One that git knows and that was removed is no error.
func copied(from, to string) error {
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}
