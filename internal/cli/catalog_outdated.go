package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type catalogOutdatedOptions struct {
	*common
	catalogueOptions
}

func newCatalogOutdated(env Env) *cobra.Command {
	o := &catalogOutdatedOptions{common: newCommon(env, "table", "name")}
	cmd := &cobra.Command{
		Use: "outdated [OPERATOR...]",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return o.completeEntries(o.common, func(e catalog.Entry) bool { return len(e.Versions) > 0 && !slices.Contains(args, e.Name) })(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writing(cmd)
	o.catalogueFlags(cmd)
	return cmd
}

func (o *catalogOutdatedOptions) run(ctx context.Context, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	cats, err := o.load(ctx, o.common)
	if err != nil {
		return err
	}
	all, err := cats.Outdated(ctx, args)
	if err != nil {
		return err
	}
	rows, unread := make([]view.OutdatedRow, len(all)), 0
	for i, p := range all {
		rows[i] = view.OutdatedRow(p)
		if p.Unread != "" && p.From != "" {
			unread++
		}
	}
	o.notes(cats.Notes)
	if err := o.write(view.Outdated(rows)); err != nil {
		return err
	}
	if unread > 0 {
		return fmt.Errorf("%s could not be read", plural(unread, "source"))
	}
	return nil
}
