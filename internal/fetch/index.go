package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// maxIndexBytes is the most that an index.yaml has. Large public ones have some 20 MB, and a
// million nodes; strict.MaxNodes bounds these, and with them what it takes parsed.
const maxIndexBytes = 32 << 20

// index is an index.yaml: what is in it of each chart.
type index struct {
	entries map[string]*yaml.Node
}

// entry is one version of a chart, as an index has it.
type entry struct {
	version, digest, url string
}

// index returns the index of a repository. It is fetched once in the life of the Fetcher.
func (f *Fetcher) index(ctx context.Context, repository *url.URL) (index, error) {
	f.indexes.Lock()
	defer f.indexes.Unlock()
	at := repository.JoinPath("index.yaml")
	if known, ok := f.indexes.byURL[at.String()]; ok {
		return known, nil
	}
	text, err := f.get(ctx, at, min(maxIndexBytes, f.options.Limits.Bytes))
	if err != nil {
		return index{}, fmt.Errorf("get index.yaml: %w", err)
	}
	parsed, err := parseIndex(text)
	if err != nil {
		return index{}, fmt.Errorf("read index.yaml: %w", err)
	}
	f.indexes.byURL[at.String()] = parsed
	return parsed, nil
}

// parseIndex goes over the nodes by hand: decoding would follow aliases, and compares every
// key of a mapping with every other.
func parseIndex(text []byte) (index, error) {
	if err := strict.CheckNodes(text); err != nil {
		return index{}, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return index{}, safeError{err}
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return index{}, errors.New("it is not a mapping: is this the address of a chart repository?")
	}
	entries := child(document.Content[0], "entries")
	if entries == nil || entries.Kind != yaml.MappingNode {
		return index{}, errors.New("it has no entries: is this the address of a chart repository?")
	}
	out := index{entries: make(map[string]*yaml.Node, len(entries.Content)/2)}
	for i := 0; i+1 < len(entries.Content); i += 2 {
		name, versions := entries.Content[i], entries.Content[i+1]
		if _, twice := out.entries[name.Value]; twice {
			return index{}, fmt.Errorf("line %d: the chart %s occurs twice", name.Line, excerpt([]byte(name.Value)))
		}
		out.entries[name.Value] = versions
	}
	return out, nil
}

// child is the value of a key, nil where it is absent. An alias is a value like others, of a
// kind that is not needed.
func child(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Kind == yaml.ScalarNode && mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func text(mapping *yaml.Node, key string) string {
	if value := child(mapping, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// find returns a version of a chart. Of several with the same version it is the one with the
// digest; without a digest that is an error, unless they agree.
func (x index) find(name, version, digest string) (entry, error) {
	list := x.entries[name]
	if list == nil {
		return entry{}, fmt.Errorf("the repository has no chart %s; it has %s", name, some(x.names(name)))
	}
	if list.Kind != yaml.SequenceNode {
		return entry{}, fmt.Errorf("line %d of its index.yaml: the versions of %s are not a list", list.Line, name)
	}
	var found []entry
	var versions []string
	for _, node := range list.Content {
		if node.Kind != yaml.MappingNode {
			return entry{}, fmt.Errorf("line %d of its index.yaml: a version of %s is not a mapping", node.Line, name)
		}
		has := text(node, "version")
		versions = append(versions, has)
		if strings.TrimPrefix(has, "v") != strings.TrimPrefix(version, "v") {
			continue
		}
		one := entry{version: has}
		if urls := child(node, "urls"); urls != nil && urls.Kind == yaml.SequenceNode && len(urls.Content) > 0 {
			one.url = urls.Content[0].Value
		}
		if one.url == "" {
			return entry{}, fmt.Errorf("line %d of its index.yaml: %s %s has no urls", node.Line, name, version)
		}
		var err error
		if one.digest, err = parseDigest(text(node, "digest")); err != nil {
			return entry{}, fmt.Errorf("line %d of its index.yaml: the digest of %s %s: %w", node.Line, name, version, err)
		}
		found = append(found, one)
	}
	return choose(found, name, version, digest, versions)
}

func choose(found []entry, name, version, digest string, versions []string) (entry, error) {
	if len(found) == 0 {
		return entry{}, fmt.Errorf("the repository has no version %s of %s; near it are %s", version, name, some(nearest(version, versions)))
	}
	if i := slices.IndexFunc(found, func(e entry) bool { return digest != "" && e.digest == digest }); i >= 0 {
		return found[i], nil
	}
	for _, other := range found[1:] {
		if other != found[0] {
			return entry{}, fmt.Errorf("the repository has version %s of %s twice, and they differ (%s, %s)", version, name, found[0].digest, other.digest)
		}
	}
	return found[0], nil
}

// names are the charts with the most alike names first.
func (x index) names(like string) []string {
	var out []string
	for name := range x.entries {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(common(b, like), common(a, like)), strings.Compare(a, b))
	})
	return out
}

// common is how many letters two names begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// nearest are versions by how far they are from the one that is wanted: by major, minor and
// patch number. What is not a version is left out.
func nearest(want string, versions []string) []string {
	type far struct {
		version *semver.Version
		by      [3]uint64
	}
	wanted, err := semver.NewVersion(want)
	if err != nil {
		wanted = &semver.Version{}
	}
	var all []far
	for _, text := range versions {
		v, err := semver.NewVersion(text)
		if err != nil {
			continue
		}
		all = append(all, far{v, [3]uint64{distance(v.Major(), wanted.Major()), distance(v.Minor(), wanted.Minor()), distance(v.Patch(), wanted.Patch())}})
	}
	slices.SortStableFunc(all, func(a, b far) int {
		return cmp.Or(slices.Compare(a.by[:], b.by[:]), b.version.Compare(a.version))
	})
	out := make([]string, 0, len(all))
	for _, one := range all {
		out = append(out, one.version.Original())
	}
	return out
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// some shows the first of a list of what others wrote.
func some(list []string) string {
	const most = 5
	if len(list) == 0 {
		return "none"
	}
	shown := make([]string, 0, most)
	for _, one := range list[:min(len(list), most)] {
		shown = append(shown, plain(one))
	}
	out := strings.Join(shown, ", ")
	if len(list) > most {
		out += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return out
}
