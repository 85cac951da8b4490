package release

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive. It has no time and no owner of the file on disk, and of the mode
// only whether it is executable.
type file struct {
	name       string
	data       []byte
	executable bool
}

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// writeArchive writes a tar.gz or a zip, by the extension.
func writeArchive(path string, files []file, at time.Time) (err error) {
	files, err = inOrder(files)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	pack := packTar
	if strings.HasSuffix(path, ".zip") {
		pack = packZip
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := pack(w, files, at); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return w.Flush()
}

// inOrder sorts files by name, and refuses names with a directory: some tools unpack to any path.
func inOrder(files []file) ([]file, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for i, f := range files {
		if !fs.ValidPath(f.name) || f.name == "." || strings.ContainsAny(f.name, `/\:`) {
			return nil, fmt.Errorf("%q is not a name of a file at the top of an archive", f.name)
		}
		if i > 0 && strings.EqualFold(f.name, files[i-1].name) {
			return nil, fmt.Errorf("%q occurs twice", f.name)
		}
	}
	return files, nil
}

func packTar(w io.Writer, files []file, at time.Time) error {
	// A zero Header has neither a name nor a time.
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
			Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: at.Truncate(time.Second),
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func packZip(w io.Writer, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		// In UTC, since a zip also has the local time.
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.mode())
		one, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := one.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}
