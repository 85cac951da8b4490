package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type catalogValidateOptions struct {
	*command.Common
	catalogueOptions
	crds string
}

func newCatalogValidate(env command.Env) *cobra.Command {
	o := &catalogValidateOptions{Common: command.NewCommon(env, "table", "json", "yaml", "name")}
	cmd := o.NewCommand("validate [CATALOG]", cobra.MaximumNArgs(1), cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault), o.run)
	o.AddOutputFlags(cmd)
	o.catalogueFlags(cmd)
	cmd.Flags().StringVar(&o.crds, "crds", "", "check every field against the CRDs in this directory")
	return cmd
}

func (o *catalogValidateOptions) run(ctx context.Context, args []string) error {
	cats, err := o.load(ctx, o.Common)
	if err != nil {
		return err
	}
	v := app.CatalogValidation{Catalogue: cats.Catalogue, Further: o.further(), CRDs: o.crds}
	if len(args) == 1 {
		v.Origin = fetch.Shown(args[0])
		if v.Files, err = cats.Files(ctx, args[0]); err != nil {
			return err
		}
	}
	report, err := app.ValidateCatalog(v)
	if err != nil {
		return err
	}
	for _, w := range report.Warnings {
		o.Warn(w)
	}
	o.Notes(cats.Notes)
	if err := o.Write(view.CatalogProblems(report.Entries, report.Problems)); err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return errors.New(object.Count(len(report.Problems), "problem"))
	}
	if o.ForPeople() {
		_, err = fmt.Fprintf(o.Env.Out, "%s: no problem\n", object.Count(report.Entries, "entry"))
	}
	return err
}
