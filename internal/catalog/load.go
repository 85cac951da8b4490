package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Bounds of a catalog.
const (
	maxEntries      = 5000
	maxCatalogBytes = 128 << 20 // bytes of all entries
)

// Problem is something that is wrong with a catalog, or worth knowing.
type Problem struct {
	// Origin is the layer, File the entry's file in it; empty for what is compiled in.
	Origin string `json:"origin"`
	File   string `json:"file,omitempty"`
	// Entry is the name of the entry.
	Entry string `json:"entry,omitempty"`
	// Line and Column count from 1; 0 where it is about the whole file.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	// Warning says that the catalog can be used all the same.
	Warning bool `json:"warning,omitempty"`
}

// String is the problem with its place, as compilers write it.
func (p Problem) String() string {
	at := p.Origin
	if p.File != "" {
		at += ": " + p.File
	} else if p.Entry != "" {
		at += ": " + p.Entry
	}
	if p.Line > 0 {
		at += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	return at + ": " + p.Message
}

// Load reads a layer: the entries are the files *.yaml of the directory catalog, or those at
// the root where there is no such directory. Files that they name by path are relative to
// that directory. Origin says where it came from, for people.
//
// An entry with problems is left out, and its problems are returned. The error is that of a
// catalog that cannot be read at all, or is too large.
func Load(fsys fs.FS, origin string) (*Catalogue, []Problem, error) {
	dir, names, err := entryFiles(fsys)
	if err != nil {
		return nil, nil, fmt.Errorf("read the catalog %s: %w", origin, err)
	}
	files := fsys
	if dir != "." {
		if files, err = fs.Sub(fsys, dir); err != nil {
			return nil, nil, fmt.Errorf("read the catalog %s: %w", origin, err)
		}
	}
	c := &Catalogue{layers: []string{origin}}
	var problems []Problem
	rest := int64(maxCatalogBytes)
	for _, file := range names {
		data, err := readFile(files, file, maxEntryBytes)
		if err != nil {
			return nil, nil, fmt.Errorf("read the catalog %s: %w", origin, err)
		}
		if rest -= int64(len(data)); rest < 0 {
			return nil, nil, fmt.Errorf("read the catalog %s: its entries have more than %d MiB", origin, maxCatalogBytes>>20)
		}
		name := strings.TrimSuffix(file, entrySuffix)
		e, wrong := Parse(name, data)
		for _, p := range wrong {
			problems = append(problems, problemOf(origin, path.Join(dir, file), name, p))
		}
		if len(wrong) == 0 {
			c.items = append(c.items, item{Entry: e, origin: origin, file: path.Join(dir, file), files: files})
		}
	}
	return c, problems, nil
}

func problemOf(origin, file, name string, p strict.Problem) Problem {
	return Problem{Origin: origin, File: file, Entry: name, Line: p.Line, Column: p.Column, Message: p.Message}
}

const (
	entrySuffix = ".yaml"
	entryDir    = "catalog"
)

// entryFiles returns the directory of the entries, and the names of their files.
func entryFiles(fsys fs.FS) (dir string, names []string, err error) {
	all := []string{}
	for _, dir = range []string{entryDir, "."} {
		all, err = yamlFiles(fsys, dir)
		if dir == entryDir && (errors.Is(err, fs.ErrNotExist) || err == nil && len(all) == 0) {
			continue
		}
		break
	}
	switch {
	case err != nil:
		return "", nil, err
	case len(all) == 0:
		return "", nil, fmt.Errorf("it has no entries: expected files NAME%s, at its root or in a directory %s", entrySuffix, entryDir)
	case len(all) > maxEntries:
		return "", nil, fmt.Errorf("it has %d entries: expected at most %d", len(all), maxEntries)
	}
	return dir, all, nil
}

func yamlFiles(fsys fs.FS, dir string) ([]string, error) {
	found, err := fs.ReadDir(fsys, dir)
	var names []string
	for _, f := range found {
		if name := f.Name(); !f.IsDir() && strings.HasSuffix(name, entrySuffix) && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// readFile reads a regular file of most bytes.
func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return data, nil
}

// Unknown is the message about an entry that does not exist.
func (c *Catalogue) Unknown(name string) string {
	return fmt.Sprintf("the catalog has no operator %q%s", name, object.DidYouMean(c.Nearest(name)))
}
