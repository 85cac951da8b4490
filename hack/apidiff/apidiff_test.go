package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository has the old module in a commit, and the new one in the checkout.
func repository(t *testing.T, tag string) string {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
		// A git hook that runs the tests sets these to its own repository.
		"GIT_DIR": "", "GIT_WORK_TREE": "", "GIT_INDEX_FILE": "",
	} {
		t.Setenv(name, value)
		if value == "" {
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("TMPDIR", t.TempDir())
	put(t, dir, "old")
	steps := [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "-m", "old"}}
	if tag != "" {
		steps = append(steps, []string{"tag", tag})
	}
	for _, step := range steps {
		if _, err := git(t.Context(), dir, step...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "pkg")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "new")
	return dir
}

// put replaces a directory by a module of testdata.
func put(t *testing.T, dir, module string) {
	t.Helper()
	from := os.DirFS(filepath.Join("testdata", module))
	if module == "new" {
		if err := os.Remove(filepath.Join(dir, "go.mod")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, from); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// clean checks that a comparison leaves nothing behind.
func clean(t *testing.T, dir string) {
	t.Helper()
	trees, err := git(t.Context(), dir, "worktree", "list")
	if err != nil || strings.Contains(trees, "\n") {
		t.Errorf("worktrees are left: %s, %v", trees, err)
	}
	rest, err := filepath.Glob(filepath.Join(os.TempDir(), "apidiff-*"))
	if err != nil || len(rest) > 0 {
		t.Errorf("folders are left: %v, %v", rest, err)
	}
}

const want = `pkg/fresh is new
pkg/gone is gone: breaks who imports it
pkg/shop
  breaks
    Interface.Two: added
    Method.Gone: removed
    Most: value changed from 1 to 2
    Removed: removed
    Signature: changed from func(int) to func(int, string)
    Struct.Dropped: removed
    Struct.Field: changed from int to string
  adds
    Added: added
    Method.Came: added
    Struct.Added: added
since v0.1.0: 8 incompatible, 4 compatible, in 3 of 4 packages
`

func TestEachBreak(t *testing.T) {
	dir := repository(t, "v0.1.0")
	for name, c := range map[string]struct {
		changelog string
		args      []string
		code      int
		told      string
	}{
		"told":             {"", nil, exitDone, "does not announce it"},
		"without a word":   {"", []string{"--fail"}, exitBroken, "does not announce it"},
		"announced":        {"# Changelog\n\n## Unreleased\n\n### Added\n\n- x\n\n" + heading + "\n\n- y\n", []string{"--fail"}, exitDone, "announces it"},
		"an empty heading": {"## Unreleased\n\n" + heading + "\n\n### Added\n\n- x\n", []string{"--fail"}, exitBroken, "does not announce it"},
		"one before":       {"## Unreleased\n\n- x\n\n## v0.1.0\n\n" + heading + "\n\n- y\n", []string{"--fail"}, exitBroken, "does not announce it"},
		"a base":           {"", []string{"--fail", "--base", "v0.1.0"}, exitBroken, "does not announce it"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, dir, changelog, c.changelog)
			var out, errOut bytes.Buffer
			if code := run(t.Context(), c.args, dir, &out, &errOut); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, &errOut)
			}
			report, last, _ := strings.Cut(out.String(), changelog)
			if report != want || !strings.Contains(last, c.told) {
				t.Errorf("got\n%s\nwant\n%s... %s", &out, want, c.told)
			}
			clean(t, dir)
		})
	}
}

// In the other direction an addition is a breaking change; compared with itself, nothing changed.
func TestNothingChanged(t *testing.T) {
	dir := repository(t, "v0.1.0")
	for _, step := range [][]string{{"add", "--all"}, {"commit", "--quiet", "-m", "new"}} {
		if _, err := git(t.Context(), dir, step...); err != nil {
			t.Fatal(err)
		}
	}
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"--base", "HEAD", "--fail"}, dir, &out, &errOut); code != exitDone || out.String() != "since HEAD: 0 incompatible, 0 compatible, in 0 of 3 packages\n" {
		t.Errorf("exit code %d: %s%s", code, &out, &errOut)
	}
}

func TestWithoutATag(t *testing.T) {
	dir := repository(t, "")
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"--fail"}, dir, &out, &errOut); code != exitDone || !strings.Contains(out.String(), "no tag") || !strings.Contains(out.String(), "BASE=") {
		t.Errorf("exit code %d: %s%s", code, &out, &errOut)
	}
}

func TestErrors(t *testing.T) {
	dir := repository(t, "v0.1.0")
	for name, c := range map[string]struct {
		args []string
		told []string
	}{
		"unknown base": {[]string{"--base", "v9"}, []string{`"v9"`, "git fetch --tags"}},
		"an option":    {[]string{"--base", "--output=x"}, []string{`"--output=x"`}},
		"an argument":  {[]string{"v0.1.0"}, []string{`"v0.1.0"`, "--base"}},
		"a flag":       {[]string{"--bas", "x"}, []string{"-bas"}},
	} {
		t.Run(name, func(t *testing.T) { fails(t, t.Context(), dir, c.args, c.told...) })
	}
	t.Run("ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		fails(t, ctx, dir, nil, "canceled")
	})
	t.Run("ended at work", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		then, remove, err := worktree(ctx, dir, "v0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := load(ctx, then); err == nil {
			t.Error("no error")
		}
		remove()
		clean(t, dir)
	})
	t.Run("does not compile", func(t *testing.T) {
		write(t, dir, "pkg/shop/shop.go", "package shop\n\nvar X = y\n")
		fails(t, t.Context(), dir, nil, "load the checkout", "shop.go:3:9", "undefined: y")
	})
	t.Run("no repository", func(t *testing.T) {
		fails(t, t.Context(), os.TempDir(), nil, "not a git repository")
	})
}

func fails(t *testing.T, ctx context.Context, dir string, args []string, wants ...string) { //nolint:revive // t comes first in helpers of tests
	t.Helper()
	var out, errOut bytes.Buffer
	if code := run(ctx, args, dir, &out, &errOut); code != exitError || out.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &out)
	}
	for _, s := range wants {
		if !strings.Contains(errOut.String(), s) {
			t.Errorf("%s\nsays nothing of %s", &errOut, s)
		}
	}
	if trees, err := git(t.Context(), dir, "worktree", "list"); err == nil && strings.Contains(trees, "\n") {
		t.Errorf("worktrees are left: %s", trees)
	}
}
