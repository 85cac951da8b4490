package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
)

// completeInstallable offers the operators that can be installed, and behind "@" their
// versions.
func (o *catalogueOptions) completeInstallable(c *common) completer {
	return o.completeEntries(c, func(e catalog.Entry) bool { return len(e.Versions) > 0 })
}

// completeOneEntry offers all entries for the only argument.
func (o *catalogueOptions) completeOneEntry(c *common) completer {
	entries := o.completeEntries(c, func(catalog.Entry) bool { return true })
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		return entries(cmd, args, typed)
	}
}

// completeEntries offers entries of the catalogue, and behind "@" their versions, newest first.
// No cluster is asked for it, and nothing is fetched: of further catalogues what is here.
func (o *catalogueOptions) completeEntries(c *common, wanted func(catalog.Entry) bool) completer {
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
	local.Offline = true
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
	for _, v := range entries[i].NewestFirst() {
		if word := name + "@" + v.Version; strings.HasPrefix(word, typed) {
			out = append(out, word)
		}
	}
	return out
}

// completeInstalled offers what was installed.
func (o *installOptions) completeInstalled(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return o.completeInstallations(cmd, typed), noFiles
}

func (o *installOptions) completeInstallations(cmd *cobra.Command, typed string) []string {
	return o.asking(cmd.Context(), typed, func(ctx context.Context, w *completion.Source) []string { return w.Installed(ctx) })
}

// completeUpgrades offers what was installed, and behind "@" the versions of the catalogue.
func (o *installOptions) completeUpgrades(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(typed, "@") {
		return o.completeInstallable(o.common)(cmd, args, typed)
	}
	return slices.DeleteFunc(o.completeInstallations(cmd, typed), func(name string) bool { return slices.Contains(args, name) }), noFiles
}
