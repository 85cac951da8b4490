package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Licensed is a module in a binary, with its licences. The standard library is one, with Go's
// version.
type Licensed struct {
	// Module is its path, stdlib for the standard library and the runtime, npm:NAME for an npm
	// package in the page.
	Module, Version string
	// Sum is that of go.sum, or the integrity of npm's lock file; empty for the standard library.
	Sum string
	// Licences are SPDX identifiers: all of them apply, each to a part.
	Licences []string
	// Texts are its licence, notice and patent files, ordered by name.
	Texts []Text
}

// Expression returns the SPDX expression of its licences.
func (l Licensed) Expression() string { return strings.Join(l.Licences, " AND ") }

// Text is a file that must be distributed with its module.
type Text struct {
	// Name is the path below the module, with slashes.
	Name string
	// Notice is set for a file NOTICE (Apache-2.0, 4d), and for other files that are no licence.
	Notice bool
	Text   string
}

// stdlib is the name of Go's standard library in vulnerability databases.
const stdlib = "stdlib"

// allowed are the licences that a release may include, with the reason.
var allowed = map[string]string{
	"Apache-2.0":   "our own: its text is included, and NOTICE files (4d)",
	"BSD-2-Clause": "requires its text, which is included",
	"BSD-3-Clause": "requires its text, which is included, and forbids advertising with the names of the authors",
	"ISC":          "requires its text, which is included",
	"MIT":          "requires its text, which is included",
	"MPL-2.0":      "binds the files under it, which are not changed; THIRD_PARTY_LICENSES says where their source is (3.2)",
}

// noLicences are files that are named like licences and are none.
var noLicences = map[string]string{
	"github.com/cyphar/filepath-securejoin COPYING.md": "it says which licence a file has, and repeats both texts, which lie beside it",
	"github.com/opencontainers/go-digest LICENSE.docs": "it covers the documentation, which no binary includes",
}

var (
	licenceName = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|licen[sc]es|copying|copyright)([._-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents)(\.(txt|md))?$`)
)

// collect finds the licences of everything in a binary.
func collect(t toolchain, b binary) ([]Licensed, error) {
	c, err := newClassifier()
	if err != nil {
		return nil, err
	}
	std, err := c.licensed(Licensed{Module: stdlib, Version: t.version}, t.root, []string{t.root})
	if err != nil {
		return nil, err
	}
	all, errs := []Licensed{std}, []error(nil)
	for _, m := range b.modules {
		l, err := c.licensed(Licensed{Module: m.path, Version: m.version, Sum: m.sum}, m.dir, m.folders)
		errs = append(errs, err)
		all = append(all, l)
	}
	page, err := bundled(c, t.dir)
	errs, all = append(errs, err), append(all, page...)
	slices.SortFunc(all, func(x, y Licensed) int { return cmp.Compare(x.Module, y.Module) })
	return all, errors.Join(errs...)
}

// licensed reads the licence texts in those directories of a module that the binary has packages
// of.
func (c classifier) licensed(l Licensed, root string, folders []string) (Licensed, error) {
	found := map[string]bool{}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return l, err
		}
		for _, e := range entries {
			notice := noticeName.MatchString(e.Name())
			if !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".go") || !notice && !licenceName.MatchString(e.Name()) {
				continue
			}
			text, err := c.read(&l, root, filepath.Join(folder, e.Name()), notice, found)
			if err != nil {
				return l, fmt.Errorf("%s@%s: %w", l.Module, l.Version, err)
			}
			l.Texts = append(l.Texts, text)
		}
	}
	l.Licences = slices.Sorted(maps.Keys(found))
	if len(found) == 0 {
		return l, fmt.Errorf("%s@%s: has no file with a licence: it may not be published without one", l.Module, l.Version)
	}
	for _, id := range l.Licences {
		if allowed[id] == "" {
			return l, fmt.Errorf("%s@%s: %s is not a licence that is allowed: take another module, or say in internal/release/licence.go why it may be", l.Module, l.Version, id)
		}
	}
	slices.SortFunc(l.Texts, func(x, y Text) int { return cmp.Compare(x.Name, y.Name) })
	return l, nil
}

func (c classifier) read(l *Licensed, root, path string, notice bool, found map[string]bool) (Text, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Text{}, err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return Text{}, err
	}
	t := Text{Name: filepath.ToSlash(name), Notice: notice, Text: plain(string(b))}
	if _, other := noLicences[l.Module+" "+t.Name]; other {
		t.Notice = true
	}
	if t.Notice {
		return t, nil
	}
	ids, err := c.classify(t.Text)
	if err != nil {
		return Text{}, fmt.Errorf("%s: %w", t.Name, err)
	}
	for _, id := range ids {
		found[id] = true
	}
	return t, nil
}

// plain returns a text with line feeds as line ends and without trailing blanks.
func plain(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// Licences returns the modules in the binary of any platform, with their licences, without
// building. The error names a module and file without a licence, or with one that is unknown or not
// allowed.
func Licences(ctx context.Context, o Options) ([]Licensed, error) {
	t, err := findToolchain(ctx, o, o.Root)
	t.temporary = os.TempDir()
	if err != nil {
		return nil, err
	}
	if len(o.Platforms) == 0 {
		o.Platforms = o.Suite.Platforms
	}
	var all []goPackage
	for _, p := range o.Platforms {
		packages, err := t.packages(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		all = append(all, packages...)
	}
	modules, _ := modulesOf(all)
	return collect(t, binary{modules: modules})
}

// between returns the directories from a module's own to that of a package in it.
func between(module, dir string) []string {
	all := []string{module}
	for dir != module && len(dir) > len(module) {
		all = append(all, dir)
		dir = filepath.Dir(dir)
	}
	return all
}
