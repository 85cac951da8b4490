package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

type uninstallOptions struct {
	*installOptions
	name   string
	orphan bool
}

func newUninstall(env Env) *cobra.Command {
	o := &uninstallOptions{installOptions: newInstallOptions(env, install.Uninstall)}
	cmd := o.command("uninstall NAME", exactly(1, "the NAME of an operator, or of a System"), o.offers(completion.Only(completion.Installed)), o.run)
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.deleteDefinitions, "delete-crds", false, "delete the CRDs if no custom resource of them is left in any namespace")
	f.BoolVar(&o.orphan, "orphan", false, "leave custom resources without their operator")
	return cmd
}

func (o *uninstallOptions) run(ctx context.Context, args []string) error {
	o.name = args[0]
	if err := o.check(); err != nil {
		return err
	}
	if err := o.named(o.name); err != nil {
		return err
	}
	req := o.request()
	req.Name, req.Orphan = o.name, o.orphan
	return o.changeNamed(ctx, req)
}
