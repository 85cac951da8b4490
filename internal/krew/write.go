package krew

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ChecksumsFile is the file beside the folder of manifests with the sums they were made from.
const ChecksumsFile = "checksums.txt"

// WriteIndex makes a folder hold these manifests and nothing else, and writes the sums that
// they were made from beside it: all of that, or nothing. A folder with a file that
// [Generate] did not write is refused.
func WriteIndex(dir string, files []GeneratedFile, sums []byte) (err error) {
	if err := onlyGenerated(dir); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// In the same folder, so that it can be moved from there in one step.
	work, err := os.MkdirTemp(parent, ".krew-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	plugins := filepath.Join(work, "plugins")
	if err := os.Mkdir(plugins, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(plugins, f.Name), f.Text, 0o644); err != nil {
			return err
		}
	}
	checksums := filepath.Join(work, ChecksumsFile)
	if err := os.WriteFile(checksums, sums, 0o644); err != nil {
		return err
	}
	undo, err := exchange(plugins, dir)
	if err != nil {
		return err
	}
	if _, err := exchange(checksums, filepath.Join(parent, ChecksumsFile)); err != nil {
		return errors.Join(err, undo())
	}
	return nil
}

// exchange puts a file or folder where another may be, which is kept until its own folder goes
// and which undo brings back.
func exchange(from, to string) (undo func() error, err error) {
	old := from + ".old"
	err = os.Rename(to, old)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	back := func() error {
		if missing {
			return nil
		}
		return os.Rename(old, to)
	}
	if err := os.Rename(from, to); err != nil {
		return nil, errors.Join(err, back())
	}
	return func() error { return errors.Join(os.Rename(to, from), back()) }, nil
}

// onlyGenerated returns an error that names a file in a folder that would be lost.
func onlyGenerated(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(text, []byte(Header)) {
			return fmt.Errorf("%s was not generated and would be lost: move it, or write to another directory", path)
		}
	}
	return nil
}
