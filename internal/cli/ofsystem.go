package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// systemQuery is a question about the apps of a System, instead of about roots.
type systemQuery struct {
	name string // --system
	app.SystemRows
	// dir is where the manifest lies; empty for one that was adopted.
	dir string
}

func (o *systemQuery) flag(cmd *cobra.Command, c *common, subject string) {
	cmd.Flags().StringVar(&o.name, "system", "", "instead of a ROOT, the apps of a System, "+subject+": the FILE of a manifest, or the NAME of an adopted one")
	must(cmd.RegisterFlagCompletionFunc("system", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, _ := c.completeSystem(cmd, nil, typed)
		return names, cobra.ShellCompDirectiveDefault // or a file
	}))
}

// read reads the System, and returns the arguments that its roots are.
func (o *systemQuery) read(ctx context.Context, c *common, args []string) ([]string, error) {
	switch {
	case o.name == "":
		return args, nil
	case len(args) > 0:
		return nil, hint.With(fmt.Errorf("--system has its own roots, and %s is another one", args[0]), "leave out one of them")
	case c.AllNamespaces:
		return nil, errors.New("-A: a System names its roots with their namespaces")
	}
	var err error
	if o.isFile() {
		o.dir = filepath.Dir(o.name)
		o.System, err = c.readSystem(ctx, o.name)
	} else {
		o.System, err = c.namedSystem(ctx, o.name)
	}
	if err != nil {
		return nil, err
	}
	if err := c.enter(o.System); err != nil {
		return nil, err
	}
	var roots []string
	o.Apps = nil
	for i := range o.System.Apps {
		for _, r := range o.System.Apps[i].Roots {
			roots, o.Apps = append(roots, r.String()), append(o.Apps, i)
		}
	}
	return roots, nil
}

// isFile says whether --system means a file: what is there, or cannot be a name.
func (o *systemQuery) isFile() bool {
	if o.name == "-" || o.name == demoSystem || strings.Contains(o.name, ".") {
		return true
	}
	_, err := os.Stat(o.name)
	return err == nil
}

// prices is the price book of the System: beside its manifest, unless it is somewhere else.
func (o *systemQuery) prices(given string) string {
	if o.System == nil || given != "" || o.System.Chargeback.Prices == "" {
		return given
	}
	book := o.System.Chargeback.Prices
	if book == app.DefaultPrices || filepath.IsAbs(book) {
		return book
	}
	return filepath.Join(o.dir, book)
}

// sharing is how the System shares what several of its apps need.
func (o *systemQuery) sharing(given string, chosen bool) string {
	if o.System == nil || chosen {
		return given
	}
	return cmp.Or(string(o.System.Chargeback.Sharing), given, string(cost.ShareEven))
}
