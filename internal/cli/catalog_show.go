package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type catalogShowOptions struct {
	*command.Common
	catalogueOptions
}

func newCatalogShow(env command.Env) *cobra.Command {
	o := &catalogShowOptions{Common: command.NewCommon(env, "text", "json", "yaml", "name")}
	cmd := o.NewCommand("show OPERATOR[@VERSION]", cobra.ExactArgs(1), o.CompleteWith(completion.Only(completion.Entries(func() catalogs.Options { return o.read(o.Common) }, func(catalog.Entry) bool { return true }))), o.run)
	o.AddOutputFlags(cmd)
	o.catalogueFlags(cmd)
	return cmd
}

func (o *catalogShowOptions) run(ctx context.Context, args []string) error {
	targets, err := installer.ParseTargets(args)
	if err != nil {
		return err
	}
	cats, err := o.load(ctx, o.Common)
	if err != nil {
		return err
	}
	e, ok := cats.Find(targets[0].Name)
	if !ok {
		return hint.With(errors.New(cats.Unknown(targets[0].Name)), "kubectl sysop catalog search finds one by its kinds")
	}
	v, _ := e.Latest()
	if at := targets[0].Version; at != "" {
		if v, ok = e.Version(at); !ok {
			return hint.With(fmt.Errorf("the catalog has no version %s of %s", at, e.Name), "kubectl sysop catalog list -o wide shows the versions")
		}
	}
	o.Notes(cats.Notes)
	return o.Write(view.CatalogEntry(view.CatalogRow{Entry: e, Origin: cats.Origin(e.Name)}, v))
}
