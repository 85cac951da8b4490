package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newSystemList(env Env) *cobra.Command {
	o := newCommon(env, "table", "json", "yaml", "name")
	cmd := o.command("list", cobra.NoArgs, cobra.NoFileCompletions, func(ctx context.Context, _ []string) error { return listSystems(ctx, o) })
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}

func listSystems(ctx context.Context, o *common) error {
	found, err := systems.List(ctx, &o.Input)
	if err != nil {
		return err
	}
	rows := make([]view.SystemRow, 0, len(found))
	for _, r := range found {
		rows = append(rows, view.SystemRow(r))
	}
	if err := o.write(view.Systems(rows, o.env.Now())); err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; r.Wrong != "" {
			fmt.Fprintf(o.env.ErrOut, "warning: system/%s/%s: its manifest cannot be read: %s\n", safe(r.Namespace), safe(r.Name), safe(r.Wrong))
		}
	}
	if len(rows) == 0 && o.human() {
		o.say("no Systems found")
	}
	return nil
}
