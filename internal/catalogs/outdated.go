package catalogs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// maxQueries is how many chart repositories and registries are queried at a time.
const maxQueries = 8

// Outdated queries the sources of the named entries, or of all that can be installed.
func (a *Catalogs) Outdated(ctx context.Context, names []string) ([]catalog.Published, error) {
	if a.Options.Offline {
		return nil, hint.With(errors.New("offline, the published versions are unknown"), "leave out --offline")
	}
	entries, err := a.withVersions(names)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.Published, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxQueries)
	for i, e := range entries {
		group.Go(func() error {
			out[i] = a.published(ctx, e)
			return ctx.Err()
		})
	}
	return out, group.Wait()
}

// withVersions returns the named entries, or all that have a version.
func (a *Catalogs) withVersions(names []string) ([]catalog.Entry, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(a.Entries()), func(e catalog.Entry) bool { return len(e.Versions) == 0 }), nil
	}
	var all []catalog.Entry
	for _, name := range names {
		e, ok := a.Find(name)
		if !ok {
			return nil, hint.With(errors.New(a.Unknown(name)), "kubectl sysop catalog search finds one by its kinds")
		}
		if len(e.Versions) == 0 {
			return nil, fmt.Errorf("the catalog has no version of %s that can be installed", name)
		}
		all = append(all, e)
	}
	return all, nil
}

// published queries the source of the newest version of an entry.
func (a *Catalogs) published(ctx context.Context, e catalog.Entry) catalog.Published {
	v, ok := e.Latest()
	if !ok {
		v = &e.Versions[0] // it has only pre-releases
	}
	out := catalog.Published{Name: e.Name, Has: v.Version}
	chart := v.Source.Chart
	if chart == nil || chart.Path != "" {
		out.Unread = "not a chart of a repository or registry: nothing lists its versions"
		return out
	}
	out.From = chart.Repository + chart.OCI
	if chart.Version != "" {
		out.Has = chart.Version
	}
	f, err := a.Fetcher(e.Name)
	if err != nil {
		out.Unread = err.Error()
		return out
	}
	published, err := f.ChartVersions(ctx, *chart)
	if err == nil {
		out.Newer, err = newer(out.Has, published)
	}
	if err != nil {
		out.Unread = err.Error()
	}
	return out
}

// newer returns the published versions after one, newest first, as they are written. It leaves out
// tags that are no versions, like those of signatures and branches.
func newer(than string, published []string) ([]string, error) {
	has, err := semver.NewVersion(than)
	if err != nil {
		return nil, fmt.Errorf("%q is not a semantic version: it cannot be compared", than)
	}
	var all []*semver.Version
	for _, text := range published {
		v, err := semver.NewVersion(text)
		if err == nil && v.GreaterThan(has) && (v.Prerelease() == "" || has.Prerelease() != "") {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(x, y *semver.Version) int { return y.Compare(x) })
	all = slices.CompactFunc(all, func(x, y *semver.Version) bool { return x.Equal(y) })
	var texts []string
	for _, v := range all {
		texts = append(texts, v.Original())
	}
	return texts, nil
}
