// Package skeleton reads and writes the field skeletons of CustomResourceDefinitions: which
// fields the kinds of an operator have, of what type, with which enum values, and which are
// required. catalog/testdata/fields/README.md is the format.
//
// A skeleton stands for definitions: what is read is a CustomResourceDefinition of each kind,
// so that everything that reads definitions reads skeletons.
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

// Extension ends the names of files with skeletons.
const Extension = ".fields"

// ShapesFile has the subtrees that several files share.
const ShapesFile = "SHAPES" + Extension

// File is one file of skeletons.
type File struct {
	// Name is that of the operator's entry, and of a release where it is not the newest:
	// strimzi, strimzi@0.48.0.
	Name string
	// Sources say where the definitions are from, as the file has it: repo=... tag=...
	Sources []string
	// Kinds are in the order of the file.
	Kinds []Kind
}

// Kind is the definition of a kind.
type Kind struct {
	// Source is the index of its source in those of the file.
	Source int
	// Definition is a CustomResourceDefinition of apiextensions.k8s.io/v1, with no more in it
	// than a skeleton has. Subtrees are shared: it must not be changed.
	Definition map[string]any
}

// Newest says that the file is of the newest release that is known.
func (f *File) Newest() bool { return !strings.Contains(f.Name, "@") }

// ReadAll reads every file of skeletons in a folder, in the order of their names. The shapes
// stand in the same folder.
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
