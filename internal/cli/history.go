package cli

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/spf13/cobra"
)

func newHistory(env Env) *cobra.Command {
	o := newInstallOptions(env, "")
	cmd := o.command("history NAME", exactly(1, "the NAME of an operator, or of a System"), o.offers(completion.Only(completion.Installed)), o.history)
	o.connecting(cmd)
	o.writing(cmd)
	o.findingFlags(cmd)
	return cmd
}

func (o *installOptions) history(ctx context.Context, args []string) error {
	cats, err := o.catalogued(ctx, o.common)
	if err != nil {
		return err
	}
	journal, alive, err := o.installer(cats).History(ctx, args[0])
	if err != nil {
		return err
	}
	return o.write(view.InstallHistory(journal, alive, o.env.Now()))
}
