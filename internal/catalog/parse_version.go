package catalog

import (
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// version reads a version.
func (p *parser) version(m *strict.Mapping, n *yaml.Node) Version {
	var v Version
	keys := m.Struct(n, &v, p.formats()).Nodes
	if parsed, err := semver.StrictNewVersion(v.Version); err == nil {
		key, _, _ := strings.Cut(parsed.String(), "+")
		switch other, twice := p.read[key]; {
		case twice && other == v.Version:
			m.Report(keys["version"], "a second version %s: expected one", v.Version)
		case twice:
			m.Report(keys["version"], "%s is neither later nor earlier than %s: build metadata does not order versions", v.Version, other)
		}
		p.read[key] = v.Version
	}
	if examples := keys["examples"]; examples != nil {
		p.later = append(p.later, func(m *strict.Mapping, kinds []Kind) { exampleKinds(m, examples, provided(kinds, &v)) })
	}
	return v
}

// requirement is a solve.Requirement as it is written.
type requirement struct {
	API      string   `json:"api" read:"groupKind"`
	Versions []string `json:"versions" read:"apiVersion,max=500" want:"a list of versions: [v1]"`
	Package  string   `json:"package" read:"label"`
	Range    string   `json:"version" read:"range"`
	Optional bool     `json:"optional"`
}

// parseRequirement reads what a version needs.
func parseRequirement(m *strict.Mapping, n *yaml.Node) solve.Requirement {
	var r requirement
	keys := m.Struct(n, &r, textFormats()).Nodes
	switch api, name := keys["api"], keys["package"]; {
	case n.Kind != yaml.MappingNode:
	case api != nil && name != nil:
		m.Report(name, "api and package exclude each other: expected one of them")
	case api == nil && name == nil:
		m.Report(n, "the requirement is empty: expected api or package")
	case api != nil && keys["version"] != nil:
		m.Report(keys["version"], "version is a range of a package: those of an API are its versions, [v1]")
	case name != nil && keys["versions"] != nil:
		m.Report(keys["versions"], "versions are those of an API: the range of a package is its version, \">=1.14 <2\"")
	}
	return solve.Requirement{API: solve.API{Kind: r.API, Versions: r.Versions}, Package: r.Package, Range: r.Range, Optional: r.Optional}
}

// conflict is what a version cannot be installed together with.
type conflict struct {
	Package string `json:"package" read:"label,required"`
	Range   string `json:"version" read:"range"`
}

func parseConflict(m *strict.Mapping, n *yaml.Node) solve.Requirement {
	var c conflict
	m.Struct(n, &c, textFormats())
	return solve.Requirement{Package: c.Package, Range: c.Range}
}

// source reads where a version comes from.
func (p *parser) source(m *strict.Mapping, n *yaml.Node) Source {
	var s Source
	keys := m.Struct(n, &s, p.formats()).Nodes
	var given []*yaml.Node
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if value := keys[n.Content[i].Value]; value != nil {
			given = append(given, value)
		}
	}
	switch {
	case n.Kind != yaml.MappingNode:
	case len(given) == 0:
		m.Report(n, "the source is missing: expected chart, manifests or inline")
	case len(given) > 1:
		m.Report(given[1], "chart, manifests and inline exclude each other: expected one of them")
	}
	return s
}

// chart reads where a chart comes from.
func (p *parser) chart(m *strict.Mapping, n *yaml.Node) *ChartSource {
	c := &ChartSource{}
	keys := m.Struct(n, c, p.formats()).Nodes
	if n.Kind != yaml.MappingNode {
		return c
	}
	c.Path = strings.TrimSuffix(c.Path, "/")
	var given []string
	for _, key := range []string{"repository", "oci", "path"} {
		if keys[key] != nil {
			given = append(given, key)
		}
	}
	switch {
	case len(given) == 0:
		m.Report(n, "the location of the chart is missing: expected repository, oci or path")
		return c
	case len(given) > 1:
		m.Report(keys[given[1]], "%s exclude each other: expected one of them", strings.Join(given, " and "))
		return c
	}
	if given[0] == "repository" && keys["name"] == nil {
		m.Report(n, "name is missing: a repository has many charts")
	}
	if given[0] != "path" && keys["version"] == nil {
		m.Report(n, "version is missing: the chart's, as its project writes it")
	}
	if c.OCI != "" && c.Name != "" && path.Base(c.OCI) != c.Name {
		m.Report(keys["name"], "%s ends with another name: omit this, or write %s", c.OCI, path.Base(c.OCI))
	}
	return c
}

// parseManifest reads where a file of manifests is.
func parseManifest(m *strict.Mapping, n *yaml.Node) ManifestSource {
	var s ManifestSource
	keys := m.Struct(n, &s, textFormats()).Nodes
	s.Path = strings.TrimSuffix(s.Path, "/")
	switch {
	case n.Kind != yaml.MappingNode:
	case keys["url"] == nil && keys["path"] == nil:
		m.Report(n, "the location of the file is missing: expected url or path")
	case keys["url"] != nil && keys["path"] != nil:
		m.Report(keys["path"], "url and path exclude each other: expected one of them")
	}
	return s
}

// parseImage reads an image, by itself or with its platforms.
func parseImage(m *strict.Mapping, n *yaml.Node) Image {
	var i Image
	if n.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column, Content: []*yaml.Node{strict.KeyNode("image"), n}}
	}
	m.Struct(n, &i, textFormats())
	return i
}

// Provided returns the APIs that a version of the entry provides: its own, or where it names
// none the kinds of the entry.
func (e Entry) Provided(v *Version) []solve.API { return provided(e.Kinds, v) }

func provided(kinds []Kind, v *Version) []solve.API {
	if len(v.Provides) > 0 {
		return v.Provides
	}
	all := make([]solve.API, 0, len(kinds))
	for _, k := range kinds {
		all = append(all, solve.API{Kind: k.Kind, Versions: k.Versions})
	}
	return all
}
