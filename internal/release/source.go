package release

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// takeSource copies the source to dir, and returns the time of the release. It copies the commit
// and not the checkout, which may have ignored files that would be embedded, and converted line
// ends.
func takeSource(ctx context.Context, o Options, dir string) (time.Time, error) {
	if o.AllowDirty {
		return takeDirty(ctx, o, dir)
	}
	changed, err := git(ctx, o.Root, "status", "--porcelain")
	if err != nil {
		return time.Time{}, err
	}
	if lines := strings.Split(strings.TrimRight(string(changed), "\n"), "\n"); lines[0] != "" {
		suffix := ""
		if len(lines) > 1 {
			suffix = fmt.Sprintf(" and %d more", len(lines)-1)
		}
		return time.Time{}, fmt.Errorf("%s has changes that are not committed (%s%s): commit or stash them, or try it out with --allow-dirty", o.Root, strings.TrimSpace(lines[0]), suffix)
	}
	if err := checkTag(ctx, o); err != nil {
		return time.Time{}, err
	}
	archive, err := git(ctx, o.Root, "-c", "core.autocrlf=false", "-c", "core.eol=lf", "archive", "--format=tar", "HEAD")
	if err != nil {
		return time.Time{}, err
	}
	if err := unpack(archive, dir); err != nil {
		return time.Time{}, err
	}
	return epoch(ctx, o)
}

// checkTag requires the tag of the version, if it exists, at the commit.
func checkTag(ctx context.Context, o Options) error {
	tagged, err := git(ctx, o.Root, "rev-list", "-n", "1", "--ignore-missing", "refs/tags/"+o.Version)
	if err != nil {
		return err
	}
	head, err := git(ctx, o.Root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if len(tagged) > 0 && !bytes.Equal(tagged, head) {
		return fmt.Errorf("tag %s is at commit %.12s, and the checkout at %.12s: check the tag out, or give another version", o.Version, tagged, head)
	}
	return nil
}

func epoch(ctx context.Context, o Options) (time.Time, error) {
	if !o.Epoch.IsZero() {
		return o.Epoch.UTC(), nil
	}
	text, err := git(ctx, o.Root, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, fmt.Errorf("the time of the commit: %w; SOURCE_DATE_EPOCH gives another", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// takeDirty copies the checkout with its changes: what git has and would add, or without git
// everything that is not hidden.
func takeDirty(ctx context.Context, o Options, dir string) (time.Time, error) {
	at, err := epoch(ctx, o)
	if err != nil {
		return time.Time{}, err
	}
	var names []string
	listed, err := git(ctx, o.Root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err == nil {
		names = strings.Split(strings.TrimRight(string(listed), "\x00"), "\x00")
	} else if names, err = everything(o.Root); err != nil {
		return time.Time{}, err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(o.Root, filepath.FromSlash(name)))
		if errors.Is(err, os.ErrNotExist) { // deleted without a commit
			continue
		}
		if err == nil {
			err = writeBelow(dir, name, data)
		}
		if err != nil {
			return time.Time{}, err
		}
	}
	return at, nil
}

func everything(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") || path == filepath.Join(root, "dist") || path == filepath.Join(root, "bin")) {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			name, err := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	return names, err
}

func unpack(archive []byte, dir string) error {
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			data, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			if err := writeBelow(dir, h.Name, data); err != nil {
				return err
			}
		case tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			return fmt.Errorf("%s: a release is made of plain files, and this is none", h.Name)
		}
	}
}

func writeBelow(dir, name string, data []byte) error {
	path := filepath.FromSlash(name)
	if !filepath.IsLocal(path) {
		return fmt.Errorf("%q leads out of its directory", name)
	}
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	return output(ctx, cmd, "git "+strings.Join(args, " "))
}

// output runs a command; the error includes its stderr.
func output(ctx context.Context, cmd *exec.Cmd, name string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}
