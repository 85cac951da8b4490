package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// replaceable requires a directory that does not exist, is empty, or has only an earlier release,
// which is replaced.
func replaceable(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	known, err := ReadChecksums(filepath.Join(out, Checksums))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not a directory of a release: %w", out, err)
	}
	for _, e := range entries {
		if e.Name() != Checksums && known[e.Name()] == "" {
			return fmt.Errorf("%s would be replaced, and has %s, which its %s does not name: move that away, or give another directory with --out", out, e.Name(), Checksums)
		}
	}
	return nil
}

// stage has a release written next to the directory out, and moves it there when it is complete.
func stage(out string, write func(dir string) (Release, error)) (Release, error) {
	out = filepath.Clean(out)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return Release{}, err
	}
	staged, err := os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".new-")
	if err != nil {
		return Release{}, err
	}
	defer func() { _ = os.RemoveAll(staged) }()
	// The temporary directory also holds the old content until the new one is in place.
	fresh, old := filepath.Join(staged, "new"), filepath.Join(staged, "old")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return Release{}, err
	}
	r, err := write(fresh)
	if err != nil {
		return Release{}, err
	}
	if err := os.Rename(out, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Release{}, err
	}
	if err := os.Rename(fresh, out); err != nil {
		return Release{}, errors.Join(err, os.Rename(old, out))
	}
	return r, nil
}
