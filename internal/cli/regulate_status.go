package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

type regulateStatusOptions struct {
	*regulateOptions
	exitCode bool
}

func newRegulateStatus(env Env) *cobra.Command {
	o := &regulateStatusOptions{regulateOptions: newRegulating(env, "tree", "table", "json", "yaml", "name")}
	cmd := o.ofSystem("status [SYSTEM]", o.run)
	o.naming(cmd)
	o.writing(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with code 2 if an app is held")
	return cmd
}

func (o *regulateStatusOptions) run(ctx context.Context, name string) error {
	b, p, err := regulator.Status(ctx, &o.Input, o.request(name))
	if err != nil {
		return err
	}
	b.Session.ReportGaps(b.Graph)
	var lines []string
	if len(b.Journal.Holds) == 0 && o.output == "table" {
		lines = []string{"no app of " + b.System.Name + " is held"}
	}
	err = o.finish(b.Session, b.Graph, view.RegulationStatus(b.Journal, p, b.State, b.Session.AsOf(), regulationOptions(b)), lines...)
	if err == nil && o.exitCode && len(b.Journal.Holds) > 0 {
		return errNotFine
	}
	return err
}
