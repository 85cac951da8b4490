// Package skeleton reads and writes the field skeletons of CustomResourceDefinitions: the fields of
// an operator's kinds, their types, enum values, and which are required.
// catalog/testdata/fields/README.md describes the format.
//
// A skeleton is read as a CustomResourceDefinition of each kind, so that all code for definitions
// works with skeletons.
package skeleton

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Extension is the file name extension of skeletons.
const Extension = ".fields"

// ShapesFile has the subtrees that several files share.
const ShapesFile = "SHAPES" + Extension

// File is one file of skeletons.
type File struct {
	// Name is that of the operator's entry, with a release if it is not the newest: strimzi,
	// strimzi@0.48.0.
	Name string
	// Sources are the origins of the definitions, as in the file: repo=... tag=...
	Sources []string
	// Kinds are in the order of the file.
	Kinds []Kind
}

// Kind is the definition of a kind.
type Kind struct {
	// Source is the index of its source in File.Sources.
	Source int
	// Definition is a CustomResourceDefinition of apiextensions.k8s.io/v1, with the content of a
	// skeleton. Subtrees are shared: it must not be changed.
	Definition map[string]any
}

// Newest reports whether the file is of the newest known release.
func (f *File) Newest() bool { return !strings.Contains(f.Name, "@") }

// ReadAll reads every skeleton file in a directory, ordered by name. The shapes are in the same
// directory.
func ReadAll(folder fs.FS) ([]*File, error) {
	shapes, err := readShapes(folder)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(folder, "*"+Extension)
	if err != nil {
		return nil, err
	}
	var all []*File
	for _, name := range names {
		if name == ShapesFile {
			continue
		}
		f, err := readFile(folder, name, shapes)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func readShapes(folder fs.FS) (map[string]map[string]any, error) {
	text, err := fs.ReadFile(folder, ShapesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the shapes: %w", err)
	}
	r := newReader(ShapesFile, nil)
	if err := r.parts(string(text)); err != nil {
		return nil, err
	}
	shapes := map[string]map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.subtrees)) {
		if shapes[name], err = r.subtree(name); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

func readFile(folder fs.FS, name string, shapes map[string]map[string]any) (*File, error) {
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, fmt.Errorf("read the skeletons: %w", err)
	}
	r := newReader(name, shapes)
	if err := r.parts(string(text)); err != nil {
		return nil, err
	}
	f := &File{Name: strings.TrimSuffix(path.Base(name), Extension), Sources: r.sources}
	f.Kinds, err = r.kinds()
	return f, err
}

// NewestFirst returns the kinds of all files: those of the newest releases before others.
func NewestFirst(files []*File) []Kind {
	var newest, older []Kind
	for _, f := range files {
		if f.Newest() {
			newest = append(newest, f.Kinds...)
		} else {
			older = append(older, f.Kinds...)
		}
	}
	return append(newest, older...)
}
