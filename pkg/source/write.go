package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// ErrExists reports that a file exists and force is not set.
var ErrExists = errors.New("the file exists")

// Write writes a snapshot to a file, atomically: YAML, or with a name in .json one JSON document on
// each line; gzipped with a name in .gz. With force it replaces a file, or a link to one (not its
// target); it never replaces a directory, a device or a pipe.
func Write(name string, head SnapshotHeader, objects []map[string]any, force bool) error {
	if err := replaceable(name, force); err != nil {
		return err
	}
	// A snapshot is private to its owner: CreateTemp makes it 0600.
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(fill(f, name, head, objects), f.Close())
	if err == nil {
		err = place(f.Name(), name, force)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// replaceable returns why a name cannot be written to.
func replaceable(name string, force bool) error {
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file (%s)", name, info.Mode().Type())
	}
	if !force {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	return nil
}

func fill(f *os.File, name string, head SnapshotHeader, objects []map[string]any) error {
	asJSON := filepath.Ext(strings.TrimSuffix(name, ".gz")) == ".json"
	if err := WriteTo(f, asJSON, strings.HasSuffix(name, ".gz"), head, objects); err != nil {
		return err
	}
	return f.Sync()
}

// place gives a finished file its name.
func place(temp, name string, force bool) error {
	if force {
		return os.Rename(temp, name)
	}
	// A link fails if the name has been taken meanwhile; a rename would not. A file system without
	// links has only rename.
	err := os.Link(temp, name)
	switch {
	case err == nil:
		// The snapshot exists under its name; a leftover temporary file is no failure.
		_ = os.Remove(temp)
		return nil
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	return os.Rename(temp, name)
}

// WriteTo writes a snapshot to a stream. The header comes first and has the number of objects; YAML
// ends with the mark "...", so that a truncation shows even within the last object.
func WriteTo(w io.Writer, asJSON, zip bool, head SnapshotHeader, objects []map[string]any) error {
	out := bufio.NewWriter(w)
	var to io.Writer = out
	var gz *gzip.Writer
	if zip {
		gz = gzip.NewWriter(out)
		to = gz
	}
	head.APIVersion, head.Kind, head.Objects = APIVersion, HeadKind, len(objects)
	if err := writeDocument(to, head, asJSON); err != nil {
		return fmt.Errorf("write the head: %w", err)
	}
	for _, o := range objects {
		if err := writeDocument(to, o, asJSON); err != nil {
			return fmt.Errorf("write %v %v: %w", o["kind"], name(o), err)
		}
	}
	if !asJSON {
		if _, err := io.WriteString(to, endMark); err != nil {
			return err
		}
	}
	if gz != nil {
		if err := gz.Close(); err != nil {
			return err
		}
	}
	return out.Flush()
}

func name(o map[string]any) any {
	meta, _ := o["metadata"].(map[string]any)
	return meta["name"]
}

func writeDocument(w io.Writer, doc any, asJSON bool) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	b = strict.PlainNumbers(b)
	if asJSON {
		_, err = w.Write(append(b, '\n'))
		return err
	}
	b = append(escaped(b), '\n')
	// The YAML writer leaves a field "<<" unquoted, which then merges. JSON is YAML as well.
	if !bytes.Contains(b, []byte(`"\u003c\u003c":`)) {
		if b, err = strict.YAML(b); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(w, "---\n"); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// escaped escapes the characters of JSON that YAML does not allow literally (DEL, C1 controls, byte
// order marks).
func escaped(b []byte) []byte {
	odd := func(r rune) bool {
		return r >= utf8.RuneSelf-1 && !unicode.IsGraphic(r) && r < 1<<16
	}
	if bytes.IndexFunc(b, odd) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for _, r := range string(b) {
		if odd(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
