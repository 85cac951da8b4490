package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

func newInstall(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Install)
	cmd := o.command("install OPERATOR[@VERSION]... | -f SYSTEM", cobra.ArbitraryArgs, o.completeInstallable(o.common), o.run)
	o.writingFlags(cmd)
	o.puttingFlags(cmd)
	return cmd
}

func newUpgrade(env Env) *cobra.Command {
	o := newInstallOptions(env, install.Upgrade)
	cmd := o.command("upgrade OPERATOR[@VERSION]... | -f SYSTEM", cobra.ArbitraryArgs, o.offers(completion.Upgrades(o.installable(o.common))), o.run)
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
	w := installer.Wanted{Operators: o.args, File: o.file, Values: o.values, Catalogs: o.read(o.common)}
	name, cats, err := w.Read(ctx, &o.Input, &req)
	if err != nil {
		return req, nil, err
	}
	return req, cats, o.named(name)
}
