package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// catalogAddOptions are those of what writes into a catalogue of one's own.
type catalogAddOptions struct {
	*common
	app.CatalogTarget
}

func (o *catalogAddOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Folder, "catalog", "", "the directory of the catalog; created if it does not exist")
	f.BoolVar(&o.Replace, "replace", false, "replace an existing version that has other content")
	must(cmd.MarkFlagDirname("catalog"))
}

func newCatalogAdd(env Env) *cobra.Command {
	o := &catalogAddOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "add FILE... --catalog DIR",
		Short: "Add entries, or versions of entries, to your own catalog",
		Long: `Add the entries of files to the catalog in a directory. If an entry with the name
exists, only the versions are added to it, and the rest of its text, comments included,
stays unchanged. A version that exists with other content is refused, unless --replace
is given. A file is written completely or not at all.`,
		Example: `  # a new version of an operator
  kubectl sysop catalog add hello-1.1.0.yaml --catalog catalog`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeYAML,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.flags(cmd)
	return cmd
}

func (o *catalogAddOptions) run(ctx context.Context, files []string) error {
	added, err := app.AddEntries(ctx, o.CatalogTarget, files)
	for _, done := range added {
		if err := o.print(done); err != nil {
			return err
		}
	}
	return err
}

// print says what was added to an entry.
func (o *catalogAddOptions) print(done catalog.Added) error {
	for _, n := range done.Notes {
		o.Note(n)
	}
	changed := "nothing new"
	if versions := slices.Concat(done.Versions, done.Replaced); len(versions) > 0 {
		changed = strings.Join(versions, ", ")
	}
	_, err := fmt.Fprintf(o.env.Out, "%s: %s\n", safe(done.File), safe(changed))
	return err
}

func newCatalogImport(env Env) *cobra.Command {
	o := &catalogAddOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "import-csv CSV [MANIFEST...] --catalog DIR",
		Short: "Create an entry from a ClusterServiceVersion of OLM",
		Long: `Create an entry from a ClusterServiceVersion (operators.coreos.com/v1alpha1) and the
other manifests of its bundle, which hold its CRDs. Deployments and permissions become
manifests that are installed unchanged. What only OLM does (webhook certificates, which
version replaces which) is left out and reported.`,
		Example:           `  kubectl sysop catalog import-csv manifests/*.yaml --catalog catalog`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeYAML,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.importCSV(cmd.Context(), args) },
	}
	o.flags(cmd)
	return cmd
}

func (o *catalogAddOptions) importCSV(ctx context.Context, files []string) error {
	done, warnings, err := app.ImportCSV(ctx, o.CatalogTarget, files)
	for _, w := range warnings {
		fmt.Fprintf(o.env.ErrOut, "not carried over: %s\n", safe(w))
	}
	if err != nil {
		return err
	}
	return o.print(done)
}
