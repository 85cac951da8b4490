package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

func newInstall(env command.Env) *cobra.Command {
	o := newInstallOptions(env, install.Install)
	cmd := o.NewCommand("install OPERATOR[@VERSION]... | -f SYSTEM", cobra.ArbitraryArgs, o.completeInstallable(o.Common), o.run)
	o.writingFlags(cmd)
	o.puttingFlags(cmd)
	return cmd
}

func newUpgrade(env command.Env) *cobra.Command {
	o := newInstallOptions(env, install.Upgrade)
	cmd := o.NewCommand("upgrade OPERATOR[@VERSION]... | -f SYSTEM", cobra.ArbitraryArgs, o.CompleteWith(completion.Upgrades(o.installable(o.Common))), o.run)
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

// wanted reads what is installed: the operators of the arguments, or a System.
func (o *installOptions) wanted(ctx context.Context) (installer.Request, *catalogs.Catalogs, error) {
	req := o.request()
	w := installer.Wanted{Operators: o.args, File: o.file, Values: o.values, Catalogs: o.read(o.Common)}
	name, cats, err := w.Read(ctx, &o.Input, &req)
	if err != nil {
		return req, nil, err
	}
	return req, cats, o.named(name)
}

type uninstallOptions struct {
	*installOptions
	name   string
	orphan bool
}

func newUninstall(env command.Env) *cobra.Command {
	o := &uninstallOptions{installOptions: newInstallOptions(env, install.Uninstall)}
	cmd := o.NewCommand("uninstall NAME", command.ExactArgs(1, "the NAME of an operator, or of a System"), o.CompleteWith(completion.Only(completion.Installed)), o.run)
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
