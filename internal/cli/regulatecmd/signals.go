package regulatecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

type regulateSignalsOptions struct {
	*command.Common
	args []string
	all  bool
}

func newRegulateSignals(env command.Env) *cobra.Command {
	o := &regulateSignalsOptions{Common: command.NewCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := o.NewCommand("signals [KIND]", command.RangeArgs(0, 1, "one KIND, or none"), o.CompleteOneKind, o.run)
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "show the signals of all known kinds, without a cluster")
	return cmd
}

func (o *regulateSignalsOptions) run(ctx context.Context, args []string) error {
	o.args = args
	if o.all {
		if o.From != "" {
			return hint.With(fmt.Errorf("--all reads no cluster and no snapshot"), "leave out --from, or --all")
		}
		return o.show(app.KnownSignals(command.FirstArg(o.args)))
	}
	list, gaps, err := o.Signals(ctx, command.FirstArg(args))
	o.Gaps(gaps)
	if err != nil {
		return err
	}
	return o.show(list, gaps...)
}

func (o *regulateSignalsOptions) show(list []signals.Signal, gaps ...object.Gap) error {
	if err := o.Write(view.Signals(list, gaps)); err != nil {
		return err
	}
	switch {
	case len(list) == 0 && o.all:
		fmt.Fprintf(o.Env.ErrOut, "no signal is known for %s: use an action patch, annotate or scale\n", command.Safe(o.args[0]))
	case len(list) == 0:
		fmt.Fprintf(o.Env.ErrOut, "no signal is known for %s: use an action patch, annotate or scale (--all shows the signals of other kinds)\n", command.Safe(strings.Join(o.args, " ")))
	}
	return nil
}
