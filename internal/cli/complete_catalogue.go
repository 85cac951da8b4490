package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// completeInstallable offers the operators that can be installed, and behind "@" their
// versions.
func (o *catalogueOptions) completeInstallable(c *common) completion {
	return o.completeEntries(c, func(e catalog.Entry) bool { return len(e.Versions) > 0 })
}

// completeEntries offers entries of the catalogue, and behind "@" their versions, newest first.
// No cluster is asked for it, and nothing is fetched: of further catalogues what is here.
func (o *catalogueOptions) completeEntries(c *common, wanted func(catalog.Entry) bool) completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		name, _, versions := strings.Cut(typed, "@")
		words := c.completeWithin(cmd.Context(), func(ctx context.Context) []string {
			if versions {
				return versionsOf(o.knownEntries(ctx, c), name, typed)
			}
			var out []string
			for _, e := range o.knownEntries(ctx, c) {
				if wanted(e) && !slices.ContainsFunc(args, func(a string) bool { return a == e.Name || strings.HasPrefix(a, e.Name+"@") }) {
					out = append(out, e.Name+"\t"+e.Title)
				}
			}
			return beginning(out, typed)
		})
		if versions {
			return words, noFiles | cobra.ShellCompDirectiveKeepOrder
		}
		return words, noFiles
	}
}

// knownEntries are the entries that are known without asking anybody.
func (o *catalogueOptions) knownEntries(ctx context.Context, c *common) []catalog.Entry {
	local := *o
	local.offline = true
	skip := func(catalogs.Source, error) error { return nil } // The others are offered all the same.
	if cats, err := catalogs.Load(ctx, local.read(c), skip); err == nil {
		return cats.Entries()
	}
	return catalog.All()
}

// versionsOf are NAME@VERSION, newest first.
func versionsOf(entries []catalog.Entry, name, typed string) []string {
	i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	var out []string
	for _, v := range newestFirst(entries[i]) {
		if word := name + "@" + v; strings.HasPrefix(word, typed) {
			out = append(out, word)
		}
	}
	return out
}

// newestFirst are the versions of an entry.
func newestFirst(e catalog.Entry) []string {
	var out []string
	for i := range e.Versions {
		out = append(out, e.Versions[i].Version)
	}
	slices.SortStableFunc(out, func(a, b string) int { return -compareVersions(a, b) })
	return out
}

// compareVersions orders versions; what is none is below all.
func compareVersions(a, b string) int {
	x, errX := semver.NewVersion(a)
	y, errY := semver.NewVersion(b)
	switch {
	case errX != nil && errY != nil:
		return 0
	case errX != nil:
		return -1
	case errY != nil:
		return 1
	}
	return x.Compare(y)
}

// completeInstalled offers what was installed.
func (o *installOptions) completeInstalled(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return o.asking(cmd.Context(), typed, installations), noFiles
}

// completeUpgrades offers what was installed, and behind "@" the versions of the catalogue.
func (o *installOptions) completeUpgrades(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(typed, "@") {
		return o.completeInstallable(o.common)(cmd, args, typed)
	}
	return slices.DeleteFunc(o.asking(cmd.Context(), typed, installations), func(name string) bool { return slices.Contains(args, name) }), noFiles
}

// installations are those that have a journal, and the packages that came with them, of which
// the records of releases tell: everywhere, or where that may not be asked, in the namespace.
func installations(ctx context.Context, w *completionSource) []string {
	list := func(r object.Resource, label string) []completionObject {
		all := w.list(ctx, r, "", label)
		if len(all) == 0 && w.namespace != "" {
			all = w.list(ctx, r, w.namespace, label)
		}
		return all
	}
	var out []string
	for _, o := range list(configMapKnown, install.InstallLabel) {
		if name := o.Labels[install.InstallLabel]; object.MayBeName(name) && o.Name == install.JournalName(name) {
			out = append(out, name)
		}
	}
	for _, o := range list(secretKnown, helm.PackageLabel+",owner=helm,status=deployed") {
		if name := o.Labels[helm.PackageLabel]; object.MayBeName(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
