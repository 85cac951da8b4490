package cli

import (
	"github.com/spf13/cobra"
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
