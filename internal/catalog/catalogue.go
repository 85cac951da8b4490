package catalog

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// EmbeddedOrigin is the layer of the entries that are compiled in.
const EmbeddedOrigin = "built-in"

// Catalogue is a set of entries, each by one name, put together of layers. It does not
// change, and is safe for concurrent use.
type Catalogue struct {
	items  []item // by name
	layers []string
}

// item is an entry, and where it came from.
type item struct {
	Entry
	origin string
	file   string // in the layer; empty for what is compiled in
	files  fs.FS  // of the directory in which the file is
}

// Embedded is the catalog that is compiled in.
func Embedded() *Catalogue {
	c := &Catalogue{layers: []string{EmbeddedOrigin}}
	for _, e := range All() {
		c.items = append(c.items, item{Entry: e, origin: EmbeddedOrigin})
	}
	return c
}

// Merge overlays layers: an entry of a later one replaces an entry of the same name as a
// whole. Layers that are nil are left out.
func Merge(layers ...*Catalogue) *Catalogue {
	items := map[string]item{}
	c := &Catalogue{}
	for _, layer := range layers {
		if layer == nil {
			continue
		}
		c.layers = append(c.layers, layer.layers...)
		for _, i := range layer.items {
			items[i.Name] = i
		}
	}
	for _, i := range items {
		c.items = append(c.items, i)
	}
	slices.SortFunc(c.items, func(a, b item) int { return cmp.Compare(a.Name, b.Name) })
	return c
}

// Layers are the origins of which it is put together, the lowest first.
func (c *Catalogue) Layers() []string { return slices.Clone(c.layers) }

// Entries returns every entry, by name. They are shared: they must not be changed.
func (c *Catalogue) Entries() []Entry {
	all := make([]Entry, 0, len(c.items))
	for _, i := range c.items {
		all = append(all, i.Entry)
	}
	return all
}

func (c *Catalogue) index(name string) (int, bool) {
	return slices.BinarySearchFunc(c.items, name, func(i item, name string) int { return cmp.Compare(i.Name, name) })
}

func (c *Catalogue) find(name string) (item, bool) {
	i, ok := c.index(name)
	if !ok {
		return item{}, false
	}
	return c.items[i], true
}

// Find returns the entry of a name.
func (c *Catalogue) Find(name string) (Entry, bool) {
	i, ok := c.find(name)
	return i.Entry, ok
}

// Nearest returns the names that are close to one that does not exist; the title
// of an entry counts as well.
func (c *Catalogue) Nearest(name string) []string {
	names := make([]string, 0, len(c.items))
	for _, i := range c.items {
		names = append(names, i.Name)
	}
	if near := object.Nearest(name, names); len(near) > 0 {
		return near
	}
	var near []string
	for _, i := range c.items {
		if len(near) < 3 && (strings.EqualFold(i.Title, name) || len(name) > 2 && strings.Contains(i.Name, strings.ToLower(name))) {
			near = append(near, i.Name)
		}
	}
	return near
}

// Origin returns the layer that the entry of a name came from; empty where there is none.
func (c *Catalogue) Origin(name string) string {
	i, _ := c.find(name)
	return i.origin
}

// Files returns the files that the sources of the entry of a name refer to by path; false where
// there is no such entry, or where it is compiled in and has none.
func (c *Catalogue) Files(name string) (fs.FS, bool) {
	i, _ := c.find(name)
	return i.files, i.files != nil
}

// Packages returns every version of every entry, for the solver.
func (c *Catalogue) Packages() []solve.Package {
	var all []solve.Package
	for _, i := range c.items {
		for k := range i.Versions {
			v := &i.Versions[k]
			all = append(all, solve.Package{
				Name: i.Name, Version: v.Version, Kubernetes: v.Kubernetes,
				Provides: i.Provided(v), Requires: v.Requires, Conflicts: v.Conflicts,
			})
		}
	}
	return all
}

// Providers returns the entries that provide an API, in one of the versions that it names if
// it names any; those that can be installed first.
func (c *Catalogue) Providers(api solve.API) []Entry {
	var can, known []Entry
	for _, i := range c.items {
		switch {
		case slices.ContainsFunc(i.Versions, func(v Version) bool { return meets(i.Provided(&v), api) }):
			can = append(can, i.Entry)
		case meets(provided(i.Kinds, &Version{}), api):
			known = append(known, i.Entry)
		}
	}
	return append(can, known...)
}

// meets says whether an API is among those that are provided.
func meets(brought []solve.API, api solve.API) bool {
	return slices.ContainsFunc(brought, func(a solve.API) bool {
		return a.Kind == api.Kind && (len(api.Versions) == 0 || slices.ContainsFunc(api.Versions, func(v string) bool { return slices.Contains(a.Versions, v) }))
	})
}

// Version returns the version of the entry that is written so, with or without a v.
func (e Entry) Version(version string) (*Version, bool) {
	i := slices.IndexFunc(e.Versions, func(v Version) bool { return v.Version == strings.TrimPrefix(version, "v") })
	if i < 0 {
		return nil, false
	}
	return &e.Versions[i], true
}

// Latest returns the highest version that is not a prerelease, or the highest one where all
// are; false where the entry has no versions.
func (e Entry) Latest() (*Version, bool) {
	sorted := e.NewestFirst()
	if len(sorted) == 0 {
		return nil, false
	}
	for _, v := range sorted {
		if p, err := semver.NewVersion(v.Version); err == nil && p.Prerelease() == "" {
			return v, true
		}
	}
	return sorted[0], true
}

// NewestFirst returns the versions, the highest first.
func (e Entry) NewestFirst() []*Version {
	var all []*Version
	for i := range e.Versions {
		all = append(all, &e.Versions[i])
	}
	slices.SortStableFunc(all, func(a, b *Version) int { return compareVersions(b.Version, a.Version) })
	return all
}

// compareVersions orders versions; what is no version is below all.
func compareVersions(a, b string) int {
	x, errX := semver.StrictNewVersion(a)
	y, errY := semver.StrictNewVersion(b)
	switch {
	case errX != nil && errY != nil:
		return cmp.Compare(a, b)
	case errX != nil:
		return -1
	case errY != nil:
		return 1
	}
	return x.Compare(y)
}
