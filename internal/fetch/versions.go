package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// tagPages is how many pages of tags are read of a registry, and tagsPerPage how many tags a page is
// asked for; a registry may give fewer.
const (
	tagPages    = 100
	tagsPerPage = 1000
)

// ChartVersions returns the versions of a chart that its repository or registry lists, as they are
// written there and in its order. Of a registry the tags are the versions, those that are signatures
// among them. Nothing of it is verified or cached.
func (f *Fetcher) ChartVersions(ctx context.Context, source catalog.ChartSource) ([]string, error) {
	versions, err := f.chartVersions(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("list the versions of chart %s: %w", title(source), err)
	}
	return versions, nil
}

func (f *Fetcher) chartVersions(ctx context.Context, source catalog.ChartSource) ([]string, error) {
	switch {
	case f.options.Offline:
		return nil, errors.New("offline: no request is sent")
	case source.OCI != "":
		p, err := f.placeOf(source.OCI)
		if err != nil {
			return nil, err
		}
		return f.tags(ctx, p)
	case source.Repository != "":
		repository, err := address(source.Repository)
		if err != nil {
			return nil, err
		}
		listed, err := f.index(ctx, repository)
		if err != nil {
			return nil, err
		}
		return listed.versions(source.Name)
	}
	return nil, errors.New("it is a file beside the entry: its versions are not listed")
}

// versions are those of a chart of the index.
func (x index) versions(name string) ([]string, error) {
	list := x.entries[name]
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("the repository has no chart %s; it has %s", name, some(x.names(name)))
	}
	var all []string
	for _, node := range list.Content {
		if node.Kind == yaml.MappingNode {
			all = append(all, text(node, "version"))
		}
	}
	return all, nil
}

// tags are those of a repository of a registry, page by page: each page begins behind the last tag of
// the one before. A registry that knows no pages gives the same again, and that ends it.
func (f *Fetcher) tags(ctx context.Context, p place) ([]string, error) {
	var all []string
	last := ""
	for range tagPages {
		query := url.Values{"n": {strconv.Itoa(tagsPerPage)}}
		if last != "" {
			query.Set("last", last)
		}
		data, err := f.fromRegistryAt(ctx, p, p.url("tags", "list", query), false, "application/json", maxManifestBytes)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tags []string `json:"tags"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, fmt.Errorf("read the tags of %s: %w", p, safeError{err})
		}
		if n := len(page.Tags); n == 0 || page.Tags[n-1] == last {
			return all, nil
		}
		all, last = append(all, page.Tags...), page.Tags[len(page.Tags)-1]
	}
	return nil, fmt.Errorf("%s has more than %d pages of tags", strings.TrimSuffix(p.String(), ":"), tagPages)
}
