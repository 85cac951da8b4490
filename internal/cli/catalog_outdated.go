package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// sourcesAtOnce is how many chart repositories and registries are asked at a time.
const sourcesAtOnce = 8

type catalogOutdatedOptions struct {
	*common
	catalogueOptions
}

func newCatalogOutdated(env Env) *cobra.Command {
	o := &catalogOutdatedOptions{common: newCommon(env, "table", "name")}
	cmd := &cobra.Command{
		Use:   "outdated [OPERATOR...]",
		Short: "Show the operators with newer published versions",
		Long: `Query the chart repository or registry of an entry for chart versions that are newer
than those of the catalog. All installable entries are checked, or those you name. A
pre-release is considered only if the catalog has one. Software that is published as
manifest files has no list of versions, which is reported.

Only lists are fetched, and nothing is written: to add a version to a catalog you need
its artifacts and their digests (docs/catalog.md).`,
		Example: `  # what is newer than the catalog?
  kubectl sysop catalog outdated

  # of one operator
  kubectl sysop catalog outdated cert-manager`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return o.completeEntries(o.common, func(e catalog.Entry) bool { return len(e.Versions) > 0 && !slices.Contains(args, e.Name) })(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writing(cmd)
	o.catalogueFlags(cmd)
	return cmd
}

func (o *catalogOutdatedOptions) run(ctx context.Context, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.offline {
		return hint.With(errors.New("offline, the published versions are unknown"), "leave out --offline")
	}
	cats, err := o.load(ctx, o.common)
	if err != nil {
		return err
	}
	entries, err := installable(cats, args)
	if err != nil {
		return err
	}
	rows := make([]view.OutdatedRow, len(entries))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(sourcesAtOnce)
	for i, e := range entries {
		asking.Go(func() error {
			rows[i] = cats.outdated(ctx, e)
			return ctx.Err()
		})
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	cats.tell(o.common)
	if err := o.write(view.Outdated(rows)); err != nil {
		return err
	}
	return unreadSources(rows)
}

// unreadSources is the error of sources that could not be asked.
func unreadSources(rows []view.OutdatedRow) error {
	n := 0
	for _, r := range rows {
		if r.Unread != "" && r.From != "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s could not be read", plural(n, "source"))
}

// installable are the entries of the names, or all that have a version.
func installable(cats *catalogues, names []string) ([]catalog.Entry, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(cats.Entries()), func(e catalog.Entry) bool { return len(e.Versions) == 0 }), nil
	}
	var all []catalog.Entry
	for _, name := range names {
		e, ok := cats.Find(name)
		if !ok {
			return nil, hint.With(errors.New(cats.Unknown(name)), "kubectl sysop catalog search finds one by its kinds")
		}
		if len(e.Versions) == 0 {
			return nil, fmt.Errorf("the catalog has no version of %s that can be installed", name)
		}
		all = append(all, e)
	}
	return all, nil
}

// outdated asks the source of an entry's newest version. What cannot be asked is a row that says so.
func (a *catalogues) outdated(ctx context.Context, e catalog.Entry) view.OutdatedRow {
	v, ok := e.Latest()
	if !ok {
		v = &e.Versions[0] // pre-releases alone
	}
	row := view.OutdatedRow{Name: e.Name, Has: v.Version}
	chart := v.Source.Chart
	if chart == nil || chart.Path != "" {
		row.Unread = "not a chart of a repository or registry: nothing lists its versions"
		return row
	}
	row.From = chart.Repository + chart.OCI
	if chart.Version != "" {
		row.Has = chart.Version
	}
	f, err := a.fetcher(e.Name)
	if err != nil {
		row.Unread = err.Error()
		return row
	}
	published, err := f.ChartVersions(ctx, *chart)
	if err != nil {
		row.Unread = err.Error()
		return row
	}
	if row.Newer, err = newer(row.Has, published); err != nil {
		row.Unread = err.Error()
	}
	return row
}

// newer are the published versions after one, newest first, each as it is written. What is no version
// (a signature, a branch) is none.
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
