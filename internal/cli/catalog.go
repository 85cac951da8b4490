package cli

import (
	"github.com/spf13/cobra"
)

func newCatalog(env Env) *cobra.Command {
	return group("catalog", newCatalogList(env), newCatalogSearch(env), newCatalogShow(env), newCatalogAdd(env), newCatalogBundle(env), newCatalogValidate(env), newCatalogOutdated(env), newCatalogImport(env))
}
