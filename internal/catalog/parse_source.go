package catalog

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// parseSource reads where a version comes from.
func parseSource(all *strict.Mapping, n *yaml.Node) Source {
	var s Source
	var given []*yaml.Node
	part(all, n, func(m *strict.Mapping) []strict.Field {
		return []strict.Field{
			{Name: "chart", Set: func(n *yaml.Node) { given = append(given, n); s.Chart = parseChart(m, n) }},
			{Name: "manifests", Set: func(n *yaml.Node) { given = append(given, n); s.Manifests = parseManifests(m, n) }},
			{Name: "inline", Set: func(n *yaml.Node) { given = append(given, n); s.Inline = inlineAt(m, n) }},
		}
	})
	switch {
	case n.Kind != yaml.MappingNode:
	case len(given) == 0:
		all.Report(n, "the source is missing: expected chart, manifests or inline")
	case len(given) > 1:
		all.Report(given[1], "chart, manifests and inline exclude each other: expected one of them")
	}
	return s
}

func parseChart(all *strict.Mapping, n *yaml.Node) *ChartSource {
	c := &ChartSource{}
	nodes := map[string]*yaml.Node{}
	part(all, n, func(m *strict.Mapping) []strict.Field {
		take := func(name string, read func(*strict.Mapping, *yaml.Node) string, to *string) strict.Field {
			return strict.Field{Name: name, Set: func(n *yaml.Node) { nodes[name] = n; *to = read(m, n) }}
		}
		return []strict.Field{
			take("repository", urlAt, &c.Repository),
			take("oci", ociAt, &c.OCI),
			take("path", pathAt, &c.Path),
			take("name", chartNameAt, &c.Name),
			take("version", chartVersionAt, &c.Version),
			take("digest", digestAt, &c.Digest),
			{Name: "values", Set: func(n *yaml.Node) { c.Values = valuesAt(m, n) }},
		}
	})
	if n.Kind == yaml.MappingNode {
		checkChart(all, n, c, nodes)
	}
	return c
}

// checkChart says what is wrong with the keys of a chart together.
func checkChart(m *strict.Mapping, n *yaml.Node, c *ChartSource, nodes map[string]*yaml.Node) {
	var given []string
	for _, key := range []string{"repository", "oci", "path"} {
		if nodes[key] != nil {
			given = append(given, key)
		}
	}
	switch len(given) {
	case 0:
		m.Report(n, "the location of the chart is missing: expected repository, oci or path")
		return
	case 1:
	default:
		m.Report(nodes[given[1]], "%s exclude each other: expected one of them", strings.Join(given, " and "))
		return
	}
	if given[0] == "repository" && nodes["name"] == nil {
		m.Report(n, "name is missing: a repository has many charts")
	}
	if given[0] != "path" && nodes["version"] == nil {
		m.Report(n, "version is missing: the chart's, as its project writes it")
	}
	if c.OCI != "" && c.Name != "" && path.Base(c.OCI) != c.Name {
		m.Report(nodes["name"], "%s ends with another name: omit this, or write %s", c.OCI, path.Base(c.OCI))
	}
}

func parseManifests(all *strict.Mapping, n *yaml.Node) []ManifestSource {
	var manifests []ManifestSource
	for _, item := range items(all, n, "expected a list of files: {url: https://..., sha256: HEX} or {path: FILE}", maxItems) {
		var s ManifestSource
		nodes := map[string]*yaml.Node{}
		part(all, item, func(m *strict.Mapping) []strict.Field {
			return []strict.Field{
				{Name: "url", Set: func(n *yaml.Node) { nodes["url"] = n; s.URL = urlAt(m, n) }},
				{Name: "path", Set: func(n *yaml.Node) { nodes["path"] = n; s.Path = pathAt(m, n) }},
				{Name: "sha256", Set: func(n *yaml.Node) { s.SHA256 = sumAt(m, n) }},
			}
		})
		where := s
		where.SHA256 = ""
		switch {
		case item.Kind != yaml.MappingNode:
		case nodes["url"] == nil && nodes["path"] == nil:
			all.Report(item, "the location of the file is missing: expected url or path")
		case nodes["url"] != nil && nodes["path"] != nil:
			all.Report(nodes["path"], "url and path exclude each other: expected one of them")
		case where != (ManifestSource{}) && slices.ContainsFunc(manifests, func(o ManifestSource) bool { return o.URL == s.URL && o.Path == s.Path }):
			all.Report(item, "a second %s: expected one", field.Shorten(s.URL+s.Path))
		}
		manifests = append(manifests, s)
	}
	return manifests
}

// pattern is a regular expression that is compiled when it is needed first: most commands
// read no entry.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	chartName = pattern(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,249}$`)
	sum       = pattern(`^[0-9a-f]{64}$`)
)

func chartNameAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text != "" && !chartName().MatchString(text) {
		m.Report(n, "%q is not a chart name: expected letters, digits, dashes, dots", field.Shorten(text))
	}
	return text
}

func chartVersionAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if _, err := semver.NewVersion(text); text != "" && err != nil {
		m.Report(n, "%q is not a chart version: expected one, not a range, as v1.18.2 or 1.18.2", field.Shorten(text))
	}
	return text
}

func digestAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if hex, ok := strings.CutPrefix(text, "sha256:"); text != "" && (!ok || !sum().MatchString(hex)) {
		m.Report(n, "%q is not a digest: expected sha256: and 64 hex digits in lower case", field.Shorten(text))
	}
	return text
}

func sumAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text != "" && !sum().MatchString(text) {
		m.Report(n, "%q is not a SHA-256 sum: expected 64 hex digits in lower case", field.Shorten(text))
	}
	return text
}
