package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func newCatalog(env command.Env) *cobra.Command {
	return command.Group("catalog", newCatalogList(env), newCatalogSearch(env), newCatalogShow(env), newCatalogAdd(env), newCatalogBundle(env), newCatalogValidate(env), newCatalogOutdated(env), newCatalogImport(env))
}

// catalogListOptions are those of catalog list and catalog search.
type catalogListOptions struct {
	*command.Common
	catalogueOptions
	installable bool
}

func newCatalogList(env command.Env) *cobra.Command {
	o := &catalogListOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("list", cobra.NoArgs, cobra.NoFileCompletions, o.run)
	o.flags(cmd)
	return cmd
}

func newCatalogSearch(env command.Env) *cobra.Command {
	o := &catalogListOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("search WORD...", cobra.MinimumNArgs(1), cobra.NoFileCompletions, o.run)
	o.flags(cmd)
	return cmd
}

func (o *catalogListOptions) flags(cmd *cobra.Command) {
	o.AddOutputFlags(cmd)
	o.catalogueFlags(cmd)
	cmd.Flags().BoolVar(&o.installable, "installable", false, "only those that can be installed")
}

func (o *catalogListOptions) run(ctx context.Context, args []string) error {
	cats, err := o.load(ctx, o.Common)
	if err != nil {
		return err
	}
	query := strings.Join(args, " ")
	var rows []view.CatalogRow
	for _, m := range cats.Search(query) {
		if o.installable && len(m.Entry.Versions) == 0 {
			continue
		}
		rows = append(rows, view.CatalogRow{Entry: m.Entry, Origin: m.Origin, Matched: m.Matched})
	}
	o.Notes(cats.Notes)
	if err := o.Write(view.Catalog(rows)); err != nil {
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(o.Env.ErrOut, "no operator has %s\n", command.Safe(fmt.Sprintf("%q", query)))
	}
	return nil
}

type catalogOutdatedOptions struct {
	*command.Common
	catalogueOptions
}

func newCatalogOutdated(env command.Env) *cobra.Command {
	o := &catalogOutdatedOptions{Common: command.NewCommon(env, "table", "name")}
	cmd := o.NewCommand("outdated [OPERATOR...]", cobra.ArbitraryArgs, o.completeInstallable(o.Common), o.run)
	o.AddOutputFlags(cmd)
	o.catalogueFlags(cmd)
	return cmd
}

func (o *catalogOutdatedOptions) run(ctx context.Context, args []string) error {
	cats, err := o.load(ctx, o.Common)
	if err != nil {
		return err
	}
	all, err := cats.Outdated(ctx, args)
	if err != nil {
		return err
	}
	unread := 0
	for _, p := range all {
		if p.Unread != "" && p.From != "" {
			unread++
		}
	}
	o.Notes(cats.Notes)
	if err := o.Write(view.Outdated(all)); err != nil {
		return err
	}
	if unread > 0 {
		return fmt.Errorf("%s could not be read", object.Count(unread, "source"))
	}
	return nil
}
