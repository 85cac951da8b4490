package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type catalogOutdatedOptions struct {
	*common
	catalogueOptions
}

func newCatalogOutdated(env Env) *cobra.Command {
	o := &catalogOutdatedOptions{common: newCommon(env, "table", "name")}
	cmd := o.command("outdated [OPERATOR...]", cobra.ArbitraryArgs, o.completeInstallable(o.common), o.run)
	o.writing(cmd)
	o.catalogueFlags(cmd)
	return cmd
}

func (o *catalogOutdatedOptions) run(ctx context.Context, args []string) error {
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
		return fmt.Errorf("%s could not be read", object.Count(unread, "source"))
	}
	return nil
}
