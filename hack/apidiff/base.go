package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// git runs git in a directory, and returns its output, or its stderr as an error.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// root returns the top of the checkout that a directory is in.
func root(ctx context.Context, dir string) (string, error) {
	return git(ctx, dir, "rev-parse", "--show-toplevel")
}

// latestTag returns the nearest version tag before HEAD, or "".
func latestTag(ctx context.Context, top string) (string, error) {
	tags, err := git(ctx, top, "tag", "--list", "v[0-9]*", "--merged", "HEAD")
	if err != nil || tags == "" {
		return "", err
	}
	return git(ctx, top, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
}

// worktree checks a revision out into a temporary worktree. The returned function removes it, even
// after the context has ended.
func worktree(ctx context.Context, top, revision string) (string, func(), error) {
	commit, err := git(ctx, top, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, fmt.Errorf("no commit %q is known here: name a tag, a branch or a commit, or git fetch --tags", revision)
	}
	temp, err := os.MkdirTemp("", "apidiff-")
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Join(temp, "base")
	remove := func() {
		// prune forgets the worktree once its directory is removed, however far git came.
		_ = os.RemoveAll(temp)
		_, _ = git(context.WithoutCancel(ctx), top, "worktree", "prune")
	}
	if _, err := git(ctx, top, "worktree", "add", "--quiet", "--detach", dir, commit); err != nil {
		remove()
		return "", nil, fmt.Errorf("check %s out: %w", revision, err)
	}
	return dir, remove, nil
}
