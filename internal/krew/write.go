package krew

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ChecksumsFile is the file next to the directory of manifests with the sums that they were made
// from.
const ChecksumsFile = "checksums.txt"

// WriteIndex replaces the content of a directory by these manifests, and writes the sums that they
// were made from next to it. It refuses a directory with a file that [Generate] did not write,
// before it writes anything.
func WriteIndex(dir string, files []GeneratedFile, sums []byte) error {
	if err := onlyGenerated(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(filepath.Dir(filepath.Clean(dir)), ChecksumsFile), sums, 0o644)
}

// onlyGenerated returns an error that names a file in a directory that would be lost.
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
