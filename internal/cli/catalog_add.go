package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
)

// catalogAddOptions are those of what writes into a catalogue of one's own.
type catalogAddOptions struct {
	*command.Common
	app.CatalogTarget
}

func (o *catalogAddOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Folder, "catalog", "", "the directory of the catalog; created if it does not exist")
	f.BoolVar(&o.Replace, "replace", false, "replace an existing version that has other content")
	command.Must(cmd.MarkFlagDirname("catalog"))
}

func newCatalogAdd(env command.Env) *cobra.Command {
	o := &catalogAddOptions{Common: command.NewCommon(env)}
	cmd := o.NewCommand("add FILE... --catalog DIR", cobra.MinimumNArgs(1), command.CompleteYAML, o.run)
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
	_, err := fmt.Fprintf(o.Env.Out, "%s: %s\n", command.Safe(done.File), command.Safe(changed))
	return err
}

func newCatalogImport(env command.Env) *cobra.Command {
	o := &catalogAddOptions{Common: command.NewCommon(env)}
	cmd := o.NewCommand("import-csv CSV [MANIFEST...] --catalog DIR", cobra.MinimumNArgs(1), command.CompleteYAML, o.importCSV)
	o.flags(cmd)
	return cmd
}

func (o *catalogAddOptions) importCSV(ctx context.Context, files []string) error {
	done, warnings, err := app.ImportCSV(ctx, o.CatalogTarget, files)
	for _, w := range warnings {
		fmt.Fprintf(o.Env.ErrOut, "not carried over: %s\n", command.Safe(w))
	}
	if err != nil {
		return err
	}
	return o.print(done)
}
