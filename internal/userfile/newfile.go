package userfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// WriteNew writes a file, whole or not at all; force replaces another one. kind names it in errors.
func WriteNew(kind, name string, text []byte, force bool) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".system-*")
	if err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // It is gone where all went well.
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	if force {
		err = os.Rename(temp.Name(), name)
	} else if err = os.Link(temp.Name(), name); err != nil && !errors.Is(err, os.ErrExist) {
		err = Claim(temp.Name(), name)
	}
	switch {
	case errors.Is(err, os.ErrExist):
		return hint.With(fmt.Errorf("write the %s: %s exists", kind, name), "--force replaces it")
	case err != nil:
		return fmt.Errorf("write the %s: %w", kind, err)
	}
	return nil
}

// Claim renames a file to an unused name on file systems without links; a link would never replace
// a file.
func Claim(temp, name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Rename(temp, name)); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
