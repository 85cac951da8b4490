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
		Use:   "uninstall NAME",
		Short: "Uninstall an operator or a System; data is kept unless you ask to delete it",
		Long: `Uninstall an operator or the apps of a System. It is refused while other operators,
Systems or custom resources need it. CRDs stay unless you ask:

  --delete-crds    delete them, if no custom resource of them is left in any namespace
  --delete-data    delete the custom resources too, with their data
  --orphan         leave the custom resources without their operator, and ignore
                   requirements of installations in namespaces that no catalog names

Custom resources, claims and CRDs that will be deleted are listed. To confirm, type the
name of what you uninstall, or pass --delete-data=NAME; --yes is not enough.

Custom resources are deleted first, while their operator still runs; then the operator;
CRDs last. A stuck finalizer is named. The operators of a System stay, since others may
need them.`,
		Example: `  # what would be deleted?
  kubectl sysop uninstall cert-manager --dry-run=client

  # with its CRDs, if no custom resource is left
  kubectl sysop uninstall cert-manager --delete-crds --delete-data=cert-manager --yes`,
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
