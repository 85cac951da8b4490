package catalog

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Bounds of an entry. They are far above what a person writes, and keep what others wrote
// from filling the memory.
const (
	// maxEntryBytes is how many bytes an entry has, maxInlineBytes how many its manifests, maxExampleBytes
	// one of its examples, maxValuesBytes the values of a chart, written as YAML.
	maxEntryBytes, maxInlineBytes, maxExampleBytes, maxValuesBytes = 4 << 20, 2 << 20, 64 << 10, 256 << 10
	// maxVersions is how many versions an entry has, maxItems how long every other list of a
	// version is, maxTextBytes how many bytes a name, an address or a range has.
	maxVersions, maxItems, maxTextBytes = 200, 500, 1024
)

// parseVersions reads the versions of an entry. Kinds are those of the entry.
func parseVersions(n *yaml.Node, kinds []Kind) ([]Version, []strict.Problem) {
	all := &strict.Mapping{}
	var versions []Version
	read := map[string]string{}
	for _, item := range items(all, n, "expected a list of versions that can be installed", maxVersions) {
		v, at := parseVersion(all, item, kinds)
		if parsed, err := semver.StrictNewVersion(v.Version); err == nil {
			key := parsed.String()
			if i := strings.IndexByte(key, '+'); i >= 0 {
				key = key[:i]
			}
			switch other, twice := read[key]; {
			case twice && other == v.Version:
				all.Report(at, "a second version %s: expected one", v.Version)
			case twice:
				all.Report(at, "%s is neither later nor earlier than %s: build metadata does not order versions", v.Version, other)
			}
			read[key] = v.Version
		}
		versions = append(versions, v)
	}
	return versions, all.Problems
}

// parseVersion reads a version, and returns the node that says which it is.
func parseVersion(all *strict.Mapping, n *yaml.Node, kinds []Kind) (Version, *yaml.Node) {
	var v Version
	at := n
	var examples *yaml.Node
	part(all, n, func(m *strict.Mapping) []strict.Field {
		return []strict.Field{
			{Name: "version", Required: true, Set: func(n *yaml.Node) { at = n; v.Version = versionAt(m, n) }},
			{Name: "kubernetes", Set: func(n *yaml.Node) { v.Kubernetes = rangeAt(m, n) }},
			{Name: "provides", Set: func(n *yaml.Node) { v.Provides = parseProvides(m, n) }},
			{Name: "requires", Set: func(n *yaml.Node) { v.Requires = parseRequirements(m, n, false) }},
			{Name: "conflicts", Set: func(n *yaml.Node) { v.Conflicts = parseRequirements(m, n, true) }},
			{Name: "source", Required: true, Set: func(n *yaml.Node) { v.Source = parseSource(m, n) }},
			{Name: "namespace", Required: true, Set: func(n *yaml.Node) { v.Namespace = labelAt(m, n) }},
			{Name: "crds", Set: func(n *yaml.Node) { v.Definitions = policyAt(m, n) }},
			{Name: "health", Set: func(n *yaml.Node) { v.Ready = parseReady(m, n) }},
			{Name: "images", Set: func(n *yaml.Node) { v.Images = parseImages(m, n) }},
			{Name: "examples", Set: func(n *yaml.Node) { examples = n }},
		}
	})
	if examples != nil {
		v.Examples = parseExamples(all, examples, provided(kinds, &v))
	}
	return v, at
}

// part reads a mapping that is part of a larger one, which gets its problems.
func part(all *strict.Mapping, n *yaml.Node, fields func(*strict.Mapping) []strict.Field) {
	m := &strict.Mapping{}
	m.Fields = fields(m)
	m.Read(n)
	all.Problems = append(all.Problems, m.Problems...)
}

// items returns the items of a list that is not empty and not longer than most.
func items(m *strict.Mapping, n *yaml.Node, want string, most int) []*yaml.Node {
	switch {
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		m.Report(n, "%s", want)
		return nil
	case len(n.Content) > most:
		m.Report(n.Content[most], "%d items in a list: expected at most %d", len(n.Content), most)
		return n.Content[:most]
	}
	return n.Content
}

// short is a text on one line, of a length that names, addresses and ranges have. It is
// empty where it was refused.
func short(m *strict.Mapping, n *yaml.Node) string {
	text := m.Text(n)
	switch {
	case len(text) > maxTextBytes:
		m.Report(n, "the text has %d bytes: expected at most %d", len(text), maxTextBytes)
		return ""
	case strings.TrimSpace(text) != text || strings.ContainsFunc(text, unprintable):
		m.Report(n, "%q has leading or trailing space, or invisible characters", field.Shorten(text))
		return ""
	}
	return text
}

func unprintable(c rune) bool {
	return c < ' ' || c == 0x7f || c == '\ufffd' || c == '\u2028' || c == '\u2029' || c == '\ufeff'
}

func versionAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text == "" {
		return ""
	}
	if _, err := semver.StrictNewVersion(text); err != nil {
		hint := ""
		if v, err := semver.NewVersion(text); err == nil {
			hint = object.DidYouMean([]string{v.String()})
		}
		m.Report(n, "%q is not a version: expected MAJOR.MINOR.PATCH, without a v%s", field.Shorten(text), hint)
	}
	return text
}

// rangeAt reads a range of versions: ">=1.29 <1.36".
func rangeAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text == "" {
		return ""
	}
	if _, err := semver.NewConstraint(text); err != nil {
		m.Report(n, `%q is not a version range: expected one such as ">=1.29 <1.36"`, field.Shorten(text))
	}
	return text
}

// labelAt reads a DNS label, as names of namespaces are.
func labelAt(m *strict.Mapping, n *yaml.Node) string {
	text := short(m, n)
	if text != "" && len(validation.IsDNS1123Label(text)) > 0 {
		m.Report(n, "%q is not a DNS label: expected lower-case letters, digits and dashes, 63 at most", field.Shorten(text))
	}
	return text
}

func policyAt(m *strict.Mapping, n *yaml.Node) DefinitionPolicy {
	choices := []string{string(Upgrade), string(Install), string(Leave)}
	text := short(m, n)
	if text != "" && !slices.Contains(choices, text) {
		m.Report(n, "there is no %q: expected upgrade, install or leave%s", field.Shorten(text), object.DidYouMean(object.Nearest(text, choices)))
	}
	return DefinitionPolicy(text)
}

// Provided returns the APIs that a version of the entry brings: its own, or where it names
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
