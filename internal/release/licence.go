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

// Licensed is a module that is in a binary, and what it asks for. Its standard library, of
// Go's own version, is one of them.
type Licensed struct {
	// Module is its path, stdlib for the standard library and the runtime, npm:NAME for a package of
	// npm that is in the page.
	Module, Version string
	// Sum is that of go.sum, or the integrity of npm's lock file; empty for the standard library.
	Sum string
	// Licences are SPDX identifiers: all of them hold, each for a part.
	Licences []string
	// Texts are its files of licences, notices and patents, in the order of their names.
	Texts []Text
}

// Expression is the SPDX expression of its licences.
func (l Licensed) Expression() string { return strings.Join(l.Licences, " AND ") }

// Text is a file that goes along with what it is about.
type Text struct {
	// Name is the path below the module, with slashes.
	Name string
	// Notice is true for a file NOTICE (Apache-2.0, 4d), and what else is no licence itself.
	Notice bool
	Text   string
}

// stdlib is what databases of vulnerabilities call Go's standard library.
const stdlib = "stdlib"

// allowed are the licences that what we publish may have in it, and why.
var allowed = map[string]string{
	"Apache-2.0":   "our own: its text is included, and NOTICE files (4d)",
	"BSD-2-Clause": "requires its text, which is included",
	"BSD-3-Clause": "requires its text, which is included, and forbids advertising with the names of the authors",
	"ISC":          "requires its text, which is included",
	"MIT":          "requires its text, which is included",
	"MPL-2.0":      "binds the files under it, which are not changed; THIRD_PARTY_LICENSES says where their source is (3.2)",
}

// noLicences are files that are named like licences and are about something else.
var noLicences = map[string]string{
	"github.com/cyphar/filepath-securejoin COPYING.md": "it says which licence a file has, and repeats both texts, which lie beside it",
	"github.com/opencontainers/go-digest LICENSE.docs": "it covers the documentation, which no binary includes",
}

var (
	licenceName = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|licen[sc]es|copying|copyright)([._-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents)(\.(txt|md))?$`)
)

// collect finds the licences of all that is in a binary.
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

// licensed reads the texts in those folders of a module from which something is in the binary.
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

// plain is a text with line feeds alone and nothing at the ends of lines.
func plain(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// Licences are the modules that are in the binary of any platform, with their licences. No
// binary is built. A module without a licence, or with one that is unknown or not allowed, is
// an error that names it and the file.
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

// between are the folders from a module's own to that of a package in it.
func between(module, dir string) []string {
	all := []string{module}
	for dir != module && len(dir) > len(module) {
		all = append(all, dir)
		dir = filepath.Dir(dir)
	}
	return all
}
