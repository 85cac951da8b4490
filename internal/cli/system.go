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

// systemFlag adds -f, for one manifest.
func systemFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVarP(into, "filename", "f", "", `read the manifest of a System from this FILE, "-" or "demo"`)
	complete(cmd, "filename", completeManifests)
}

func completeManifests(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return fileOr(systems.Demo+"\tthe System of the example", "yaml", "yml", "json")(cmd, args, typed)
}

// systemQueryFlag adds --system.
func (c *common) systemQueryFlag(cmd *cobra.Command, into *string, subject string) {
	cmd.Flags().StringVar(into, "system", "", "instead of a ROOT, the apps of a System, "+subject+": the FILE of a manifest, or the NAME of an adopted one")
	complete(cmd, "system", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, _ := c.completeSystem(cmd, nil, typed)
		return names, cobra.ShellCompDirectiveDefault // or a file
	})
}

func newSystemList(env Env) *cobra.Command {
	o := newCommon(env, "table", "json", "yaml", "name")
	cmd := o.command("list", cobra.NoArgs, cobra.NoFileCompletions, func(ctx context.Context, _ []string) error { return listSystems(ctx, o) })
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
