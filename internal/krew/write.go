package krew

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFolder makes a folder hold these manifests and nothing else: all of them, or what it
// held before. A folder with a file that [Generate] did not write is refused.
func WriteFolder(dir string, files []GeneratedFile) (err error) {
	before, err := generatedIn(dir)
	if err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(parent, ".krew-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	next, old := filepath.Join(work, "new"), filepath.Join(work, "old")
	if err := os.Mkdir(next, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(next, f.Name), f.Text, 0o644); err != nil {
			return err
		}
	}
	if before {
		if err := os.Rename(dir, old); err != nil {
			return err
		}
	}
	if err := os.Rename(next, dir); err != nil {
		if before {
			return errors.Join(err, os.Rename(old, dir))
		}
		return err
	}
	return nil
}

// generatedIn says whether there is a folder; an error names a file in it that would be lost.
func generatedIn(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return true, err
		}
		if !bytes.HasPrefix(text, []byte(Header)) {
			return true, fmt.Errorf("%s was not generated and would be lost: move it, or write to another folder", path)
		}
	}
	return true, nil
}
