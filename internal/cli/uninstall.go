package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

type uninstallOptions struct {
	*installOptions
	name   string
	orphan bool
}

func newUninstall(env Env) *cobra.Command {
	o := &uninstallOptions{installOptions: newInstallOptions(env, install.Uninstall)}
	cmd := &cobra.Command{
		Use:               "uninstall NAME",
		Args:              exactly(1, "the NAME of an operator, or of a System"),
		ValidArgsFunction: o.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	o.writingFlags(cmd)
	o.findingFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.deleteDefinitions, "delete-crds", false, "delete the CRDs if no custom resource of them is left in any namespace")
	f.BoolVar(&o.orphan, "orphan", false, "leave custom resources without their operator")
	return cmd
}

func (o *uninstallOptions) run(ctx context.Context) error {
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
