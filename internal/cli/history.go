package cli

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/spf13/cobra"
)

func newHistory(env Env) *cobra.Command {
	o := newInstallOptions(env, "")
	cmd := &cobra.Command{
		Use:               "history NAME",
		Args:              exactly(1, "the NAME of an operator, or of a System"),
		ValidArgsFunction: o.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			cats, err := o.catalogued(cmd.Context(), o.common)
			if err != nil {
				return err
			}
			journal, alive, err := o.installer(cats).History(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return o.write(view.InstallHistory(journal, alive, o.env.Now()))
		},
	}
	o.connecting(cmd)
	o.writing(cmd)
	o.findingFlags(cmd)
	return cmd
}
