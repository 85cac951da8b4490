package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Check says what is wrong with the catalog as a whole: required packages that are missing,
// ranges that no version is in, packages that require each other in a cycle, files that are
// missing, APIs that two entries provide. It reads the files that are named by path. The
// problems are in the order of the entries.
func (c *Catalogue) Check() []Problem {
	k := checker{c: c}
	for _, i := range c.items {
		for n := range i.Versions {
			k.version(i, n)
		}
	}
	k.duplicateAPIs()
	k.loops()
	return k.problems
}

type checker struct {
	c        *Catalogue
	problems []Problem
	// read is the file that was read last.
	read struct {
		name string
		root *yaml.Node
	}
}

// report notes a problem at a path of keys and indices in the file of an entry.
func (k *checker) report(i item, warning bool, at []any, format string, args ...any) {
	p := Problem{Origin: i.origin, File: i.file, Entry: i.Name, Message: fmt.Sprintf(format, args...), Warning: warning}
	if n := k.document(i); n != nil {
		n = strict.Lookup(n, at)
		p.Line, p.Column = n.Line, n.Column
	}
	k.problems = append(k.problems, p)
}

// Text returns the file of the entry of a name, and its path; nothing for an entry that is
// compiled in.
func (c *Catalogue) Text(name string) (file string, text []byte) {
	i, ok := c.find(name)
	if !ok || i.files == nil {
		return "", nil
	}
	text, err := readFile(i.files, path.Base(i.file), maxEntryBytes)
	if err != nil {
		return "", nil
	}
	return i.file, text
}

// document reads the file of an entry again, since an entry does not keep its places.
func (k *checker) document(i item) *yaml.Node {
	if i.files == nil {
		return nil
	}
	if k.read.name != i.Name {
		k.read.name, k.read.root = i.Name, nil
		if data, err := readFile(i.files, path.Base(i.file), maxEntryBytes); err == nil {
			k.read.root, _ = strict.Document(data)
		}
	}
	return k.read.root
}

func (k *checker) version(i item, n int) {
	v := &i.Versions[n]
	for r, need := range v.Requires {
		k.requirement(i, need, []any{"versions", n, "requires", r}, v.Version)
	}
	for r, other := range v.Conflicts {
		at := []any{"versions", n, "conflicts", r}
		switch {
		case other.Package == i.Name:
			k.report(i, false, at, "%s %s conflicts with itself: versions of one package conflict anyway", i.Name, v.Version)
		case !k.known(other.Package):
			k.report(i, true, at, "%s %s conflicts with %s, which no catalog has%s", i.Name, v.Version, other.Package, object.DidYouMean(k.c.Nearest(other.Package)))
		}
	}
	k.source(i, v, []any{"versions", n, "source"})
}

func (k *checker) known(name string) bool {
	_, ok := k.c.find(name)
	return ok
}

// requirement checks that something meets what a version needs. What is optional, or must be
// installed already, is a warning only.
func (k *checker) requirement(i item, need solve.Requirement, at []any, version string) {
	subject := i.Name + " " + version
	if need.Package == "" {
		if len(k.c.Providers(need.API)) == 0 && !need.Optional {
			k.report(i, true, at, "%s needs %s, which nothing in the catalog provides: it must be installed already", subject, need.API)
		}
		return
	}
	other, ok := k.c.find(need.Package)
	switch {
	case need.Package == i.Name:
		k.report(i, false, at, "%s needs itself", subject)
	case !ok:
		k.report(i, need.Optional, at, "%s needs %s, which no catalog has%s", subject, need.Package, object.DidYouMean(k.c.Nearest(need.Package)))
	case len(other.Versions) == 0:
		k.report(i, true, at, "%s needs %s, of which the catalog has no installable version: it must be installed already", subject, need.Package)
	case !slices.ContainsFunc(other.Versions, func(v Version) bool { return inRange(v.Version, need.Range) }):
		k.report(i, need.Optional, at, "%s needs %s in %s: the catalog has %s", subject, need.Package, rangeWords(need.Range), strings.Join(versionNames(other.Entry), ", "))
	}
}

func rangeWords(text string) string {
	if text == "" {
		return "a version that is not a prerelease"
	}
	return text
}

func versionNames(e Entry) []string {
	var all []string
	for i, v := range e.NewestFirst() {
		if i == 10 {
			return append(all, "...")
		}
		all = append(all, v.Version)
	}
	return all
}

// inRange says whether a version is in a range; an empty one is any that is no prerelease.
func inRange(version, text string) bool {
	if text == "" {
		text = "*"
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	r, err := semver.NewConstraint(text)
	return err == nil && r.Check(v)
}

// source checks the files that a version is made of, and says what is not verified.
func (k *checker) source(i item, v *Version, at []any) {
	subject := i.Name + " " + v.Version
	if c := v.Source.Chart; c != nil {
		at := append(slices.Clone(at), "chart")
		if c.Path != "" {
			k.file(i, append(at, "path"), c.Path, strings.TrimPrefix(c.Digest, "sha256:"), true)
		} else if c.Digest == "" {
			k.report(i, true, at, "the chart of %s has no digest: it needs --unverified", subject)
		}
	}
	for n, m := range v.Source.Manifests {
		at := append(slices.Clone(at), "manifests", n)
		if m.Path != "" {
			k.file(i, append(at, "path"), m.Path, m.SHA256, false)
		} else if m.SHA256 == "" {
			k.report(i, true, at, "%s of %s has no sha256: it needs --unverified", m.URL, subject)
		}
	}
}

// maxFileBytes is how many bytes of a file are read to compare its sum.
const maxFileBytes = 64 << 20

// file checks a file that is named by path.
func (k *checker) file(i item, at []any, name, want string, dirAllowed bool) {
	if i.files == nil {
		k.report(i, false, at, "the built-in catalog has no files: %s does not exist", name)
		return
	}
	info, err := fs.Stat(i.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.report(i, false, at, "the file %s does not exist beside the entry", name)
	case err != nil:
		k.report(i, false, at, "%s cannot be read: %v", name, err)
	case info.IsDir() && !dirAllowed:
		k.report(i, false, at, "%s is a directory: expected a file", name)
	case info.IsDir() && want != "":
		k.report(i, false, at, "%s is a directory, which has no digest: omit the digest, or name a .tgz", name)
	case !info.IsDir() && want != "":
		if got, err := sumOf(i.files, name); err != nil || got != want {
			k.report(i, false, at, "%s is a different file: its SHA-256 sum is %s", name, got)
		}
	}
}

func sumOf(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "unknown", err
	}
	defer func() { _ = f.Close() }() // it is only read
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, maxFileBytes+1)); err != nil || n > maxFileBytes {
		return "unknown", fmt.Errorf("read %s: %w", name, errors.Join(err, errTooLarge))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

var errTooLarge = errors.New("it is too large")

// duplicateAPIs reports the APIs that several entries provide, once for each pair.
func (k *checker) duplicateAPIs() {
	first := map[string]item{}
	for _, i := range k.c.items {
		both := map[string][]string{}
		for _, kind := range i.apis() {
			if other, taken := first[kind]; taken && other.Name != i.Name {
				both[other.Name] = append(both[other.Name], kind)
			} else {
				first[kind] = i
			}
		}
		for _, other := range slices.Sorted(maps.Keys(both)) {
			kinds := both[other]
			if len(kinds) > 5 {
				kinds = append(kinds[:5:5], "...")
			}
			k.report(i, true, nil, "%s and %s both provide %s: they conflict; choose one", other, i.Name, strings.Join(kinds, ", "))
		}
	}
}
