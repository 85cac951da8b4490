package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Added says what Add did.
type Added struct {
	// File is the file of the entry, in the directory that was given.
	File string `json:"file"`
	// New says that the file did not exist.
	New bool `json:"new"`
	// Versions are those that were added, Replaced those that existed in another form,
	// Same those that already existed unchanged.
	Versions []string `json:"versions,omitempty"`
	Replaced []string `json:"replaced,omitempty"`
	Same     []string `json:"same,omitempty"`
	// Notes say what of the entry was not taken over.
	Notes []string `json:"notes,omitempty"`
}

// ExistsError says that a version is in the catalog in another form.
type ExistsError struct{ Entry, Version, File string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s has a different version %s of %s: add a new version, or replace it", e.File, e.Version, e.Entry)
}

// InvalidError says that an entry has problems.
type InvalidError struct {
	File string
	// Manifest is the place of the manifest of a bundle that it is about, the first being 1; 0
	// for the ClusterServiceVersion, and where there is no bundle.
	Manifest int
	Problems []strict.Problem
}

func (e *InvalidError) Error() string {
	var all []string
	for _, p := range e.Problems {
		all = append(all, p.String())
	}
	return fmt.Sprintf("%s is not a catalog entry: %s", e.File, strings.Join(all, "; "))
}

// Add puts an entry into the catalog of a directory, which is created if missing. Where
// the directory has an entry of the name, the versions alone are put into it, and the rest of
// its text is unchanged, comments included. A version that already exists in another form
// is an *ExistsError, unless replace says to put the new one in its place.
//
// The file is replaced as a whole: a temporary file is written in the same directory, and renamed.
func Add(root string, e Entry, replace bool) (Added, error) {
	dir := root
	if found, _, err := entryFiles(os.DirFS(root)); err == nil {
		dir = filepath.Join(root, found)
	}
	file := filepath.Join(dir, e.Name+entrySuffix)
	fresh, err := e.YAML()
	if err != nil {
		return Added{}, fmt.Errorf("write %s: %w", file, err)
	}
	if _, problems := Parse(e.Name, fresh); len(problems) > 0 {
		return Added{}, &InvalidError{File: e.Name, Problems: problems}
	}
	done := Added{File: file}
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		done.New = true
		for _, v := range e.Versions {
			done.Versions = append(done.Versions, v.Version)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return Added{}, fmt.Errorf("create the catalog directory: %w", err)
		}
		return done, writeFile(file, fresh)
	case err != nil:
		return Added{}, err
	}
	text, err := merge(file, old, e, replace, &done)
	if err != nil || bytes.Equal(text, old) {
		return done, err
	}
	return done, writeFile(file, text)
}

// merge puts the versions of an entry into the text of another one of the same name.
func merge(file string, old []byte, e Entry, replace bool, done *Added) ([]byte, error) {
	was, problems := Parse(e.Name, old)
	if len(problems) > 0 {
		return nil, &InvalidError{File: file, Problems: problems}
	}
	text := old
	for _, v := range e.Versions {
		if len(v.Provides) == 0 && !reflect.DeepEqual(was.Provided(&v), e.Provided(&v)) {
			v.Provides = e.Provided(&v)
		}
		if len(v.Provides) == 0 && len(e.Kinds) == 0 && len(was.Kinds) > 0 {
			done.Notes = append(done.Notes, fmt.Sprintf("%s names no APIs: the kinds of the existing entry are used", v.Version))
		}
		i := slices.IndexFunc(was.Versions, func(o Version) bool { return compareVersions(o.Version, v.Version) == 0 })
		switch {
		case i >= 0 && reflect.DeepEqual(was.Versions[i], v):
			done.Same = append(done.Same, v.Version)
			continue
		case i >= 0 && !replace:
			return nil, &ExistsError{Entry: e.Name, Version: v.Version, File: file}
		case i >= 0:
			done.Replaced = append(done.Replaced, v.Version)
		default:
			done.Versions = append(done.Versions, v.Version)
		}
		next, now, err := put(text, was, v, i)
		if err != nil {
			return nil, fmt.Errorf("put version %s into %s: %w", v.Version, file, err)
		}
		text, was = next, now
	}
	if was.Title != e.Title || was.Description != e.Description || !reflect.DeepEqual(was.Source, e.Source) {
		done.Notes = append(done.Notes, "title, description and source are unchanged in "+file)
	}
	return text, nil
}

// writeFile writes a file whole, or not at all.
func writeFile(file string, data []byte) (err error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // what is linked to is changed, and the link stays
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode))
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// WriteFiles writes the files next to the entry into the catalog of a directory.
func (im *Imported) WriteFiles(root string) error {
	for path, data := range im.Files {
		file := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := writeFile(file, data); err != nil {
			return err
		}
	}
	return nil
}

// EntryName is the name that the text of an entry gives itself; in a catalog it is that of the file.
// Parse reports what is wrong with the text. Aliases are not expanded.
func EntryName(data []byte) string {
	root, problem := strict.Document(data)
	if problem != nil || root == nil {
		return ""
	}
	if name := strict.Value(root, "name"); name != nil && name.Kind == yaml.ScalarNode {
		return name.Value
	}
	return ""
}
