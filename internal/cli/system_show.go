package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/level"
	"github.com/kubectl-sysop/kubectl-sysop/internal/summary"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

type systemShowOptions struct {
	*command.Common
	file    string
	offline bool
}

func newSystemShow(env command.Env) *cobra.Command {
	o := &systemShowOptions{Common: command.NewCommon(env, "tree", "json", "yaml", "name")}
	cmd := o.NewCommand("show [NAME]", command.RangeArgs(0, 1, "the NAME of one System, or none and -f FILE"), cobra.NoFileCompletions, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	command.AddSystemFlag(cmd, &o.file)
	cmd.Flags().BoolVar(&o.offline, "offline", false, "read no cluster")
	return cmd
}

func (o *systemShowOptions) run(ctx context.Context, args []string) error {
	sys, err := o.find(ctx, args)
	if err != nil {
		return err
	}
	opts := view.SystemOptions{Namespace: sys.Namespace}
	if o.offline {
		return o.Write(view.System(sys, opts))
	}
	source := level.Source{Query: o.file, Namespace: sys.Namespace, File: true}
	if o.file == "" {
		source = level.Source{Query: sys.Name, Namespace: sys.Namespace}
	}
	l, reached, err := systems.ObserveLevel(ctx, &o.Input, sys, source)
	if err != nil {
		return systems.OfflineHint(err)
	}
	l.Session.ReportGaps(l.Graph)
	opts.Namespace, opts.World, opts.Level, opts.Drift, opts.Gaps = l.Session.Namespace, l.State, reached, l.Drift, l.Graph.Gaps()
	var lines []string
	if o.ForPeople() {
		lines = summary.Apps(l.State)
	}
	return o.Finish(l.Session, l.Graph, view.System(sys, opts), lines...)
}

// find reads the System that is meant.
func (o *systemShowOptions) find(ctx context.Context, args []string) (*system.System, error) {
	switch {
	case len(args) == 1 && o.file != "":
		return nil, fmt.Errorf("%q and -f %s: the System is named, or its manifest is", args[0], o.file)
	case o.offline && (o.From != "" || len(args) == 1):
		return nil, errors.New("--offline reads no cluster: use it with -f FILE, not with --from")
	case len(args) == 1:
		return systems.Named(ctx, &o.Input, args[0])
	case o.file == "":
		return nil, hint.With(errors.New("which System? name one that was adopted, or its manifest with -f FILE"), "try: kubectl sysop system show -f demo --from demo")
	}
	return systems.Read(ctx, &o.Input, o.file)
}
