package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/skeleton"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// drift is a catalog, its skeletons, and new definitions.
type drift struct {
	folder  string // of the skeletons
	entries []entry
	files   []*skeleton.File
	old     lint.Definitions // of the skeletons
	new     lint.Definitions
	crds    []map[string]any
}

type entry struct {
	catalog.Entry
	file string
	text []byte
}

func read(folder, crds string) (*drift, error) {
	d := &drift{folder: filepath.Join(folder, "testdata", "fields")}
	names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return nil, err
		}
		e, problems := catalog.Parse(strings.TrimSuffix(filepath.Base(name), ".yaml"), text)
		if len(problems) > 0 {
			return nil, fmt.Errorf("read %s: %s", name, problems[0])
		}
		d.entries = append(d.entries, entry{e, name, text})
	}
	if d.files, err = skeleton.ReadAll(os.DirFS(d.folder)); err != nil {
		return nil, err
	}
	for _, k := range skeleton.NewestFirst(d.files) {
		d.old.Add(k.Definition)
	}
	if d.crds, err = skeleton.ReadFolder(crds); err != nil {
		return nil, err
	}
	for _, crd := range d.crds {
		d.new.Add(crd)
	}
	return d, nil
}

// report lists what no longer matches, and what is new.
func (d *drift) report(out io.Writer) {
	for _, e := range d.entries {
		for _, f := range lint.Entry(&d.new, &e.Entry, lint.ReadDocument(e.text)) {
			fmt.Fprintf(out, "no longer fits: %s:%d:%d: %s\n", e.file, f.Line, f.Column, f.Message)
		}
	}
	for _, gk := range d.new.Kinds() {
		owner := d.owner(gk)
		_, had := d.old.Kind(gk)
		switch {
		case owner == nil:
			fmt.Fprintf(out, "new kind: %s: no entry has it%s\n", gk, d.groupOf(gk.Group))
			continue
		case !had:
			fmt.Fprintf(out, "new skeleton: %s of %s\n", gk, owner.Name)
			continue
		}
		for _, path := range d.references(gk, owner) {
			fmt.Fprintf(out, "new field: %s %s: it may name an object, and no relation of %s reads it\n", gk, path, owner.Name)
		}
	}
}

// owner returns the entry with a kind.
func (d *drift) owner(gk schema.GroupKind) *entry {
	for i := range d.entries {
		if slices.ContainsFunc(d.entries[i].Kinds, func(k catalog.Kind) bool { return declare.GroupKind(k.Kind) == gk }) {
			return &d.entries[i]
		}
	}
	return nil
}

// groupOf returns the entry with other kinds of a group.
func (d *drift) groupOf(group string) string {
	for _, e := range d.entries {
		for _, k := range e.Kinds {
			if declare.GroupKind(k.Kind).Group == group {
				return fmt.Sprintf("; its group is that of %s", e.file)
			}
		}
	}
	return ""
}

// named matches the names of fields that usually name an object.
var named = regexp.MustCompile(`(?i)(refs?|names?|secrets?|configmaps?|storageclass|serviceaccount|claim|issuer|snapshotclass)$`)

// references returns the fields of the newest version that may name an object, are not in the old
// definition, and are not read by a relation.
func (d *drift) references(gk schema.GroupKind, owner *entry) []string {
	current, _ := d.new.Kind(gk)
	was, _ := d.old.Kind(gk)
	versions := current.Versions()
	if len(versions) == 0 {
		return nil
	}
	var known []field.Shape
	for _, v := range was.Versions() {
		known = append(known, was.Shapes(v)...)
	}
	var all []string
	var walk func(s field.Shape, at string, depth int)
	walk = func(s field.Shape, at string, depth int) {
		for typeOf(s) == "array" && depth > 0 {
			item, ok := s.Item()
			if !ok {
				return
			}
			s, at = item, at+"[]"
		}
		for _, name := range s.Names() {
			path := field.Join(at, name)
			p, err := field.Parse(path)
			if err != nil || at == "" && name != "spec" || depth == 0 {
				continue
			}
			shape, _ := s.Field(name)
			if !slices.ContainsFunc(known, func(k field.Shape) bool { return p.Check(k) == nil }) {
				if named.MatchString(name) && !owner.reads(gk, path) {
					all = append(all, path)
					continue
				}
			}
			walk(shape, path, depth-1)
		}
	}
	walk(current.Shapes(versions[0])[0], "", 20)
	return all
}

func typeOf(s field.Shape) string {
	if t, ok := s.(field.Typed); ok {
		return t.Type()
	}
	return ""
}

// reads reports whether a relation of the entry reads a field of a kind, or a field in it.
func (e *entry) reads(gk schema.GroupKind, path string) bool {
	plain := strings.NewReplacer("[]", "", ".*", "").Replace
	for i := range e.Relations {
		s := &e.Relations[i]
		kinds, _ := s.Reader()
		if !slices.ContainsFunc(kinds, func(k string) bool { return declare.GroupKind(k) == gk }) {
			continue
		}
		for _, p := range s.Paths() {
			if p = plain(p); p == plain(path) || strings.HasPrefix(p, plain(path)+".") || strings.HasPrefix(plain(path), p+".") {
				return true
			}
		}
	}
	return false
}

// rewrite writes the new definitions into the skeletons of the newest releases.
func (d *drift) rewrite(source string, out io.Writer) error {
	shapes, err := skeleton.ReadShapes(os.DirFS(d.folder))
	if err != nil {
		return err
	}
	byFile := map[string][]map[string]any{}
	for _, crd := range d.crds {
		var one lint.Definitions
		gk := one.Add(crd)
		if owner := d.owner(gk); owner != nil {
			byFile[owner.Name] = append(byFile[owner.Name], crd)
		}
	}
	for _, e := range d.entries {
		if len(byFile[e.Name]) == 0 {
			continue
		}
		f := d.file(e.Name)
		f.Replace(source, byFile[e.Name])
		name := filepath.Join(d.folder, f.Name+skeleton.Extension)
		if err := os.WriteFile(name, []byte(f.Text(shapes)), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(out, "written: %s, %d kinds\n", name, len(f.Kinds))
	}
	return nil
}

// file returns the skeletons of the newest release of an operator.
func (d *drift) file(name string) *skeleton.File {
	i := slices.IndexFunc(d.files, func(f *skeleton.File) bool { return f.Name == name })
	if i < 0 {
		return &skeleton.File{Name: name}
	}
	return d.files[i]
}
