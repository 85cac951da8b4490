package krew

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// Archives are files that manifests name, in a folder. Each is read once, when it is first
// asked for. They can be asked from several goroutines.
type Archives struct {
	folder fs.FS
	mu     sync.Mutex
	known  map[string]*Archive
}

// NewArchives are the files of a folder.
func NewArchives(folder fs.FS) *Archives {
	return &Archives{folder: folder, known: map[string]*Archive{}}
}

// Archive is what linting needs of one.
type Archive struct {
	// SHA256 is its sum, in lower-case hexadecimal digits.
	SHA256 string
	// Entries are what it holds, in its order.
	Entries []Entry
	// Err is why krew does not unpack it: an [EntryError], an [UnsupportedError], or what
	// the archive's reader says.
	Err error
}

// Entry is a file or a folder in an archive.
type Entry struct {
	// Name is its path, with slashes and relative.
	Name string
	Mode fs.FileMode
}

// UnsupportedError is an archive of a type that krew does not unpack.
type UnsupportedError struct{ Type string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("it is %s, and krew unpacks only zip files and tar files in gzip", e.Type)
}

// EntryError is an entry that krew refuses to unpack.
type EntryError struct{ Name, Why string }

func (e *EntryError) Error() string { return fmt.Sprintf("its entry %q %s", e.Name, e.Why) }

// open reads an archive, or returns the one read before. An error is one of reading the file.
func (a *Archives) open(name string) (*Archive, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.known[name]; ok {
		return known, nil
	}
	data, err := fs.ReadFile(a.folder, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	archive := &Archive{SHA256: hex.EncodeToString(sum[:])}
	archive.Err = Unpack(data, func(e Entry, content io.Reader) error {
		archive.Entries = append(archive.Entries, e)
		_, err := io.Copy(io.Discard, content)
		return err
	})
	a.known[name] = archive
	return archive, nil
}

// Unpack gives each entry of an archive to a function, in order. The type is told by the
// first bytes, and entries are refused, as krew does it. An error of the function ends it.
func Unpack(data []byte, each func(Entry, io.Reader) error) error {
	switch kind := http.DetectContentType(data); kind {
	case "application/zip":
		return unpackZip(data, each)
	case "application/x-gzip":
		return unpackTar(data, each)
	default:
		kind, _, _ = strings.Cut(kind, ";")
		return &UnsupportedError{kind}
	}
}

func unpackZip(data []byte, each func(Entry, io.Reader) error) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("read the zip file: %w", err)
	}
	for _, f := range r.File {
		if err := unpackZipped(f, each); err != nil {
			return err
		}
	}
	return nil
}

func unpackZipped(f *zip.File, each func(Entry, io.Reader) error) (err error) {
	if err := checkEntry(f.Name); err != nil {
		return err
	}
	if !f.Mode().IsRegular() && !f.Mode().IsDir() {
		return &EntryError{f.Name, "is neither a file nor a directory"}
	}
	content, err := f.Open()
	if err != nil {
		return fmt.Errorf("read %s in the zip file: %w", f.Name, err)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return each(Entry{path.Clean(f.Name), f.Mode()}, content)
}

func unpackTar(data []byte, each func(Entry, io.Reader) error) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the gzip file: %w", err)
	}
	r := tar.NewReader(unzipped)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the tar file: %w", err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := checkEntry(h.Name); err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
			return &EntryError{h.Name, "is neither a file nor a directory"}
		}
		if err := each(Entry{path.Clean(h.Name), h.FileInfo().Mode()}, r); err != nil {
			return err
		}
	}
}

// checkEntry is as strict as krew: two dots are refused wherever they are in a path.
func checkEntry(name string) error {
	switch {
	case strings.Contains(name, ".."):
		return &EntryError{name, "has .. in its path"}
	case strings.HasPrefix(name, "/"), strings.HasPrefix(name, `\`):
		return &EntryError{name, "has an absolute path"}
	}
	return nil
}
