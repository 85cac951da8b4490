package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// cachePath is where a file with a digest is kept; empty without a cache.
func (f *Fetcher) cachePath(digest, suffix string) string {
	if f.options.Cache == "" {
		return ""
	}
	return filepath.Join(f.options.Cache, "sha256", strings.TrimPrefix(digest, digestPrefix)+suffix)
}

// recall returns the file with a digest from the cache, or nil. It removes a damaged file, and
// returns a note about it.
func (f *Fetcher) recall(digest string) (data []byte, note string) {
	path := f.cachePath(digest, "")
	if path == "" || digest == "" {
		return nil, ""
	}
	data, err := readRegular(path, f.options.Limits.Bytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ""
	case err == nil && Digest(data) == digest:
		return data, ""
	case err == nil:
		err = errors.New("its content does not match its digest")
	}
	note = fmt.Sprintf("the cached file %s was damaged and is deleted: %v", path, err)
	if err := os.Remove(path); err != nil {
		note = fmt.Sprintf("the cached file %s is damaged and is not used: %v", path, err)
	}
	return nil, note
}

// held are the files that are put into the cache once all of what was asked for was checked:
// its digests, its signature, and what is in it. Nothing that is refused stays there.
type held struct {
	files []heldFile
}

type heldFile struct {
	path string
	data []byte
}

type heldKey struct{}

// holding is a context whose files stay when release is called.
func holding(ctx context.Context) (context.Context, *held) {
	h := &held{}
	return context.WithValue(ctx, heldKey{}, h), h
}

// keep holds a file for the cache until all else was checked.
func (f *Fetcher) keep(ctx context.Context, digest, suffix string, data []byte) {
	path := f.cachePath(digest, suffix)
	if h, ok := ctx.Value(heldKey{}).(*held); ok && path != "" {
		h.files = append(h.files, heldFile{path, data})
	}
}

// release writes what is held. That a cache cannot be written to is a note.
func (h *held) release() (notes []string) {
	for _, file := range h.files {
		if err := writeWhole(file.path, file.data); err != nil {
			notes = append(notes, fmt.Sprintf("not cached: %v", err))
		}
	}
	return notes
}

// writeWhole writes a file so that it is never seen half-written.
func writeWhole(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// readRegular reads a file of the disk that is a file indeed, and not too large.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return bounded(file, most)
}

// appendNote adds a note where there is one.
func appendNote(notes []string, more ...string) []string {
	for _, note := range more {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}
