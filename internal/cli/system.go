package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newSystem(env Env) *cobra.Command {
	return group("system", newSystemAdopt(env), newSystemExport(env), newSystemInit(env), newSystemList(env), newSystemRelease(env), newSystemShow(env), newSystemValidate(env))
}

func newSystemList(env Env) *cobra.Command {
	o := newCommon(env, "table", "json", "yaml", "name")
	cmd := o.newCommand("list", cobra.NoArgs, cobra.NoFileCompletions, func(ctx context.Context, _ []string) error { return listSystems(ctx, o) })
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}

func listSystems(ctx context.Context, o *common) error {
	rows, err := systems.List(ctx, &o.Input)
	if err != nil {
		return err
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
