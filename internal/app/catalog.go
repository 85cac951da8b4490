package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
)

// maxEntryBytes is more than any file of a catalog entry has.
const maxEntryBytes = 8 << 20

// CatalogTarget is the directory of a user's own catalog. Replace overwrites a version that exists with
// other content.
type CatalogTarget struct {
	Folder  string
	Replace bool
}

// validate is an error if no directory is named.
func (t CatalogTarget) validate() error {
	if t.Folder == "" {
		return hint.With(errors.New("name the directory of the catalog: --catalog DIR"), "the embedded one cannot be written")
	}
	return nil
}

func (t CatalogTarget) add(e catalog.Entry) (catalog.Added, error) {
	done, err := catalog.Add(t.Folder, e, t.Replace)
	if exists, ok := errors.AsType[*catalog.ExistsError](err); ok {
		return done, hint.With(exists, "--replace puts the new one in its place")
	}
	return done, err
}

// AddEntries adds the entries of files to a catalog. All files are read before the first entry is
// added; what was added before an error is returned with it.
func AddEntries(ctx context.Context, to CatalogTarget, files []string) ([]catalog.Added, error) {
	if err := to.validate(); err != nil {
		return nil, err
	}
	var entries []catalog.Entry
	for _, file := range files {
		data, err := userfile.Read(ctx, file, maxEntryBytes, "entry of a catalog")
		if err != nil {
			return nil, fmt.Errorf("read the entry: %w", err)
		}
		e, problems := catalog.Parse(catalog.EntryName(data), data)
		if len(problems) > 0 {
			return nil, hint.With(&hint.Lines{Lines: hint.Placed(file, problems)}, "docs/catalog.md is the format")
		}
		entries = append(entries, e)
	}
	var out []catalog.Added
	for _, e := range entries {
		done, err := to.add(e)
		if err != nil {
			return out, err
		}
		out = append(out, done)
	}
	return out, nil
}

// ImportCSV adds the entry of a ClusterServiceVersion of OLM, which is one of the files; the others are
// the manifests of its bundle. The warnings name what was not carried over.
func ImportCSV(ctx context.Context, to CatalogTarget, files []string) (done catalog.Added, warnings []string, err error) {
	if err := to.validate(); err != nil {
		return done, nil, err
	}
	var csv []byte
	var more [][]byte
	names := []string{""} // the file of the ClusterServiceVersion, then those of the others
	for _, file := range files {
		data, err := userfile.Read(ctx, file, maxEntryBytes, "manifest")
		if err != nil {
			return done, nil, fmt.Errorf("read the bundle: %w", err)
		}
		if csv == nil && strings.Contains(string(data), "ClusterServiceVersion") {
			csv, names[0] = data, file
			continue
		}
		more, names = append(more, data), append(names, file)
	}
	if csv == nil {
		return done, nil, hint.With(errors.New("none of the files is a ClusterServiceVersion"), "it is in manifests/ of an OLM bundle")
	}
	im, err := catalog.ParseCSV(csv, more...)
	if invalid, ok := errors.AsType[*catalog.InvalidError](err); ok && invalid.Manifest < len(names) {
		return done, nil, &catalog.InvalidError{File: names[invalid.Manifest], Manifest: invalid.Manifest, Problems: invalid.Problems}
	}
	if err == nil {
		err = im.WriteFiles(to.Folder)
	}
	if err != nil {
		return done, nil, err
	}
	done, err = to.add(im.Entry)
	return done, im.Warnings, err
}

// CatalogValidation says what is validated: a catalog merged over another one. Files, where they are not
// nil, are those of a further catalog that Origin names. Further says that other catalogs than the usual
// ones are part of it, so that problems of the embedded one are not the user's. CRDs is a directory of
// definitions that the fields of the entries are checked against; empty for none.
type CatalogValidation struct {
	Catalogue *catalog.Catalogue
	Files     fs.FS
	Origin    string
	Further   bool
	CRDs      string
}

// CatalogReport is what is wrong with a catalog of so many entries.
type CatalogReport struct {
	Entries            int
	Problems, Warnings []string
}

// ValidateCatalog finds what is wrong with a catalog.
func ValidateCatalog(v CatalogValidation) (*CatalogReport, error) {
	r, merged := &CatalogReport{Entries: len(v.Catalogue.Entries())}, v.Catalogue
	if v.Files != nil {
		layer, wrong, err := catalog.Load(v.Files, v.Origin)
		if err != nil {
			return nil, fmt.Errorf("read the catalog %s: %w", v.Origin, err)
		}
		for _, p := range wrong {
			r.Problems = append(r.Problems, p.String())
		}
		if layer != nil {
			r.Entries, merged = len(layer.Entries()), catalog.Merge(merged, layer)
		}
	}
	further := v.Further || v.Files != nil
	for _, p := range merged.Check() {
		switch {
		case !p.Warning:
			r.Problems = append(r.Problems, p.String())
		case p.Origin != catalog.EmbeddedOrigin || !further:
			r.Warnings = append(r.Warnings, p.String())
		}
	}
	fields, err := unknownFields(merged, v.CRDs, further)
	r.Problems = append(r.Problems, fields...)
	return r, err
}

// unknownFields checks the entries against the definitions of a directory. An entry of the embedded
// catalog is left out where there are further ones, and so is one of an operator that the directory does
// not define.
func unknownFields(c *catalog.Catalogue, folder string, further bool) ([]string, error) {
	if folder == "" {
		return nil, nil
	}
	defs, err := DefinitionsIn(folder)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, e := range c.Entries() {
		if further && c.Origin(e.Name) == catalog.EmbeddedOrigin || !DefinesKind(defs, &e) {
			continue
		}
		file, text := c.Text(e.Name)
		for _, f := range lint.Entry(defs, &e, lint.ReadDocument(text)) {
			if !f.Unknown {
				p := catalog.Problem{Origin: c.Origin(e.Name), File: file, Entry: e.Name, Line: f.Line, Column: f.Column, Message: f.Message}
				problems = append(problems, p.String())
			}
		}
	}
	return problems, nil
}
