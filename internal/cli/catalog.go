package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

func newCatalog(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Browse the operator catalog, and maintain your own",
		Long: `Browse the operator catalog: what operators define, which versions can be installed,
from where, and what they require. One catalog is embedded; --catalog adds others (a
directory, a .tar or .tgz, or an http(s) or OCI address), and an entry there replaces
the embedded one. Only what you name is fetched.

docs/catalog.md describes the format, and how to add an operator.`,
	}
	holds(cmd)
	cmd.AddCommand(newCatalogList(env), newCatalogSearch(env), newCatalogShow(env), newCatalogAdd(env), newCatalogBundle(env), newCatalogValidate(env), newCatalogOutdated(env), newCatalogImport(env))
	return cmd
}

// tell reports the warnings of the fetched catalogues.
func (a *catalogues) tell(c *common) {
	for _, n := range a.notes {
		fmt.Fprintf(c.env.ErrOut, "note: %s\n", safe(n))
	}
}

// filesOf reads the files of a catalogue: a directory as it is, anything else unpacked.
func (a *catalogues) filesOf(ctx context.Context, address string) (fs.FS, error) {
	f, err := fetch.New(a.options)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(address); err != nil && !isAddress(address) {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	files, artifact, err := f.Catalogue(ctx, address)
	if err != nil {
		return nil, err
	}
	a.notes = append(a.notes, artifact.Notes...)
	return files, nil
}
