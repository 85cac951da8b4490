package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

func newInstall(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Install)
	cmd := &cobra.Command{
		Use:   "install OPERATOR[@VERSION]... | -f SYSTEM",
		Short: "Install operators or a whole System, all or nothing",
		Long: `Install operators of the catalog with their requirements, or the System of a manifest:
its operators, then its apps in dependency order, with values passed between them
(spec.connections). Each is a Helm release.

The plan is shown first and has to be confirmed. Permissions, the Kubernetes version,
objects of other managers, CRDs that cannot be upgraded and pods that would not start
are checked before the first write. If a step fails or is interrupted, everything is
undone in reverse. The next run resumes or undoes a run that was killed.

What cannot be undone is listed first: data that an operator changed, and objects stored
in a new version.`,
		Example: `  # what would be installed?
  kubectl sysop install cert-manager --dry-run=client

  # a version of an operator, with values
  kubectl sysop install cert-manager@1.21.2 --set replicaCount=2

  # a System, from a bundle, without a network
  kubectl sysop install -f shop.yaml --offline --bundle shop.tar`,
		ValidArgsFunction: o.completeInstallable(o.common),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writingFlags(cmd)
	o.puttingFlags(cmd)
	return cmd
}

func newUpgrade(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Upgrade)
	cmd := &cobra.Command{
		Use:   "upgrade OPERATOR[@VERSION]... | -f SYSTEM",
		Short: "Upgrade operators or a whole System, all or nothing",
		Long: `Upgrade operators to the newest version of the catalog or the one you name, or a System
to its manifest: what it adds is installed, what it drops is removed (custom resources
and claims only with --delete-data). CRDs are upgraded if that is safe; else nothing is
done, and the field and version that block it are listed.

With spec.upgrade.regulate, dependents are held until what is upgraded is Healthy. If a
step fails, everything is rolled back.`,
		Example: `  # what would change?
  kubectl sysop diff cert-manager
  kubectl sysop upgrade cert-manager --dry-run=client

  # do it
  kubectl sysop upgrade cert-manager@1.21.2 --yes`,
		ValidArgsFunction: o.completeUpgrades,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.writingFlags(cmd)
	o.puttingFlags(cmd)
	return cmd
}

func (o *installOptions) run(ctx context.Context, args []string) error {
	o.args = args
	if err := o.check(); err != nil {
		return err
	}
	req, cats, err := o.wanted(ctx)
	if err != nil {
		return err
	}
	return o.change(ctx, cats, req)
}
