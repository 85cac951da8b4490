package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/snapshot"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

type snapshotOptions struct {
	*command.Common
	snapshot.Request
	file  string
	force bool
}

func newSnapshot(env command.Env) *cobra.Command {
	o := &snapshotOptions{Common: command.NewCommon(env)}
	cmd := o.NewCommand("snapshot [ROOT...] -o FILE", cobra.ArbitraryArgs, o.CompleteRoots, o.run)
	o.AddReadFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "output", "o", "", `the file to write; "-" is standard output`)
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	f.BoolVar(&o.NoMetrics, "no-metrics", false, "leave out the usage of pods")
	f.BoolVar(&o.IncludeEnv, "include-env", false, "keep the values of environment variables that are written in the objects")
	command.AliasFlag(cmd, "with-env", "include-env")
	return cmd
}

func (o *snapshotOptions) run(ctx context.Context, args []string) error {
	o.Roots = args
	if o.file == "" {
		return hint.With(errors.New("name the file to write with -o"), `-o - writes to standard output`)
	}
	if len(o.Roots) == 0 && !o.AllNamespaces && !app.Given(o.Config.Namespace) {
		return hint.With(errors.New("name what to write: ROOT..., -n NAMESPACE or -A"), "kubectl sysop snapshot --help has examples")
	}
	taken, err := snapshot.Take(ctx, &o.Input, &o.Request)
	if err != nil {
		return err
	}
	if o.file == "-" {
		return source.WriteTo(o.Env.Out, false, false, taken.Header, taken.Objects)
	}
	if err := source.Write(o.file, taken.Header, taken.Objects, o.force); err != nil {
		if errors.Is(err, source.ErrExists) {
			return hint.With(fmt.Errorf("write snapshot: %w", err), "--force replaces it")
		}
		return fmt.Errorf("write snapshot: %w", err)
	}
	fmt.Fprintf(o.Env.ErrOut, "wrote %d objects to %s\n", len(taken.Objects), o.file)
	taken.Session.PrintTimings(taken.Graph)
	return nil
}
