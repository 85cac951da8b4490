package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

func newSystem(env command.Env) *cobra.Command {
	return command.Group("system", newSystemAdopt(env), newSystemExport(env), newSystemInit(env), newSystemList(env), newSystemRelease(env), newSystemShow(env), newSystemValidate(env))
}

func newSystemList(env command.Env) *cobra.Command {
	o := command.NewCommon(env, "table", "json", "yaml", "name")
	cmd := o.NewCommand("list", cobra.NoArgs, cobra.NoFileCompletions, func(ctx context.Context, _ []string) error { return listSystems(ctx, o) })
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	return cmd
}

func listSystems(ctx context.Context, o *command.Common) error {
	rows, err := systems.List(ctx, &o.Input)
	if err != nil {
		return err
	}
	if err := o.Write(view.Systems(rows, o.Env.Now())); err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; r.Wrong != "" {
			fmt.Fprintf(o.Env.ErrOut, "warning: system/%s/%s: its manifest cannot be read: %s\n", command.Safe(r.Namespace), command.Safe(r.Name), command.Safe(r.Wrong))
		}
	}
	if len(rows) == 0 && o.ForPeople() {
		o.Say("no Systems found")
	}
	return nil
}
